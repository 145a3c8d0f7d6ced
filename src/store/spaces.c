/* store_open: spaces as tables. */
#include "store/schema.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

static union cell cell_of(const struct field *f, const void *params)
{
    struct value v = field_get(f, params);
    switch (f->type) {
    case DSE_TYPE_F64: return (union cell){.f64 = v.f64};
    case DSE_TYPE_I64: return (union cell){.i64 = v.i64};
    case DSE_TYPE_ENUM: return (union cell){.text = f->choices[v.choice]};
    default: return (union cell){.text = v.ref ? v.ref->name : NULL};
    }
}

/* A cell of this type that stands for NULL. */
static union cell null_cell(enum dse_type type)
{
    if (type == DSE_TYPE_F64) return (union cell){.f64 = (double)NAN};
    if (type == DSE_TYPE_I64) return (union cell){.i64 = INT64_MIN};
    return (union cell){.text = NULL};
}

/* The mix of requests stands among the parameters that do not vary, and its lengths have no value. */
static void describe_requests(const struct space *sp, struct store_table *t, struct store_param *params)
{
    if (!space_requests(sp)) return;
    for (size_t i = 0; i < t->n_params; i++)
        if (request_mix_sets(params[i].name)) params[i].fixed = null_cell(params[i].type);
    params[t->n_params++] = (struct store_param){.name = "requests",
                                                 .unit = "",
                                                 .doc = "mix of requests that the metrics are the mean over, with its shares",
                                                 .type = DSE_TYPE_ENUM,
                                                 .fixed.text = space_requests_text(sp)};
}

/* Describe a space as a table. The caller frees the parameters that are returned, and which t borrows. */
static struct store_param *describe_space(const struct space *sp, struct store_table *t)
{
    const struct model *model = space_model(sp);
    struct store_param *params = xcalloc(model->params.n + 1, sizeof *params);
    for (size_t i = 0; i < model->params.n; i++) {
        const struct field *f = &model->params.fields[i];
        params[i] =
            (struct store_param){.name = f->name, .unit = f->unit, .doc = f->doc, .type = f->type, .varies = space_varies(sp, i)};
        if (!params[i].varies) params[i].fixed = cell_of(f, space_fixed(sp));
    }
    *t = (struct store_table){.model = model->desc->name,
                              .version = model->desc->version,
                              .points = space_count(sp),
                              .params = params,
                              .n_params = model->params.n};
    t->columns = space_columns(sp, &t->n_columns);
    describe_requests(sp, t, params);
    return params;
}

struct store *store_open(const char *path, const struct run_info *info, struct space *const *spaces, size_t n_spaces,
                         unsigned flags, struct diags *diags)
{
    struct store_table *tables = xcalloc(n_spaces, sizeof *tables);
    struct store_param **params = xcalloc(n_spaces, sizeof(struct store_param *));
    for (size_t i = 0; i < n_spaces; i++) params[i] = describe_space(spaces[i], &tables[i]);
    struct store *st = store_open_tables(path, info, tables, n_spaces, flags, diags);
    for (size_t i = 0; i < n_spaces; i++) free(params[i]);
    free(params);
    free(tables);
    return st;
}
