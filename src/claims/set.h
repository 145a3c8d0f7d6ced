/* The inside of a set of claims. Each concern has a header, which shows its structs to those who work with them; the set holds
 * what they made.
 *
 *     rows.h            claims.csv -> struct claim
 *     machines.h        [machines], [accounting], and the parameters that cases may give
 *     places.h          a machine in the cases of a claim, with the design points that it makes
 *     statistics.h      what can be measured on heads
 *     attention.h       [attention] -> heads, and the statistics measured on them
 *     answers.h         an expression over places, published numbers and statistics, its cases, and its number
 *     steps_internal.h  a claim's number once more, step by step in other settings
 *     measured.h        claims."X".measured: an expression over statistics, on several heads
 *     bindings.h        [claims], [contradictions] -> all of the above
 *     constants.h       [constants], and places with other values of them
 *     dependences.h     [calibrate], and which claims depend on which constants
 *     units.h           which units are the same
 *     neighbours.h      whether two answers ask the same, and in which parameters they differ
 *     evidence_internal.h  classes of evidence, and the null model
 *     sums.h            sums over some of the claims
 *
 * claims.c opens a set, answers with it, and frees it. */
#ifndef DSE_CLAIMS_SET_H
#define DSE_CLAIMS_SET_H

#include "claims/claims.h"
#include "config/csv_table.h"
#include "config/toml.h"

enum { CLAIMS_CASES_MAX = 100000, CLAIMS_CONTEXT_MAX = 1 << 24 };

struct claim_set {
    const struct model *model;
    const struct catalog *catalog;
    char *data_dir;
    struct csv_table csv;
    bool rows_whole; /* every row of claims.csv could be read: an id that is not there does not exist */
    struct toml_doc *doc;
    const struct toml_node *accounting; /* or NULL */
    struct claim *claims;
    struct answer *answers; /* one a claim */
    size_t n_claims;
    struct machine **machines;
    size_t n_machines;
    struct place **places;
    size_t n_places;
    struct claim_contradiction *contradictions;
    struct answer *contradiction_answers;
    size_t n_contradictions;
    struct constant *constants;
    struct claim_constant *public_constants;
    size_t n_constants;
    size_t *fitted;
    size_t n_fitted;
    struct attention **attention;
    size_t n_attention;
    struct measured *measured;
    size_t n_measured;
    struct step *steps;
    size_t n_steps;
    struct claim_step *public_steps; /* NULL before they were asked for */
    struct claim_measure *measures;  /* of the last claims_measure */
    size_t n_measures;
    uint64_t *depends;         /* one a claim */
    struct evidence *evidence; /* one a claim */
    char **texts;              /* n_texts of them, that evidence speaks in */
    size_t n_texts;
    const double *current; /* values of the constants to evaluate with; NULL: as shipped */
};

/* Add an error in claims.toml. hint may be NULL. Always false. */
bool claims_error(const struct claim_set *s, struct srcloc loc, const char *hint, struct diags *diags, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* Add an error about a word (or NULL) that is none of these names. The hint is the nearest of them, or `otherwise`, which may be
 * NULL. */
bool claims_unknown(const struct claim_set *s, struct srcloc loc, const char *word, const char *const *names, size_t n,
                    const char *otherwise, struct diags *diags, const char *fmt, ...) __attribute__((format(printf, 8, 9)));
/* Add an error about a string that is none of the keys of a table (NULL: a table without keys). The message is `before` and the
 * string. */
bool claims_unknown_key(const struct claim_set *s, const struct toml_node *word, const struct toml_node *table,
                        const char *otherwise, struct diags *diags, const char *before);

/* Read every child of [section]. True when there is no such section. */
bool claims_read_section(struct claim_set *s, const char *section,
                         bool (*read)(struct claim_set *s, const struct toml_node *child, struct diags *diags),
                         struct diags *diags);
/* A string of a table of claims.toml; *ret stays as it is when the key is missing. */
bool claims_read_string(const struct claim_set *s, const struct toml_node *table, const char *key, const char **ret,
                        struct diags *diags);

#endif
