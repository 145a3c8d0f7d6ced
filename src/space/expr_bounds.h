/* Internal to src/space: the bounds of an expression (expr.h) over a box of design points.
 *
 * Its grammar, which is muParser's, from what binds least:
 *
 *     choice   = or [ "?" choice ":" choice ]
 *     or       = and { "||" and }
 *     and      = compared { "&&" compared }
 *     compared = sum { ("<" | "<=" | ">" | ">=" | "==" | "!=") sum }
 *     sum      = product { ("+" | "-") product }
 *     product  = signed { ("*" | "/") signed }
 *     signed   = { "+" | "-" } power
 *     power    = atom [ "^" signed-power ]              a sign behind ^ takes the powers that follow: 2^-3^2 is 2^(-(3^2))
 *     atom     = number | name | name "(" choice { "," choice } ")" | "(" choice ")"
 *
 * What is not understood, and a function that is not bounded, makes the expression unbounded, and it says why. */
#ifndef DSE_SPACE_EXPR_BOUNDS_H
#define DSE_SPACE_EXPR_BOUNDS_H

#include "desc/schema.h"
#include "space/expr_value.h"

struct expr_bounds;

/* Compile a text that expr_new has compiled with these schemas, which must outlive it. The caller frees it. */
struct expr_bounds *expr_bounds_new(const char *text, const struct schema *params, const struct schema *metrics);
void expr_bounds_free(struct expr_bounds *e);
/* What of it has no bound ("sin() has no bound"); NULL: nothing. */
const char *expr_bounds_why_not(const struct expr_bounds *e);
/* The metrics that it reads: is this one of them? */
bool expr_bounds_reads(const struct expr_bounds *e, const struct field *metric);

/* A box: parameters of its two corners, and bounds of its metrics as dse_model.bound gives them. */
struct expr_box {
    const void *lo, *hi, *floor, *ceiling;
};
/* The values at all points of the box. Pure, without allocation. */
struct expr_value expr_bounds_of(const struct expr_bounds *e, const struct expr_box *box);
/* The value of one metric. A bound may be off by 1e-12 of the metric, by which it is widened here. */
struct expr_value expr_bounds_metric(const struct field *metric, const void *floor, const void *ceiling);

#endif
