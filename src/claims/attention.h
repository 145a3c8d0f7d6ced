/* [attention]: heads that claims are measured on, made by the generator, read from a trace, or measured before into a file. */
#ifndef DSE_CLAIMS_ATTENTION_H
#define DSE_CLAIMS_ATTENTION_H

#include "attention/generator.h"
#include "attention/trace.h"
#include "claims/set.h"
#include "claims/statistics.h"

/* A run: the statistics of its kind at each context. */
struct run {
    size_t *contexts, n;          /* in ascending order */
    double (*values)[STATISTICS]; /* NULL before the run */
};

/* [attention.NAME]: heads that claims are measured on. */
struct attention {
    struct claim_attention public;
    const struct toml_node *table;
    bool good; /* false: broken, and reported */
    struct generator generator;
    size_t heads; /* how many the generator makes; 0 when they come from elsewhere */
    struct trace *trace;
    const struct dse_profile *profile; /* a profile that was measured before, whose points are the run */
    struct csv_table *range;           /* likewise the rows of a file of catalog/ranges */
    size_t steps;                      /* measured before each context; 0: its second half */
    char *source;
    struct run runs[RUN_KINDS];
};

bool claims_read_attention(struct claim_set *s, struct diags *diags);
struct attention *claims_attention(const struct claim_set *s, const char *name);
/* Ask for a statistic, named at `value`, at a context, given at `at`. False with an error when these heads cannot give it. */
bool attention_want(const struct claim_set *s, struct attention *a, enum statistic statistic, size_t context, struct srcloc value,
                    struct srcloc at, struct diags *diags);
/* The progress of several runs, reported as one. */
struct measure_progress {
    void (*tell)(void *user, double share); /* or NULL */
    void *user;
    double done, now, all; /* in units of attention_work */
};
/* Measure all statistics that attention_want has asked for. False with errors. */
bool attention_run(struct attention *a, struct measure_progress *progress, struct diags *diags);
/* How much work attention_run will be, for reporting progress. */
double attention_work(const struct attention *a);
/* A statistic that was asked for and measured; NaN when it has no value. For a statistic that takes no heads, a is NULL and
 * context 0. */
double attention_value(const struct attention *a, enum statistic statistic, size_t context);
void claims_free_attention(struct claim_set *s);

#endif
