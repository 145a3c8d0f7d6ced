#include "attention/trace_arrays.h"

#include "attention/trace_format.h"
#include "base/xalloc.h"

#include <stdlib.h>

enum { LAYER, HEAD, POSITION, ELEMENT, DIMS };

struct shape {
    uint64_t at[DIMS];
};

struct source {
    const struct trace_arrays *arrays;
    struct trace_info all;      /* the arrays */
    struct trace_picked picked; /* of them */
    int32_t *layer_ids, *head_ids, *kv_of;
};

/* ---- shapes -------------------------------------------------------------------------------------------------------------- */

static struct srcloc place(const struct array *a)
{
    return (struct srcloc){.file = a->file};
}

static bool read_shape(const struct array *a, struct shape *ret, struct diags *diags)
{
    char text[ARRAY_SHAPE_TEXT];
    if (a->type != ARRAY_F16 && a->type != ARRAY_BF16 && a->type != ARRAY_F32)
        return diags_input(diags, place(a), NULL, NULL, "%s has values of type %s; fp16, bf16 and fp32 are read", a->name,
                           array_type_name(a->type));
    if (a->n_dims != DIMS && a->n_dims != DIMS - 1)
        return diags_input(diags, place(a), NULL, NULL,
                           "%s has shape %s; [layers, heads, positions, elements] is needed, or without layers", a->name,
                           array_shape_text(a, text));
    size_t missing = DIMS - a->n_dims;
    ret->at[LAYER] = 1;
    for (size_t i = missing; i < DIMS; i++) ret->at[i] = a->dims[i - missing];
    return true;
}

/* What is wrong with shapes that are told of all three. */
static bool wrong(const struct trace_arrays *a, struct diags *diags, const char *hint, const char *what)
{
    char q[ARRAY_SHAPE_TEXT], k[ARRAY_SHAPE_TEXT], v[ARRAY_SHAPE_TEXT];
    return diags_input(diags, place(&a->q), NULL, hint, "%s has shape %s, %s %s, %s %s: %s", a->q.name, array_shape_text(&a->q, q),
                       a->k.name, array_shape_text(&a->k, k), a->v.name, array_shape_text(&a->v, v), what);
}

static bool check_shapes(const struct trace_arrays *a, const struct shape *q, const struct shape *k, const struct shape *v,
                         const struct trace_info *wanted, struct diags *diags)
{
    for (size_t i = 0; i < DIMS; i++)
        if (k->at[i] != v->at[i]) return wrong(a, diags, NULL, "keys and values are not of one shape");
    if (q->at[LAYER] != k->at[LAYER]) return wrong(a, diags, NULL, "queries and keys are not of as many layers");
    if (q->at[ELEMENT] != k->at[ELEMENT]) return wrong(a, diags, NULL, "queries and keys are not of one dimension");
    if (k->at[HEAD] == 0 || q->at[HEAD] % k->at[HEAD] != 0)
        return wrong(a, diags, "query heads share k and v in groups of one size",
                     "the query heads are no multiple of the KV heads");
    if (!wanted->steps && q->at[POSITION] != k->at[POSITION])
        return wrong(a, diags, "--steps says which positions the rows of q are", "queries and keys are not of as many positions");
    if (!wanted->steps || wanted->n_steps == q->at[POSITION]) return true;
    return diags_input(diags, place(&a->q), NULL, NULL, "%s has %llu rows, and %zu steps are told", a->q.name,
                       (unsigned long long)q->at[POSITION], wanted->n_steps);
}

/* Ids as they are told, or counted. */
static bool take_ids(const char *what, uint64_t n, const int32_t *told, size_t n_told, size_t max, int32_t **ret, struct srcloc loc,
                     struct diags *diags)
{
    if (n_told && n_told != n)
        return diags_input(diags, loc, NULL, NULL, "the arrays have %llu %s, and %zu are told", (unsigned long long)n, what,
                           n_told);
    if (!trace_check_number(n, max, what, loc, diags)) return false;
    *ret = xcalloc((size_t)n, sizeof **ret);
    for (size_t i = 0; i < n; i++) (*ret)[i] = n_told ? told[i] : (int32_t)i;
    return true;
}

