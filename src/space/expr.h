/* Expressions over a design point's numbers: constraints and derived columns. muParser does the parsing and the arithmetic.
 *
 * An expression sees every numeric parameter and metric by name, and what muParser knows: + - * / ^, comparisons, && ||, ?:,
 * min, max, sqrt, log2, exp, ... It cannot assign. It keeps state: one struct expr a thread.
 */
#ifndef DSE_SPACE_EXPR_H
#define DSE_SPACE_EXPR_H

#include "base/diag.h"
#include "desc/schema.h"

struct expr;

/* Compile `text`, found at `loc` (its first character) in a file with `source_text`. NULL with an error at the place inside the expression: syntax,
 * unknown name (with the nearest), a parameter that is a name rather than a number, an assignment. The schemas must outlive it. */
struct expr *expr_new(const char *text, struct srcloc loc, const char *source_text, const struct schema *params,
                      const struct schema *metrics, struct diags *diags);
void expr_free(struct expr *e);
/* The value at a point; NaN when it has none (a division by zero, the logarithm of a negative number). */
double expr_eval(struct expr *e, const void *params, const void *metrics);
/* Is every name in the text a function, or a parameter or a metric of these schemas? */
bool expr_names_known(const char *text, const struct schema *params, const struct schema *metrics);
/* Does the expression use a metric that has no meaning in the model? */
bool expr_uses_without(const struct expr *e);
/* Does the expression use any metric? One that does not can be evaluated before the model. */
bool expr_uses_metrics(const struct expr *e);

#endif
