/* Expressions over numbers by name: constraints and derived columns, answers of claims, measured values.
 *
 * formula/formula.h has the grammar, docs/reference/expressions.md the functions. An expression becomes a graph (graph/graph.h),
 * which runs at one point, or over all points of a box. Calculations are done as they are written, in double precision. A
 * comparison is 1 or 0; what has no number (NaN) compares as false, but for !=, and counts as true. Any number of threads may use
 * one expression at the same time.
 */
#ifndef DSE_SPACE_EXPR_H
#define DSE_SPACE_EXPR_H

#include "base/diag.h"
#include "desc/schema.h"
#include "graph/range.h"

struct expr;

/* Compile `text`, found at `loc` (its first character) in a file with `source_text`. NULL with an error at the place inside the
 * expression: syntax, unknown name (with the nearest), a parameter that is a name rather than a number, an assignment. The
 * schemas must outlive it. */
struct expr *expr_new(const char *text, struct srcloc loc, const char *source_text, const struct schema *params,
                      const struct schema *metrics, struct diags *diags);
void expr_free(struct expr *e);
/* The value at a point; NaN when it has none (a division by zero, the logarithm of a negative number). */
double expr_eval(const struct expr *e, const void *params, const void *metrics);
/* Is every name in the text a parameter or a metric of these schemas? Of a text that is no expression: yes. */
bool expr_names_known(const char *text, const struct schema *params, const struct schema *metrics);
/* Where the text uses the first name that `wanted` wants: its place in the text and, until the caller frees it, the name; NULL:
 * nowhere, or it is no expression. */
char *expr_find_name(const char *text, bool (*wanted)(const char *name), size_t *ret_at);
/* Does the expression use a metric that has no meaning in the model? */
bool expr_uses_without(const struct expr *e);

/* ---- over a box of design points -------------------------------------------------------------------------------------------- */

/* Parameters of its two corners, and bounds of its metrics as dse_model.bound gives them. */
struct expr_box {
    const void *lo, *hi, *floor, *ceiling;
    const struct expr_moves *moves; /* NULL: nobody asks how expressions move */
};
/* How parameters and metrics move over the box (graph/range.h), by their places in the schemas of expr_new. */
struct expr_moves {
    const struct schema *of_params, *of_metrics;
    const struct graph_moves *params, *metrics;
    size_t n_metrics; /* those behind may move anyhow */
};
struct graph_moves expr_metric_moves(const struct expr_moves *m, const struct field *metric);
/* What an expression of expr_new gives at all points of the box. Infinite numbers, which expr_eval gives as NaN, are numbers. */
struct graph_range expr_range(const struct expr *e, const struct expr_box *box);
/* What one metric is. A bound may be off by 1e-12 of the metric, by which it is widened here. */
struct graph_range expr_metric_range(const struct field *metric, const void *floor, const void *ceiling);
/* Does the expression read this metric? */
bool expr_reads(const struct expr *e, const struct field *metric);

/* ---- other names ------------------------------------------------------------------------------------------------------------ */

/* What an expression's names mean, for uses in which they are not those of one design point: `find` gives the address of a name's
 * number, which the expression reads whenever it is evaluated, or NULL with an error added at loc. */
struct expr_scope {
    double *(*find)(void *context, const char *name, struct srcloc loc, const char *source_text, struct diags *diags);
    void *context;
};
/* As expr_new, with the names of a scope. The scope is used while compiling only; the numbers must outlive the expression. */
struct expr *expr_new_in(const char *text, struct srcloc loc, const char *source_text, const struct expr_scope *scope,
                         struct diags *diags);
/* The value with the scope's numbers as they are now; NaN when it has none. */
double expr_number(const struct expr *e);

#endif
