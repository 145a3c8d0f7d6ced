#include "space/cells.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

union cell cell_null(enum dse_type type)
{
    if (type == DSE_TYPE_F64) return (union cell){.f64 = (double)NAN};
    if (type == DSE_TYPE_I64) return (union cell){.i64 = INT64_MIN};
    return (union cell){.text = NULL};
}

union cell cell_of(const struct field *f, const void *object)
{
    struct value v = field_get(f, object);
    switch (f->type) {
    case DSE_TYPE_F64: return (union cell){.f64 = v.f64};
    case DSE_TYPE_I64: return (union cell){.i64 = v.i64};
    case DSE_TYPE_ENUM: return (union cell){.text = f->choices[v.choice]};
    default: return (union cell){.text = v.ref->name};
    }
}

struct run {
    const struct field *first;
    size_t n;
};

struct cell_runs {
    struct run *list;
    size_t n;
};
_Static_assert(sizeof(union cell) == sizeof(double), "numbers are cells as they stand");

/* Does the field go on a run of numbers? */
static bool goes_on(const struct run *r, const struct field *f)
{
    return f->type == DSE_TYPE_F64 && !f->without && r->first->type == DSE_TYPE_F64 && !r->first->without &&
           f->offset == r->first->offset + r->n * sizeof(double);
}

struct cell_runs *cell_runs_new(const struct schema *s)
{
    struct cell_runs *ret = xcalloc(1, sizeof *ret);
    ret->list = xcalloc(s->n + 1, sizeof *ret->list);
    for (size_t i = 0; i < s->n; i++) {
        if (ret->n > 0 && goes_on(&ret->list[ret->n - 1], &s->fields[i]))
            ret->list[ret->n - 1].n++;
        else
            ret->list[ret->n++] = (struct run){&s->fields[i], 1};
    }
    return ret;
}

void cell_runs_free(struct cell_runs *r)
{
    if (!r) return;
    free(r->list);
    free(r);
}

void cell_runs_put(const struct cell_runs *r, const void *object, union cell *cells)
{
    for (const struct run *at = r->list; at < r->list + r->n; at++) {
        const struct field *f = at->first;
        if (f->without)
            *cells = cell_null(f->type);
        else if (f->type == DSE_TYPE_F64)
            memcpy(cells, (const char *)object + f->offset, at->n * sizeof *cells);
        else
            *cells = cell_of(f, object);
        cells += at->n;
    }
}
