/* Points of one model that are told value by value, where a space numbers them: what a call of the library and a row of SQL
 * evaluate.
 *
 * Some parameters are fixed, some are told for each point, the rest have their defaults; catalog names and resolve() are followed
 * as in a space, so that the numbers of a point are those of `dse eval`. One thread has a batch.
 */
#ifndef DSE_SPACE_BATCH_H
#define DSE_SPACE_BATCH_H

#include "space/judge.h"
#include "space/many_list.h"
#include "space/space.h"

#include <math.h>

/* A parameter and its value, which is in range. */
struct setting {
    const struct field *field;
    struct value value;
};

struct batch;
/* A batch with n_fixed settings and n_told parameters, which no setting names; those begin with their defaults. NULL with errors:
 * two of them exclude each other. `defaults` is a binding of which nothing is given; it and the catalog outlive the batch. `stop`
 * as in evaluator_new. */
struct batch *batch_new(const struct binding *defaults, const struct setting *fixed, size_t n_fixed,
                        const struct field *const *told, size_t n_told, enum fidelity fidelity, const volatile sig_atomic_t *stop,
                        struct diags *diags);
void batch_free(struct batch *b);

/* From now on parameter i of `told` has this value, which is in range. */
void batch_tell(struct batch *b, size_t i, struct value v);
/* The same of a parameter that is a number. False: it cannot have this value (value_of_number). */
bool batch_tell_number(struct batch *b, size_t i, double x);

enum batch_end {
    BATCH_OK,
    BATCH_INFEASIBLE, /* batch_reason says why; there are no metrics */
    BATCH_STOPPED,    /* *stop */
    BATCH_BUG,        /* of the model: its numbers cannot be; batch_reason names the metric */
};
/* Evaluate the point that was told. In closed form, no allocation where all is well. */
enum batch_end batch_run(struct batch *b);
/* Many points at once, for a model that can (model/many.h): keep the point that was told, at most BATCH_KEPT_MAX of them; run all
 * that are kept; then make the i-th of them the one at hand, as batch_run would leave it. The first keep behind a run forgets the
 * points before. */
enum { BATCH_KEPT_MAX = MANY_LIST_MAX };
/* False: the model cannot, or too many parameters are told. */
bool batch_keeps(const struct batch *b);
void batch_keep(struct batch *b);
void batch_run_kept(struct batch *b);
enum batch_end batch_take(struct batch *b, size_t i);
const char *batch_reason(const struct batch *b);  /* valid until the next run */
const void *batch_params(const struct batch *b);  /* resolved */
const void *batch_metrics(const struct batch *b); /* of BATCH_OK */
/* Of BATCH_OK: what the numbers rest on. The strings live as long as the batch. */
struct standing batch_standing(struct batch *b);
/* Of BATCH_OK: does the run repeat the closed form (runner_is_measured)? */
bool batch_is_measured(const struct batch *b);

/* The value of a parameter from a number or a text. False: it is none of the parameter's. */
static inline bool value_of_number(const struct field *f, double x, struct value *ret)
{
    const double whole_max = 9007199254740992.0;     /* 2^53: a double up to it is a whole number that it shows exactly */
    if (!(x >= f->min && x <= f->max)) return false; /* NaN too */
    if (f->type == DSE_TYPE_F64)
        *ret = (struct value){.f64 = x == 0 ? 0 : x}; /* there is one zero */
    else if (f->type == DSE_TYPE_I64 && fabs(x) <= whole_max && x == (double)(int64_t)x)
        *ret = (struct value){.i64 = (int64_t)x};
    else
        return false;
    return true;
}
bool value_of_text(const struct field *f, const struct catalog *catalog, const char *s, struct value *ret);
/* Why: "tiles: a whole number from 1 to 64". The caller frees it. */
char *value_refusal(const struct field *f);

#endif
