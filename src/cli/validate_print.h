/* What `dse validate` prints: every claim as a row, or the report for people. */
#ifndef DSE_CLI_VALIDATE_PRINT_H
#define DSE_CLI_VALIDATE_PRINT_H

#include "claims/evidence.h"
#include "command/output.h"

/* One model's claims with the answers to them. */
struct validation {
    struct claim_set *set;
    struct claim_answer *answers;
    struct claim_answer *closed; /* at event level, those of the closed form; else NULL */
};

/* Print the rows of all claims in CSV or JSON. */
void validate_print_rows(const struct validation *list, size_t n, enum output_format format);
/* The tables of one model: what has a number, what has none and why, contradictions. `all`: one line for each claim without a
 * number, too. */
void validate_print_model(const struct validation *v, bool all);
/* Print the constants and errors of every model, summed up. */
void validate_print_sums(const struct validation *list, size_t n);
/* Print the errors with every alternative of every chosen constant. */
void validate_print_ensembles(const struct validation *list, size_t n, enum output_format format);

#endif
