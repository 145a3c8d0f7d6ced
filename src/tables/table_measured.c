/* measured: rows of measured machines, and what the models say of the same. */
#include "tables/tables_internal.h"

#include "measured/measured.h"

#include <math.h>
#include <stdlib.h>

struct answered_rows {
    struct catalog *catalog; /* with what the rows' own entries add */
    struct measured_set *set;
};

void answered_rows_free(struct answered_rows *a)
{
    if (!a) return;
    measured_close(a->set);
    catalog_free(a->catalog);
    free(a);
}

static bool answer(struct tables *t, char **ret_error)
{
    struct diags diags;
    diags_init(&diags);
    struct answered_rows *a = xcalloc(1, sizeof *a);
    char *dir = xasprintf("%s/catalog/measured", catalog_data_dir());
    a->catalog = catalog_open(&diags);
    a->set = a->catalog ? measured_open(dir, a->catalog, &diags) : NULL;
    free(dir);
    if (!a->set) {
        answered_rows_free(a);
        return tables_fail(&diags, ret_error);
    }
    diags_release(&diags);
    measured_answer(a->set, NULL);
    t->measured = a;
    return true;
}

static bool fill_measured(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    (void)args;
    struct tables *t = context;
    if (!t->measured && !answer(t, ret_error)) return false;
    size_t n;
    const struct measured_row *list = measured_rows(t->measured->set, &n);
    for (size_t i = 0; i < n; i++) {
        const struct measured_row *r = &list[i];
        const char *const texts[] = {r->model->desc->name, r->source, r->regime, measured_split_names[r->split], r->unit};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) computed_text(rows, texts[k]);
        computed_f64(rows, r->measured);
        computed_f64(rows, r->modelled);
        computed_f64(rows, 100 * (r->modelled / r->measured - 1));
        computed_text(rows, r->reason);
        computed_text(rows, r->file);
        computed_i64(rows, r->line);
        computed_text(rows, r->settings);
    }
    return true;
}

const struct computed_table table_measured = {
    .name = "measured",
    .doc = "rows of measured machines, and what the models say of the same",
    .columns = (const char *const[]){"model", "source", "regime", "split", "unit", "measured", "modelled", "error_percent",
                                     "reason", "file", "line", "settings", NULL},
    .arguments = (const char *const[]){NULL},
    .fill = fill_measured,
};
