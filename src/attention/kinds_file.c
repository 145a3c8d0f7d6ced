#include "attention/kinds_file.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config/csv_table.h"
#include "desc/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KIND, LAYER, HEAD, FIRST_PARAMETER, COLUMNS_MAX = 64 };

struct columns {
    struct schema rows; /* the generator's parameters */
    char *names[COLUMNS_MAX];
    size_t n, first_real, first_made;
};

static void columns_init(struct columns *c)
{
    static const char *const keys[] = {"kind", "layer", "head"};
    c->n = 0;
    schema_init_params(&c->rows, generator_params);
    for (size_t i = 0; i < FIRST_PARAMETER; i++) c->names[c->n++] = xstrdup(keys[i]);
    for (size_t i = 0; i < c->rows.n; i++) c->names[c->n++] = xstrdup(c->rows.fields[i].name);
    c->first_real = c->n;
    for (size_t i = 0; i < HEAD_FEATURES; i++) c->names[c->n++] = xasprintf("real_%s", head_feature_names[i]);
    c->first_made = c->n;
    for (size_t i = 0; i < HEAD_FEATURES; i++) c->names[c->n++] = xasprintf("made_%s", head_feature_names[i]);
}

static void columns_release(struct columns *c)
{
    for (size_t i = 0; i < c->n; i++) free(c->names[i]);
    schema_release(&c->rows);
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

static void add_features(struct text *t, const struct head_features *f)
{
    for (size_t i = 0; i < HEAD_FEATURES; i++) {
        double v = head_feature(f, i);
        text_addf(t, isnan(v) ? "," : ",%.6g", v);
    }
}

static void add_component(struct text *t, const struct columns *c, const struct head_component *h)
{
    char buf[TEXT_NUMBER_MAX];
    text_addf(t, "%s,%ld,%ld", head_kind_names[h->kind], (long)h->layer, (long)h->head);
    for (size_t i = 0; i < c->rows.n; i++)
        text_addf(t, ",%s", value_text(&c->rows.fields[i], field_get(&c->rows.fields[i], &h->g), buf));
    add_features(t, &h->real);
    add_features(t, &h->made);
    text_add(t, "\n");
}

bool kinds_write_file(const char *path, const struct head_mixture *m, struct diags *diags)
{
    struct columns c;
    struct text t;
    columns_init(&c);
    text_init(&t);
    text_addf(&t, "# source: %s\n# model: %s\n", m->source, m->model);
    text_add(
        &t,
        "# Each row is a generator of heads (dse trace generate --kinds), fitted to one head; n: the positions that it was fitted "
        "on.\n");
    for (size_t i = 0; i < c.n; i++) text_addf(&t, "%s%s", i ? "," : "", c.names[i]);
    text_add(&t, "\n");
    for (size_t i = 0; i < m->n; i++) add_component(&t, &c, &m->list[i]);
    columns_release(&c);
    struct file *f = file_begin(path, diags);
    bool ok = f != NULL;
    if (ok) {
        file_put(f, t.s, t.n);
        ok = file_commit(f, diags);
    }
    text_release(&t);
    return ok;
}

/* ---- reading ------------------------------------------------------------------------------------------------------------- */

static bool read_kind(const struct csv_table *t, size_t row, enum head_kind *ret, struct diags *diags)
{
    const char *s = t->rows[row].cells[KIND];
    for (size_t k = 0; k < HEAD_KINDS; k++)
        if (strcmp(s, head_kind_names[k]) == 0) {
            *ret = (enum head_kind)k;
            return true;
        }
    return diags_input(diags, csv_table_cell_loc(t, row, KIND), t->text, "sink, local, sparse or broad", "kind: \"%s\" is none", s);
}

static bool read_number(const struct csv_table *t, size_t row, size_t column, const struct field *f, struct generator *g,
                        struct diags *diags)
{
    double x;
    if (!csv_table_number(t, row, column, false, &x, diags)) return false;
    struct srcloc loc = csv_table_cell_loc(t, row, column);
    bool whole = f->type == DSE_TYPE_I64;
    if (whole && (x != floor(x) || fabs(x) > 0x1p53))
        return diags_input(diags, loc, t->text, NULL, "%s: %s is not a whole number", f->name, t->rows[row].cells[column]);
    struct value v = {.f64 = x};
    if (whole) v.i64 = (int64_t)x;
    if (!field_check(f, v, loc, t->text, NULL, diags)) return false;
    field_set(f, g, v);
    return true;
}

static bool read_features(const struct csv_table *t, size_t row, size_t first, struct head_features *ret, struct diags *diags)
{
    double all[HEAD_FEATURES];
    for (size_t i = 0; i < HEAD_FEATURES; i++)
        if (!csv_table_number(t, row, first + i, true, &all[i], diags)) return false;
    memcpy(ret, all, sizeof all);
    return true;
}

static bool read_row(const struct csv_table *t, const struct columns *c, size_t row, struct head_component *ret,
                     struct diags *diags)
{
    double layer, head;
    *ret = (struct head_component){0};
    bool ok = read_kind(t, row, &ret->kind, diags) && csv_table_number(t, row, LAYER, false, &layer, diags) &&
              csv_table_number(t, row, HEAD, false, &head, diags);
    if (ok && !(layer >= 0 && layer < INT32_MAX && head >= 0 && head < INT32_MAX))
        ok = diags_input(diags, csv_table_loc(t, row), t->text, NULL, "layer %g, head %g: these are no places of a model", layer,
                         head);
    if (!ok) return false;
    ret->layer = (int32_t)layer;
    ret->head = (int32_t)head;
    for (size_t i = 0; i < c->rows.n && ok; i++) ok = read_number(t, row, FIRST_PARAMETER + i, &c->rows.fields[i], &ret->g, diags);
    return ok && read_features(t, row, c->first_real, &ret->real, diags) && read_features(t, row, c->first_made, &ret->made, diags);
}

bool kinds_read_file(const char *path, struct head_mixture *ret, struct diags *diags)
{
    struct columns c;
    struct csv_table t = {0};
    *ret = (struct head_mixture){0};
    columns_init(&c);
    const char *names[COLUMNS_MAX];
    for (size_t i = 0; i < c.n; i++) names[i] = c.names[i];
    bool ok = csv_table_read(&t, path, names, c.n, diags);
    if (ok && t.n_rows == 0) ok = diags_input(diags, csv_table_header_loc(&t), t.text, NULL, "there are no rows below the header");
    if (ok) {
        *ret = (struct head_mixture){.model = xstrdup("generated"), .source = xstrdup(t.source), .n = t.n_rows};
        ret->list = xcalloc(t.n_rows, sizeof *ret->list);
    }
    for (size_t i = 0; ok && i < t.n_rows; i++) ok = read_row(&t, &c, i, &ret->list[i], diags);
    csv_table_release(&t);
    columns_release(&c);
    if (!ok) head_mixture_release(ret);
    return ok;
}
