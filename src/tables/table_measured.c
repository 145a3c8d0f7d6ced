/* measured: rows of measured machines, and what the models say of the same. */
#include "tables/tables_internal.h"

#include "measured/measured.h"
#include "measured/notes.h"

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
        const struct measured_kind *kind = measured_kind_of(measured_notes(t->measured->set), r->model, r->regime);
        const char *const texts[] = {r->model->desc->name,           r->source, kind ? kind->name : NULL, r->regime,
                                     measured_split_names[r->split], r->unit};
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
    .doc = "rows of measured machines, and the numbers that the models give",
    .columns = (const char *const[]){"model", "source", "kind", "regime", "split", "unit", "measured", "modelled", "error_percent",
                                     "reason", "file", "line", "settings", NULL},
    .arguments = (const char *const[]){NULL},
    .fill = fill_measured,
};

/* ---- by regime --------------------------------------------------------------------------------------------------------------- */

static void put_regime(const struct measured_set *set, const struct measured_sum *s, struct computed_rows *rows)
{
    const struct measured_notes *notes = measured_notes(set);
    const struct measured_kind *kind = measured_kind_of(notes, s->model, s->regime);
    const struct measured_cause *cause = measured_cause_of(notes, s);
    const bool known = s->rows > 0, wrong = measured_is_wrong(notes, s);
    const double numbers[] = {s->mean, s->mean_abs, s->worst, 100 * s->within_10, 100 * s->within_25};
    char *constants = measured_constants(set, s);
    const char *const texts[] = {s->model->desc->name, s->source, kind ? kind->name : NULL, s->regime,
                                 measured_split_names[s->split]};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) computed_text(rows, texts[k]);
    computed_i64(rows, (int64_t)s->rows);
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) computed_f64(rows, known ? numbers[k] : (double)NAN);
    computed_i64(rows, (int64_t)s->refused);
    computed_f64(rows, kind ? kind->target : (double)NAN);
    computed_i64(rows, wrong);
    computed_text(rows, constants);
    computed_text(rows, wrong && cause ? cause->cause : NULL);
    free(constants);
}

static bool fill_regimes(void *context, const char *const *args, struct computed_rows *rows, char **ret_error)
{
    (void)args;
    struct tables *t = context;
    if (!t->measured && !answer(t, ret_error)) return false;
    size_t n;
    struct measured_sum *list = measured_sums(t->measured->set, NULL, &n);
    for (size_t i = 0; i < n; i++) put_regime(t->measured->set, &list[i], rows);
    free(list);
    return true;
}

const struct computed_table table_measured_regimes = {
    .name = "measured_regimes",
    .doc = "errors against measured rows by regime, the constants behind them, and the known causes",
    .columns = (const char *const[]){"model", "source", "kind", "regime", "split", "rows", "mean_percent", "mean_abs_percent",
                                     "worst_percent", "within_10_percent", "within_25_percent", "no_answer", "target_percent",
                                     "wrong", "constants", "cause", NULL},
    .arguments = (const char *const[]){NULL},
    .fill = fill_regimes,
};
