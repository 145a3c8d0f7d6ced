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

/* Compile `text`, found at `loc` (its first character) in a file with `source_text`. NULL with an error at the place inside the
 * expression: syntax, unknown name (with the nearest), a parameter that is a name rather than a number, an assignment. The
 * schemas must outlive it. */
struct expr *expr_new(const char *text, struct srcloc loc, const char *source_text, const struct schema *params,
                      const struct schema *metrics, struct diags *diags);
void expr_free(struct expr *e);
/* The value at a point; NaN when it has none (a division by zero, the logarithm of a negative number). */
double expr_eval(struct expr *e, const void *params, const void *metrics);
/* Is every name in the text a function, or a parameter or a metric of these schemas? */
bool expr_names_known(const char *text, const struct schema *params, const struct schema *metrics);
/* Where the text uses the first name that `wanted` wants: its place in the text and, until the caller frees it, the name; NULL:
 * nowhere. */
char *expr_find_name(const char *text, bool (*wanted)(const char *name), size_t *ret_at);
/* Does the expression use a metric that has no meaning in the model? */
bool expr_uses_without(const struct expr *e);
/* Does the expression use any metric? One that does not can be evaluated before the model. */
bool expr_uses_metrics(const struct expr *e);

/* What an expression's names mean, for uses in which they are not those of one design point: `find` gives the address of a name's
 * number, which the expression reads whenever it is evaluated, or NULL with an error added at loc. Compiling evaluates once, so the
 * number should be one that most expressions can bear (1). */
struct expr_scope {
    double *(*find)(void *context, const char *name, struct srcloc loc, const char *source_text, struct diags *diags);
    void *context;
    bool dotted; /* names may have dots: "lad25.latency_us" */
};
/* As expr_new, with the names of a scope. The scope is used while compiling only; the numbers must outlive the expression. */
struct expr *expr_new_in(const char *text, struct srcloc loc, const char *source_text, const struct expr_scope *scope,
                         struct diags *diags);
/* The value with the scope's numbers as they are now; NaN when it has none. */
double expr_number(struct expr *e);

#endif
