/* Internal to src/space: the arithmetic of expressions (expr.h) on all numbers of a box at once.
 *
 * A value holds what muParser's arithmetic gives at any point of the box, also where it reorders sums and products of constants;
 * infinite numbers are numbers here, as they are to muParser. `none`: there may be points without a number (NaN), which compare
 * as false, but for !=, and count as true. */
#ifndef DSE_SPACE_EXPR_VALUE_H
#define DSE_SPACE_EXPR_VALUE_H

#include <dse/interval.h>
#include <stddef.h>

struct expr_value {
    struct dse_interval is;
    bool none;
};

/* Nothing is known. */
struct expr_value expr_value_unknown(void);
struct expr_value expr_value_of(double x);

struct expr_value expr_value_negative(struct expr_value a);
struct expr_value expr_value_add(struct expr_value a, struct expr_value b);
struct expr_value expr_value_sub(struct expr_value a, struct expr_value b);
struct expr_value expr_value_mul(struct expr_value a, struct expr_value b);
struct expr_value expr_value_div(struct expr_value a, struct expr_value b);
struct expr_value expr_value_pow(struct expr_value a, struct expr_value b);

/* Comparisons and logic give 0, 1 or [0, 1]. */
struct expr_value expr_value_less(struct expr_value a, struct expr_value b, bool or_equal);
struct expr_value expr_value_equal(struct expr_value a, struct expr_value b, bool negated);
struct expr_value expr_value_and(struct expr_value a, struct expr_value b);
struct expr_value expr_value_or(struct expr_value a, struct expr_value b);
struct expr_value expr_value_choose(struct expr_value condition, struct expr_value then, struct expr_value other);

/* The functions that are bounded, by name, of `arity` arguments (0: one or more); NULL: not bounded. */
struct expr_function {
    const char *name;
    int arity;
    struct expr_value (*of)(const struct expr_value *arguments, int n);
};
const struct expr_function *expr_function_find(const char *name, size_t n);

#endif