static bool take_shape(struct source *s, const struct trace_info *wanted, struct diags *diags)
{
    const struct trace_arrays *a = s->arrays;
    struct shape q = {{0}}, k = {{0}}, v = {{0}};
    struct srcloc loc = place(&a->q);
    if (!read_shape(&a->q, &q, diags) || !read_shape(&a->k, &k, diags) || !read_shape(&a->v, &v, diags) ||
        !check_shapes(a, &q, &k, &v, wanted, diags) ||
        !take_ids("layers", q.at[LAYER], wanted->layer_ids, wanted->layers, TRACE_LAYERS_MAX, &s->layer_ids, loc, diags) ||
        !take_ids("heads", q.at[HEAD], wanted->head_ids, wanted->heads, TRACE_HEADS_MAX, &s->head_ids, loc, diags))
        return false;
    bool halves = a->q.type == ARRAY_F16 && a->k.type == ARRAY_F16 && a->v.type == ARRAY_F16;
    s->kv_of = xcalloc(q.at[HEAD], sizeof *s->kv_of);
    for (size_t i = 0; i < q.at[HEAD]; i++) s->kv_of[i] = (int32_t)(i / (q.at[HEAD] / k.at[HEAD]));
    s->all = (struct trace_info){.model = wanted->model,
                                 .source = wanted->source,
                                 .layers = q.at[LAYER],
                                 .heads = q.at[HEAD],
                                 .layer_ids = s->layer_ids,
                                 .head_ids = s->head_ids,
                                 .n = k.at[POSITION],
                                 .d = q.at[ELEMENT],
                                 .bits = wanted->bits ? wanted->bits
                                         : halves     ? 16
                                                      : 32,
                                 .kv_heads = k.at[HEAD],
                                 .kv_of = s->kv_of,
                                 .n_steps = wanted->n_steps,
                                 .steps = wanted->steps};
    return trace_check(&s->all, loc, diags);
}

int32_t *trace_array_steps(const struct array *a, size_t *ret_n, struct diags *diags)
{
    char text[ARRAY_SHAPE_TEXT];
    bool ok =
        (a->type == ARRAY_I32 || a->type == ARRAY_I64) && a->n_dims == 1 && a->dims[0] >= 1 && a->dims[0] <= TRACE_POSITIONS_MAX;
    if (!ok) {
        diags_input(diags, place(a), NULL, NULL, "%s: %s of %s is no list of steps; [n] of int32 or int64 is one", a->name,
                    array_shape_text(a, text), array_type_name(a->type));
        return NULL;
    }
    int32_t *steps = xcalloc((size_t)a->dims[0], sizeof *steps);
    for (size_t i = 0; i < a->dims[0]; i++) {
        int64_t step = array_integer(a, i);
        steps[i] = step >= 0 && step < TRACE_POSITIONS_MAX ? (int32_t)step : -1;
    }
    *ret_n = (size_t)a->dims[0];
    return steps;
}

/* ---- heads --------------------------------------------------------------------------------------------------------------- */

/* One matrix of a head: the first m->n rows of head `head` in layer `layer` of an array. */
static bool take_matrix(const struct array *a, uint64_t heads, size_t layer, uint64_t head, const struct trace_matrix *m,
                        float *ret, struct diags *diags)
{
    uint64_t rows = a->dims[a->n_dims - 2];
    array_floats(a, ((layer * heads + head) * rows) * m->d, m->n * m->d, ret);
    return trace_check_finite(m, ret, place(a), diags);
}

static bool pull(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    const struct source *s = user;
    const struct trace_info *all = &s->all, *t = &s->picked.info;
    size_t from_layer = trace_place(all->layer_ids, all->layers, t->layer_ids[layer]);
    size_t from_head = trace_place(all->head_ids, all->heads, t->head_ids[head]);
    struct trace_matrix m = {t->layer_ids[layer], t->head_ids[head], 'q', trace_steps(t), t->d, t->bits, t->steps};
    head_init_sampled(ret, t->n, t->d, t->steps, t->n_steps);
    bool ok = take_matrix(&s->arrays->q, all->heads, from_layer, from_head, &m, ret->q, diags);
    const struct array *of_cache[2] = {&s->arrays->k, &s->arrays->v};
    float *matrices[2] = {ret->k, ret->v};
    m.n = t->n;
    m.steps = NULL;
    for (size_t i = 0; i < 2 && ok && trace_leads(t, head); i++) {
        m.which = trace_matrices[1 + i];
        ok = take_matrix(of_cache[i], all->kv_heads, from_layer, trace_kv_of(all, from_head), &m, matrices[i], diags);
    }
    if (!ok) head_release(ret);
    return ok;
}

bool trace_import_arrays(const struct trace_arrays *a, const struct trace_info *wanted, const struct trace_pick *pick,
                         const char *to, struct diags *diags)
{
    struct source s = {.arrays = a};
    bool ok = take_shape(&s, wanted, diags) && trace_pick_apply(pick, &s.all, &s.picked, place(&a->q), diags) &&
              trace_write(to, &s.picked.info, pull, &s, diags);
    trace_picked_release(&s.picked);
    free(s.layer_ids);
    free(s.head_ids);
    free(s.kv_of);
    return ok;
}
