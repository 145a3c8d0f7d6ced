/* How the model answers: an expression over places, published numbers and statistics, in the cases of its table. */
#ifndef DSE_CLAIMS_ANSWERS_H
#define DSE_CLAIMS_ANSWERS_H

#include "claims/evidence.h"
#include "claims/places.h"
#include "claims/statistics.h"
#include "space/expr.h"

struct attention;

/* A name in an expression: a number of a place, published numbers, a statistic. */
enum source { FROM_PARAMS, FROM_METRICS, FROM_EQUATIONS, FROM_ENTRY, FROM_PUBLISHED, FROM_STATISTIC };
struct name {
    char *text;
    enum source source;
    struct place *place;
    const struct field *field; /* FROM_ENTRY: of the catalog entry that `ref` refers to */
    const struct field *ref;
    const struct claim **published; /* one, or one a case */
    size_t n_published;
    enum statistic statistic;
    double value; /* what the expression reads */
};

enum mean { MEAN_NONE, MEAN_GEOMETRIC, MEAN_ARITHMETIC, MEAN_MIN, MEAN_MAX };

/* An axis of the cases: a parameter and how many values it has. Sorted by name; the last runs fastest, as in a space. */
struct case_axis {
    const char *name;
    uint64_t n;
};

/* How the model answers one claim or contradiction. */
struct answer {
    const struct claim *claim;     /* NULL for a contradiction, or when there is no answer */
    const struct toml_node *table; /* of claims.toml; NULL when there is no answer */
    const struct toml_node *value, *cases, *set;
    const char *unreachable;
    const char *unit; /* the unit of a contradiction's number; a claim has its own */
    bool skip_infeasible;
    enum mean mean;
    struct expr *expr; /* NULL when there is no number */
    struct name **names;
    size_t n_names;
    struct case_axis *axes;
    size_t n_axes;
    uint64_t n_cases;
    bool measured;              /* its names are statistics, and its cases are contexts */
    size_t *contexts;           /* n_cases of them; NULL for statistics that take no heads */
    const struct attention *on; /* the heads that it is evaluated on at present */
    char *reason;               /* why the last evaluation gave no number; or NULL */
    enum evidence_class class;  /* the class in claims.toml, or EVIDENCE_NONE */
    const struct toml_node *class_node;
    const char *because;
};

/* Compile a->value, whose names become a->names. NULL with errors. (names.c) */
struct expr *claims_compile(struct claim_set *s, struct answer *a, const struct toml_node *published, struct diags *diags);

/* Read the key `mean` of a->table. */
bool claims_read_mean(const struct claim_set *s, struct answer *a, struct diags *diags);
/* Read a key that is true or false; it is false when it is left out. */
bool claims_read_flag(const struct claim_set *s, const struct answer *a, const char *key, bool *ret, struct diags *diags);
/* Read all keys of a->table that make a number, and compile the value if there is one. `unit` is as in claims_check_unit. */
bool claims_read_answer(struct claim_set *s, struct answer *a, const char *unit, struct diags *diags);
/* Compile a->value. Its table, cases, set and mean have been read; this reads the other keys that belong to it. */
bool claims_compile_answer(struct claim_set *s, struct answer *a, const char *unit, struct diags *diags);
/* Read the key `unit` of a->table, and check that the compiled value has the unit `claim`. A contradiction states its own unit:
 * `claim` is NULL then. */
bool claims_check_unit(const struct claim_set *s, struct answer *a, const char *claim, struct diags *diags);
void answer_release(struct answer *a);

/* The number of an answer with the set's current constants; NaN, with a->reason, when there is none. (values.c) */
double answer_value(struct claim_set *s, struct answer *a);

#endif
