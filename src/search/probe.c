#include "search/probe.h"

#include "base/xalloc.h"
#include "base/random.h"
#include "space/space_internal.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>

struct probe {
    const struct space *space;
    size_t m;
    size_t columns[PROBE_OBJECTIVES_MAX];
    double sign[PROBE_OBJECTIVES_MAX];
    struct probe_axis *axes;
    size_t n_axes;
    struct evaluator **evaluators; /* one a thread */
    int threads;
};

/* ---- axes ------------------------------------------------------------------------------------------------------------------ */

static double number(const struct axis *a, uint64_t digit)
{
    return a->field->type == DSE_TYPE_F64 ? a->values[digit].f64 : (double)a->values[digit].i64;
}

struct numbered {
    double number;
    uint32_t digit;
};

static int ascending(const void *a, const void *b)
{
    const struct numbered *x = a, *y = b;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return (x->digit > y->digit) - (x->digit < y->digit);
}

/* Lists need not be in the order of their values. */
static void sort_places(const struct axis *a, struct probe_axis *ret)
{
    bool sorted = true;
    for (uint64_t v = 1; v < a->n; v++) sorted = sorted && number(a, v - 1) <= number(a, v);
    if (sorted) return;
    struct numbered *values = xcalloc(a->n, sizeof *values);
    uint32_t *digit = xcalloc(a->n, sizeof *digit), *place = xcalloc(a->n, sizeof *place);
    for (uint64_t v = 0; v < a->n; v++) values[v] = (struct numbered){number(a, v), (uint32_t)v};
    qsort(values, a->n, sizeof *values, ascending);
    for (uint64_t i = 0; i < a->n; i++) {
        digit[i] = values[i].digit;
        place[values[i].digit] = (uint32_t)i;
    }
    free(values);
    ret->digit = digit;
    ret->place = place;
}

static void make_axes(struct probe *p)
{
    p->n_axes = p->space->n_axes;
    p->axes = xcalloc(p->n_axes, sizeof *p->axes);
    uint64_t stride = 1;
    for (size_t i = p->n_axes; i-- > 0;) {
        const struct axis *a = &p->space->axes[i];
        p->axes[i] = (struct probe_axis){.n = a->n, .stride = stride, .names = !field_is_number(a->field)};
        if (!p->axes[i].names) sort_places(a, &p->axes[i]);
        stride *= a->n;
    }
}

struct probe *probe_new(const struct space *sp, const char *const *columns, const bool *maximise, size_t m, int threads)
{
    struct probe *p = xcalloc(1, sizeof *p);
    p->space = sp;
    p->m = m;
    for (size_t j = 0; j < m; j++) {
        p->columns[j] = space_column(sp, columns[j]);
        p->sign[j] = maximise[j] ? -1 : 1;
    }
    make_axes(p);
    p->threads = threads > 0 ? threads : 1;
    p->evaluators = xcalloc((size_t)p->threads, sizeof(struct evaluator *));
    for (int t = 0; t < p->threads; t++) p->evaluators[t] = evaluator_new(sp, FIDELITY_CLOSED_FORM, NULL);
    return p;
}

static void free_order(struct probe_axis *a)
{
    free(a->digit);
    free(a->place);
    a->digit = a->place = NULL;
}

void probe_free(struct probe *p)
{
    if (!p) return;
    for (int t = 0; t < p->threads; t++) evaluator_free(p->evaluators[t]);
    for (size_t i = 0; i < p->n_axes; i++) free_order(&p->axes[i]);
    free(p->evaluators);
    free(p->axes);
    free(p);
}

void probe_hold(struct probe *p, size_t a, uint64_t digit)
{
    struct probe_axis *axis = &p->axes[a];
    free_order(axis);
    axis->n = 1;
    axis->held = digit;
}

size_t probe_objectives(const struct probe *p)
{
    return p->m;
}

int probe_threads(const struct probe *p)
{
    return p->threads;
}

const struct probe_axis *probe_axes(const struct probe *p, size_t *ret_n)
{
    *ret_n = p->n_axes;
    return p->axes;
}

/* ---- points ---------------------------------------------------------------------------------------------------------------- */

uint64_t probe_count(const struct probe *p)
{
    uint64_t n = 1;
    for (size_t i = 0; i < p->n_axes; i++)
        if (__builtin_mul_overflow(n, p->axes[i].n, &n)) return UINT64_MAX;
    return n;
}

uint64_t probe_index(const struct probe *p, const uint64_t *places)
{
    uint64_t index = 0;
    for (size_t i = 0; i < p->n_axes; i++) {
        const struct probe_axis *a = &p->axes[i];
        index += a->stride * (a->n == 1 ? a->held : a->digit ? a->digit[places[i]] : places[i]);
    }
    return index;
}

void probe_places(const struct probe *p, uint64_t index, uint64_t *places)
{
    uint64_t digits[SPACE_AXES_MAX];
    space_digits(p->space, index, digits);
    for (size_t i = 0; i < p->n_axes; i++) {
        const struct probe_axis *a = &p->axes[i];
        places[i] = a->n == 1 ? 0 : a->place ? a->place[digits[i]] : digits[i];
    }
}

uint64_t probe_random(const struct probe *p, uint64_t seed, uint64_t i)
{
    uint64_t places[SPACE_AXES_MAX];
    for (size_t a = 0; a < p->n_axes; a++) places[a] = random_below(random_at(seed, i, a), p->axes[a].n);
    return probe_index(p, places);
}

/* ---- evaluation ------------------------------------------------------------------------------------------------------------ */

/* Many points at a time, which models evaluate at once; of few points waiting for all threads takes longer than the work. */
enum { CHUNK = 256, SHARED_MIN = 512 };

bool probe_evaluate(struct probe *p, const uint64_t *points, size_t n, double *values, double *violations)
{
    bool ok = true;
#pragma omp parallel for num_threads(p->threads) schedule(dynamic, 1) reduction(&& : ok) if (n >= SHARED_MIN && p->threads > 1)
    for (size_t i = 0; i < n; i += CHUNK) {
        const size_t some = n - i < CHUNK ? n - i : CHUNK;
        ok = ok && evaluator_probe_many(p->evaluators[omp_get_thread_num()], points + i, some, p->columns, p->m, values + i * p->m,
                                        violations + i);
    }
    for (size_t i = 0; i < n && ok; i++) {
        for (size_t j = 0; j < p->m; j++) {
            double *value = &values[i * p->m + j];
            *value *= p->sign[j];
            if (violations[i] == 0 && isnan(*value)) violations[i] = 1;
        }
    }
    return ok;
}

const char *probe_error(const struct probe *p)
{
    for (int t = 0; t < p->threads; t++)
        if (evaluator_error(p->evaluators[t])) return evaluator_error(p->evaluators[t]);
    return NULL;
}
