#include "cli/validate_measured.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "cli/model_find.h"
#include "measured/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BUF = TEXT_NUMBER_MAX };

/* "+12.3": of a sum without rows NULL. */
static const char *percent(bool known, bool with_sign, double v, char buf[BUF])
{
    if (!known) return NULL;
    snprintf(buf, BUF, with_sign ? "%+.1f" : "%.1f", v);
    return buf;
}

static void put_rows(const struct measured_set *s, const struct model *const *models, size_t n_models, enum output_format format)
{
    static const char *const columns[] = {"model", "source",    "regime", "split", "measured", "modelled",
                                          "unit",  "error_pct", "reason", "file",  "line",     "settings"};
    size_t n;
    const struct measured_row *rows = measured_rows(s, &n);
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        const struct measured_row *r = &rows[i];
        bool asked = n_models == 0;
        for (size_t k = 0; k < n_models; k++) asked |= models[k] == r->model;
        if (!asked) continue;
        const char *const texts[] = {r->model->desc->name, r->source, r->regime, measured_split_names[r->split]};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) output_text(o, texts[k]);
        output_f64(o, r->measured);
        output_f64(o, r->modelled);
        output_text(o, r->unit);
        output_f64(o, 100 * (r->modelled / r->measured - 1));
        output_text(o, r->reason);
        output_text(o, r->file);
        output_i64(o, r->line);
        output_text(o, r->settings);
    }
    output_end(o);
}

static void put_sum(struct output *o, const struct measured_sum *s)
{
    char buf[BUF];
    const bool known = s->rows > 0;
    output_text(o, s->model->desc->name);
    output_text(o, s->source);
    output_text(o, s->regime);
    output_text(o, measured_split_names[s->split]);
    output_i64(o, (int64_t)s->rows);
    output_text(o, percent(known, true, s->mean, buf));
    output_text(o, percent(known, false, s->mean_abs, buf));
    output_text(o, percent(known, true, s->worst, buf));
    output_text(o, percent(known, false, 100 * s->within_10, buf));
    output_text(o, percent(known, false, 100 * s->within_25, buf));
    output_text(o, s->refused ? text_count(buf, s->refused) : NULL);
}

/* Over regimes, each counting once, and over rows. */
static void say_totals(const struct measured_sum *list, size_t n, enum measured_split split)
{
    size_t regimes = 0, rows = 0, refused = 0, biased = 0;
    double mean = 0, within_25 = 0;
    for (size_t i = 0; i < n; i++) {
        const struct measured_sum *s = &list[i];
        enum { MANY = 10, BIAS = 20 };
        if (s->split != split) continue;
        refused += s->refused;
        if (s->rows == 0) continue;
        regimes++;
        rows += s->rows;
        mean += s->mean_abs;
        within_25 += s->within_25 * (double)s->rows;
        biased += s->rows >= MANY && fabs(s->mean) > BIAS;
    }
    if (!regimes) return;
    terminal_say(
        stdout,
        "%s rows: the mean absolute error of a regime is %.1f %% on average over %zu regimes; %zu rows, %.0f %% within 25 %%; %zu "
        "regimes of ten rows or more are biased by over 20 %%; %zu rows have no answer (--format csv says why)",
        measured_split_names[split], mean / (double)regimes, regimes, rows, 100 * within_25 / (double)rows, biased, refused);
}

static void print_sums(const struct measured_set *s, const struct model *const *models, size_t n_models)
{
    static const char *const columns[] = {"SYSTEM",   "SOURCE",  "REGIME",      "SPLIT",       "ROWS",     "MEAN %",
                                          "MEAN |%|", "WORST %", "WITHIN 10 %", "WITHIN 25 %", "NO ANSWER"};
    size_t n;
    struct measured_sum *list = measured_sums(s, n_models == 1 ? models[0] : NULL, &n);
    struct output *o = output_new(stdout, OUTPUT_TABLE, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) put_sum(o, &list[i]);
    output_end(o);
    putchar('\n');
    for (int k = MEASURED_SPLITS - 1; k >= 0; k--) say_totals(list, n, (enum measured_split)k);
    terminal_say(stdout, "%zu rows of these files are measured and no model answers them yet", measured_unbound(s));
    free(list);
}

int validate_measured(const struct invocation *in, enum output_format format)
{
    const struct model **models = xcalloc(in->n_operands + 1, sizeof *models);
    bool ok = true;
    for (size_t i = 0; i < in->n_operands && ok; i++) ok = (models[i] = model_find(in, in->operands[i])) != NULL;
    struct catalog *catalog = ok ? open_catalog(in) : NULL;
    const char *own = option_get(in, "from");
    char *dir = own ? xstrdup(own) : xasprintf("%s/catalog/measured", catalog_data_dir());
    struct measured_set *s = catalog ? measured_open(dir, catalog, in->diags) : NULL;
    if (s) {
        for (size_t i = 0; i < in->n_operands; i++) measured_answer(s, models[i]);
        if (!in->n_operands) measured_answer(s, NULL);
        pager_start();
        if (format == OUTPUT_TABLE)
            print_sums(s, models, in->n_operands);
        else
            put_rows(s, models, in->n_operands, format);
    }
    measured_close(s);
    free(dir);
    catalog_free(catalog);
    free(models);
    return ok ? 0 : 2;
}
