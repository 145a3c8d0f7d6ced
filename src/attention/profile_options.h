/* What `dse profile` is asked: the kind, its settings, contexts, ratios, policies. Settings are rows of a table, as a model's
 * parameters. */
#ifndef DSE_ATTENTION_PROFILE_OPTIONS_H
#define DSE_ATTENTION_PROFILE_OPTIONS_H

#include "attention/eviction_policies.h"
#include "attention/generator.h"
#include "attention/measure.h"
#include "command/command.h"
#include "desc/schema.h"

struct profile_kind; /* profile_kinds.h */

/* The settings of all kinds, each of which has rows for its own. */
struct profile_settings {
    double collinear;
    int64_t recent, intervals;
    int32_t scores; /* by way of centers, or exact */
    struct eviction_options eviction;
    double prompt_share, phi, low, high;
    struct kv_format format;
    int64_t part, fraction_bits, exp_bits;
    int32_t held, rounding, products;
};

struct profile_options {
    const struct profile_kind *kind;
    struct schema schema; /* of the kind's settings */
    struct profile_settings settings;
    int64_t steps; /* 0: the second half of each context */
    bool steps_given;
    size_t *contexts; /* growing */
    size_t n_contexts;
    size_t ends;    /* of each context; 1: the context itself */
    double *ratios; /* growing */
    size_t n_ratios;
    const struct eviction_policy **policies;
    size_t n_policies;
    const struct kept_sets *kept; /* the caller's; of --kept */
    double *edges;                /* of the intervals but the last, growing; NULL: dse_pieces_edges */
    size_t n_edges;
};

/* Read the command line. False with errors. Contexts that are not given are the powers of two up to `positions`. */
bool profile_options_read(struct profile_options *o, const struct invocation *in, size_t positions);
void profile_options_release(struct profile_options *o);

/* Set one NAME=VALUE of the kind in a copy of o->settings. False with a usage error. */
bool profile_read_setting(const struct profile_options *o, struct profile_settings *s, const struct invocation *in,
                          const char *setting);

/* The same of any table. */
bool profile_read_into(const struct schema *schema, void *object, const struct invocation *in, const char *setting);

/* Read the generator that --synthetic asks for, with the operands NAME=VALUE, and --heads. */
bool profile_read_generator(struct generator *g, size_t *ret_heads, const struct invocation *in);
/* All parameters of the generator on one line. The caller frees it. */
char *profile_generator_text(const struct generator *g);

/* All settings on one line: "steps=32 collinear=0.98 recent=16 scores=centers". The caller frees it. */
char *profile_options_text(const struct profile_options *o);

#endif
