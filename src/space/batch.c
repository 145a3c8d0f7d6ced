#include "space/batch.h"

#include "base/xalloc.h"
#include "space/bug.h"
#include "space/many_list.h"
#include "space/space_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct value) == sizeof(double) && sizeof(struct value) == sizeof(int64_t), "a number is all of its value");

/* A parameter that is told. */
struct told {
    const struct field *field;
    struct value value;
    struct follow_list follows; /* of a REF */
};

struct batch {
    const struct model *model;
    bool can_keep;
    struct many_list *kept;          /* a parameter that is told is an axis; NULL: none was kept yet */
    int64_t *keys;                   /* of the point at hand, by told parameter */
    const void *here, *here_metrics; /* the point at hand */
    struct told *told;
    size_t n_told;
    bool again;                     /* two names of one kind set the same parameters: all are told again for every point */
    void *start, *params, *metrics; /* before resolve(), behind it */
    struct runner *runner;
    struct judge *judge;
    char *failure; /* of a run at event level, as the reason; or NULL */
    const char *reason;
};

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

bool value_of_text(const struct field *f, const struct catalog *catalog, const char *s, struct value *ret)
{
    *ret = (struct value){0};
    if (f->type == DSE_TYPE_REF) {
        ret->ref = catalog_find(catalog, f->kind, s);
        return ret->ref != NULL;
    }
    if (f->type != DSE_TYPE_ENUM) return false;
    for (; f->choices[ret->choice]; ret->choice++)
        if (strcmp(f->choices[ret->choice], s) == 0) return true;
    return false;
}

char *value_refusal(const struct field *f)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "%s: ", f->name);
    char lo[TEXT_NUMBER_MAX], hi[TEXT_NUMBER_MAX];
    if (f->type == DSE_TYPE_ENUM)
        for (const char *const *c = f->choices; *c; c++) text_addf(&t, "%s%s", c == f->choices ? "one of " : ", ", *c);
    else if (f->type == DSE_TYPE_REF)
        text_addf(&t, "no such name: `dse list %s`", kind_plural(f->kind));
    else
        text_addf(&t, "a %snumber from %s to %s", f->type == DSE_TYPE_I64 ? "whole " : "", text_number(lo, f->min),
                  text_number(hi, f->max));
    return text_detach(&t);
}

/* ---- the batch --------------------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const struct told *x = a, *y = b;
    return strcmp(x->field->name, y->field->name);
}

/* In a binding, what is fixed is given once, and what is told is an axis, whose values stand in `values`. */
static void give_all(struct binding *b, const struct setting *fixed, size_t n_fixed, const struct field *const *told, size_t n_told,
                     struct value *values)
{
    const struct schema *params = &b->model->params;
    for (size_t i = 0; i < n_fixed; i++, values += 2) {
        values[0] = fixed[i].value;
        b->given[schema_index(params, fixed[i].field)] = (struct given){.is_given = true, .n = 1, .values = values};
    }
    for (size_t i = 0; i < n_told; i++, values += 2) {
        values[0] = values[1] = field_get(told[i], b->defaults);
        b->given[schema_index(params, told[i])] = (struct given){.is_given = true, .n = 2, .values = values};
    }
}

static void make_told(struct batch *b, const struct binding *given, const struct field *const *told)
{
    unsigned kinds = 0;
    for (size_t i = 0; i < b->n_told; i++) {
        struct told *t = &b->told[i];
        *t = (struct told){.field = told[i], .value = field_get(told[i], given->defaults)};
        t->follows = follow_list_new(given, told[i]);
        if (told[i]->type != DSE_TYPE_REF || told[i]->alone) continue;
        b->again = b->again || (kinds & 1u << told[i]->kind);
        kinds |= 1u << told[i]->kind;
    }
}

static void put(struct batch *b, const struct told *t)
{
    field_set(t->field, b->start, t->value);
    if (t->follows.n) follow_list_apply(&t->follows, t->value.ref, b->start);
}

static struct many_list *list_of_told(const struct batch *b)
{
    const struct schema *params = &b->model->params;
    uint32_t *axes = xcalloc(params->n, sizeof *axes);
    for (size_t i = 0; i < b->n_told; i++) {
        const struct told *t = &b->told[i];
        axes[schema_index(params, t->field)] |= 1u << i;
        for (size_t f = 0; f < t->follows.n; f++) axes[schema_index(params, t->follows.follows[f].to)] |= 1u << i;
    }
    return many_list_new(b->model, (int)b->n_told, axes);
}

struct batch *batch_new(const struct binding *defaults, const struct setting *fixed, size_t n_fixed,
                        const struct field *const *told, size_t n_told, enum fidelity fidelity, const volatile sig_atomic_t *stop,
                        struct diags *diags)
{
    _Static_assert(DSE_KIND_COUNT < 32, "kinds are bits");
    struct binding given = {.model = defaults->model, .catalog = defaults->catalog, .defaults = defaults->defaults};
    given.given = xcalloc(given.model->params.n, sizeof *given.given);
    struct value *values = xcalloc(2 * (n_fixed + n_told), sizeof *values);
    give_all(&given, fixed, n_fixed, told, n_told, values);
    struct batch *b = NULL;
    if (binding_finish(&given, diags)) {
        b = xcalloc(1, sizeof *b);
        b->model = given.model;
        b->told = xcalloc(n_told, sizeof *b->told);
        b->keys = xcalloc(n_told, sizeof *b->keys);
        b->n_told = n_told;
        b->start = space_start(&given);
        b->params = xcalloc(1, b->model->desc->params_size);
        b->metrics = xcalloc(1, b->model->desc->metrics_size);
        b->runner = runner_new(fidelity, &(struct sim_options){.stop = stop, .events_max = RUNNER_EVENTS_MAX});
        make_told(b, &given, told);
        for (size_t i = 0; i < n_told; i++) put(b, &b->told[i]);
        b->can_keep = b->model->many && fidelity == FIDELITY_CLOSED_FORM && n_told <= MANY_LIST_AXES_MAX;
    }
    free(values);
    free(given.given);
    return b;
}

void batch_free(struct batch *b)
{
    if (!b) return;
    many_list_free(b->kept);
    free(b->keys);
    for (size_t i = 0; i < b->n_told; i++) free(b->told[i].follows.follows);
    runner_free(b->runner);
    judge_free(b->judge);
    free(b->failure);
    free(b->told);
    free(b->start);
    free(b->params);
    free(b->metrics);
    free(b);
}

void batch_tell(struct batch *b, size_t i, struct value v)
{
    b->told[i].value = v;
    put(b, &b->told[i]);
}

bool batch_tell_number(struct batch *b, size_t i, double x)
{
    struct told *t = &b->told[i];
    if (!value_of_number(t->field, x, &t->value)) return false;
    memcpy((char *)b->start + t->field->offset, &t->value, sizeof t->value); /* a double or an int64_t */
    return true;
}

/* In the order of their names, as the axes of a space are followed. */
static void tell_again(struct batch *b)
{
    struct told *sorted = xcalloc(b->n_told, sizeof *sorted);
    memcpy(sorted, b->told, b->n_told * sizeof *sorted);
    qsort(sorted, b->n_told, sizeof *sorted, by_name);
    for (size_t i = 0; i < b->n_told; i++) put(b, &sorted[i]);
    free(sorted);
}

static enum batch_end refuse(struct batch *b, enum run_end end)
{
    free(b->failure);
    b->failure =
        end == RUN_REFUSED ? xasprintf("at event level: %s", runner_error(b->runner)) : bug_text(b->model, runner_error(b->runner));
    b->reason = b->failure;
    return end == RUN_BROKEN ? BATCH_BUG : BATCH_INFEASIBLE;
}

enum batch_end batch_run(struct batch *b)
{
    const struct dse_model *model = b->model->desc;
    b->here = b->params;
    b->here_metrics = b->metrics;
    if (b->again) tell_again(b);
    memcpy(b->params, b->start, model->params_size);
    if (model->resolve) model->resolve(b->params);
    b->reason = model->check ? model->check(b->params) : NULL;
    if (b->reason) return BATCH_INFEASIBLE;
    const enum run_end end = runner_run(b->runner, model, b->params, b->metrics, NULL);
    if (end == RUN_DONE) return BATCH_OK;
    return end == RUN_STOPPED ? BATCH_STOPPED : refuse(b, end);
}

/* ---- many at once ------------------------------------------------------------------------------------------------------------ */

bool batch_keeps(const struct batch *b)
{
    return b->can_keep;
}

void batch_keep(struct batch *b)
{
    if (!b->kept) b->kept = list_of_told(b);
    if (b->again) tell_again(b);
    for (size_t i = 0; i < b->n_told; i++) b->keys[i] = b->told[i].value.i64;
    void *params = many_list_put(b->kept, b->start, b->keys);
    if (b->model->desc->resolve) b->model->desc->resolve(params);
}

void batch_run_kept(struct batch *b)
{
    if (b->kept) many_list_run(b->kept);
}

enum batch_end batch_take(struct batch *b, size_t i)
{
    b->here = many_list_params(b->kept, i);
    b->here_metrics = many_list_metrics(b->kept, i);
    b->reason = many_list_reason(b->kept, i);
    if (b->reason) return BATCH_INFEASIBLE;
    const enum run_end end = runner_check(b->runner, b->model->desc, b->here_metrics);
    return end == RUN_DONE ? BATCH_OK : refuse(b, end);
}

const char *batch_reason(const struct batch *b)
{
    return b->reason;
}

const void *batch_params(const struct batch *b)
{
    return b->here;
}

const void *batch_metrics(const struct batch *b)
{
    return b->here_metrics;
}

bool batch_is_measured(const struct batch *b)
{
    return runner_is_measured(b->runner);
}

struct standing batch_standing(struct batch *b)
{
    if (!b->judge) b->judge = judge_new(b->model->desc);
    judge_begin(b->judge);
    judge_add(b->judge, b->here, 1);
    return judge_end(b->judge);
}
