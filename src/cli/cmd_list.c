/* dse list: what there is to choose from. */
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/list_formats.h"
#include "cli/list_llms.h"
#include "command/command.h"
#include "command/output.h"
#include "desc/schema.h"
#include "model/fidelity.h"
#include "model/registry.h"
#include "workload/measured.h"

#include <dirent.h>
#include <dse/costs.h>
#include <dse/quality.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void list_models(enum output_format format)
{
    size_t n;
    const struct model *models = registry_models(&n);
    struct output *o =
        output_new(stdout, format, (const char *const[]){"MODEL", "WHAT", "PARAMETERS", "METRICS", "FIDELITIES", "SOURCE"}, 6);
    for (size_t i = 0; i < n; i++) {
        output_text(o, models[i].desc->name);
        output_text(o, models[i].desc->title);
        output_i64(o, (int64_t)models[i].params.n);
        output_i64(o, (int64_t)models[i].metrics.n);
        output_text(o, fidelities_text(models[i].desc));
        output_text(o, models[i].desc->cite);
    }
    output_end(o);
}

static void put_cell(struct output *o, const struct field *f, const struct dse_entry *entry)
{
    struct value v = field_get(f, entry);
    char buf[TEXT_NUMBER_MAX];
    if (catalog_is_left_out(f, entry)) {
        output_text(o, NULL);
    } else if (f->type == DSE_TYPE_PATTERN) {
        struct text t;
        text_init(&t);
        pattern_text(f, v.pattern, &t);
        output_text(o, t.s);
        text_release(&t);
    } else if (f->type == DSE_TYPE_I64)
        output_i64(o, v.i64);
    else if (f->type == DSE_TYPE_ENUM)
        output_text(o, value_text(f, v, buf));
    else
        output_f64(o, v.f64);
}

/* Is this one of those that the operands ask for? */
static bool is_asked_for(const struct invocation *in, const struct dse_entry *e)
{
    for (size_t i = 1; i < in->n_operands; i++)
        if (strcmp(in->operands[i], e->name) == 0) return true;
    return in->n_operands < 2;
}

static bool is_constant(const char *name)
{
    int id = 0;
    while (id < DSE_CONSTANT_COUNT && strcmp(dse_constant_rows[id].name, name) != 0) id++;
    return id < DSE_CONSTANT_COUNT;
}

/* Check that all names that were asked for exist. */
static bool check_names(const struct invocation *in, const struct catalog *c, enum dse_kind kind)
{
    const struct dse_entry *e;
    const char **names = NULL;
    size_t n = 0;
    for (; (e = catalog_at(c, kind, n)) != NULL; n++) {
        names = xrealloc(names, n + 1, sizeof *names);
        names[n] = e->name;
    }
    for (int id = 0; kind == DSE_KIND_COSTS && id < DSE_CONSTANT_COUNT; id++, n++) {
        names = xrealloc(names, n + 1, sizeof *names);
        names[n] = dse_constant_rows[id].name;
    }
    for (size_t i = 1; i < in->n_operands; i++) {
        if (catalog_find(c, kind, in->operands[i]) || (kind == DSE_KIND_COSTS && is_constant(in->operands[i]))) continue;
        const char *near = text_nearest(in->operands[i], names, n);
        usage_error(in, "there is no %s \"%s\"%s%s%s", kind_singular(kind), in->operands[i], near ? "; did you mean " : "",
                    near ? near : "", near ? "?" : "");
    }
    free(names);
    return in->diags->errors == 0;
}

/* Entries of a catalog with the fields that their kind has. */
static void list_entries(const struct invocation *in, const struct catalog *c, enum dse_kind kind, enum output_format format)
{
    const struct schema *fields = catalog_fields(c, kind);
    const char **columns = xcalloc(fields->n + 2, sizeof *columns);
    columns[0] = kind_singular(kind);
    for (size_t i = 0; i < fields->n; i++) columns[1 + i] = fields->fields[i].name;
    columns[1 + fields->n] = "source";
    struct output *o = output_new(stdout, format, columns, fields->n + 2);
    free(columns);
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(c, kind, i)) != NULL; i++) {
        if (!is_asked_for(in, e)) continue;
        output_text(o, e->name);
        for (size_t k = 0; k < fields->n; k++) put_cell(o, &fields->fields[k], e);
        output_text(o, e->source);
    }
    output_end(o);
}

/* Does a book have rows of its own for the constant that are asked for: all, those of the book, or of the constant? */
static bool is_wanted_constant(const struct invocation *in, const struct dse_costs *book, int id)
{
    for (size_t i = 1; i < in->n_operands; i++)
        if (strcmp(in->operands[i], book->entry.name) == 0 || strcmp(in->operands[i], dse_constant_rows[id].name) == 0) return true;
    return in->n_operands < 2;
}

static void put_constant(struct output *o, const struct dse_costs *book, int id, const struct dse_constant *row)
{
    output_text(o, book->entry.name);
    output_text(o, dse_constant_rows[id].name);
    for (int band = 0; band < DSE_BANDS; band++) output_f64(o, row->value[band]);
    output_text(o, dse_constant_rows[id].unit);
    if (row->year)
        output_i64(o, row->year);
    else
        output_text(o, NULL);
    output_text(o, row->evidence);
    output_text(o, dse_constant_rows[id].doc);
    output_text(o, row->source);
}

/* Every constant of every book, or of those that are named, a line a year. */
static void list_costs(const struct invocation *in, const struct catalog *c, enum output_format format)
{
    struct output *o = output_new(
        stdout, format,
        (const char *const[]){"book", "constant", "low", "typical", "high", "unit", "year", "evidence", "what", "source"}, 10);
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(c, DSE_KIND_COSTS, i)) != NULL; i++) {
        const struct dse_costs *book = (const void *)e;
        for (int id = 0; id < DSE_CONSTANT_COUNT; id++)
            for (int y = 0, before = 0; y < DSE_PRICE_YEARS && is_wanted_constant(in, book, id); y++) {
                if (book->at[id][y] != before) put_constant(o, book, id, &book->rows[book->at[id][y]]);
                before = book->at[id][y];
            }
    }
    output_end(o);
}

static void put_share(struct output *o, double v)
{
    if (v == v)
        output_f64(o, v);
    else
        output_text(o, NULL);
}

static void put_range(struct output *o, double from, double to)
{
    char low[TEXT_NUMBER_MAX], high[TEXT_NUMBER_MAX];
    char *range = from == to ? xstrdup(text_short_number(low, from))
                             : xasprintf("%s..%s", text_short_number(low, from), text_short_number(high, to));
    output_text(o, range);
    free(range);
}

/* The settings that a surface was measured at several values of: "intervals 5..16". */
static void put_settings(struct output *o, const struct dse_quality_surface *s)
{
    struct text t;
    text_init(&t);
    for (int i = 0; i < DSE_SETTINGS; i++) {
        double from, to;
        char low[TEXT_NUMBER_MAX], high[TEXT_NUMBER_MAX];
        dse_surface_settings(s, (enum dse_setting)i, &from, &to);
        if (from == to || i == DSE_SET_LAYER) continue;
        text_addf(&t, "%s%s ", t.n ? ", " : "", dse_setting_name((enum dse_setting)i));
        text_add(&t, measured_setting_text((enum dse_setting)i, from, low));
        text_addf(&t, "..%s", measured_setting_text((enum dse_setting)i, to, high));
    }
    if (dse_surface_layers(s)) text_addf(&t, "%s%zu layers", t.n ? ", " : "", dse_surface_layers(s));
    output_text(o, t.n ? t.s : NULL);
    text_release(&t);
}

/* Every surface of every quality entry, or of those that are named, a line a metric, with the errors of its rule. */
static void list_quality(const struct invocation *in, const struct catalog *c, enum output_format format)
{
    struct output *o =
        output_new(stdout, format,
                   (const char *const[]){"quality", "method", "metric", "contexts", "measured_to", "ratios", "settings",
                                         "left_out_context", "left_out_ratio", "left_out_setting", "source"},
                   11);
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(c, DSE_KIND_QUALITY, i)) != NULL; i++) {
        const struct dse_quality_surface *s;
        for (size_t k = 0; is_asked_for(in, e) && (s = dse_quality_surface_at((const void *)e, k)) != NULL; k++)
            for (int m = 0; m < DSE_QUALITY_METRICS; m++) {
                const struct dse_quality_rule *r = dse_surface_rule(s, (enum dse_quality_metric)m);
                double from, to, measured;
                if (!r) continue;
                output_text(o, e->name);
                output_text(o, dse_surface_method(s));
                output_text(o, dse_quality_metric_names[m]);
                dse_surface_contexts(s, &from, &to, &measured);
                put_range(o, from, to);
                output_f64(o, measured);
                dse_surface_ratios(s, &from, &to);
                put_range(o, from, to);
                put_settings(o, s);
                put_share(o, r->context_error);
                put_share(o, r->ratio_error);
                put_share(o, r->setting_error);
                output_text(o, e->source);
            }
    }
    output_end(o);
}

/* Entries for a file of the user's own, who needs other names than those that are taken. */
static int write_entries(const struct invocation *in, const struct catalog *c, enum dse_kind kind)
{
    if (!catalog_has_toml(kind))
        return usage_error(in, "%s are kept in CSV files, not in TOML: docs/reference/catalog.md", kind_plural(kind));
    struct text t;
    text_init(&t);
    text_addf(&t,
              "# For --catalog FILE, $DSE_CATALOG or ~/.config/dse/catalog.toml. Or shorter: a table of `like = \"NAME\"` and what "
              "differs.\n");
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(c, kind, i)) != NULL; i++) {
        if (!is_asked_for(in, e)) continue;
        char *name = xasprintf("my-%s", e->name);
        text_add(&t, "\n");
        catalog_write_entry(c, kind, e, name, &t);
        free(name);
    }
    fputs(t.s, stdout);
    text_release(&t);
    return 0;
}

static int is_toml(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 5 && strcmp(d->d_name + n - 5, ".toml") == 0;
}

/* Figure or sweep files of a folder of the data directory, each with its first line. */
static bool list_files(const char *folder, const char *what, enum output_format format, struct diags *diags)
{
    char *path = xasprintf("%s/%s", catalog_data_dir(), folder);
    struct dirent **files = NULL;
    int n = scandir(path, &files, is_toml, alphasort);
    if (n < 0) {
        diags_runtime(diags, path, "cannot read the directory: %s", strerror(errno));
        free(path);
        return false;
    }
    struct output *o = output_new(stdout, format, (const char *const[]){what, "WHAT"}, 2);
    for (int i = 0; i < n; i++) {
        char *file = xasprintf("%s/%s", path, files[i]->d_name), *text = NULL;
        if (text_read_file(file, 1 << 20, &text, NULL, diags)) {
            text[strcspn(text, "\n")] = '\0';
            output_text(o, file);
            output_text(o, text + strspn(text, "# "));
        }
        free(text);
        free(file);
        free(files[i]);
    }
    free(files);
    output_end(o);
    free(path);
    return true;
}

static int list_all(const struct catalog *c)
{
    size_t models;
    registry_models(&models);
    struct output *o = output_new(stdout, OUTPUT_TABLE, (const char *const[]){"dse list ...", "ENTRIES"}, 2);
    output_text(o, "models");
    output_i64(o, (int64_t)models);
    for (int k = 0; k < DSE_KIND_COUNT; k++) {
        int64_t n = 0;
        while (catalog_at(c, (enum dse_kind)k, (size_t)n)) n++;
        output_text(o, kind_plural((enum dse_kind)k));
        output_i64(o, n);
    }
    output_text(o, "sweeps");
    output_text(o, "the sweeps that come with dse");
    output_text(o, "figures");
    output_text(o, "the figures that come with dse");
    output_end(o);
    return 0;
}

static int unknown_kind(const struct invocation *in, const char *what)
{
    const char *names[DSE_KIND_COUNT + 3] = {"models", "figures", "sweeps"};
    for (int k = 0; k < DSE_KIND_COUNT; k++) names[3 + k] = kind_plural((enum dse_kind)k);
    return usage_unknown(in, "there is no list of", what, names, DSE_KIND_COUNT + 3, "; `dse list` shows which there are");
}

static int list_one(const struct invocation *in, const struct catalog *c, bool toml, enum output_format format)
{
    const char *what = in->operands[0];
    for (int k = 0; k < DSE_KIND_COUNT; k++) {
        if (strcmp(what, kind_plural((enum dse_kind)k)) != 0) continue;
        if (!check_names(in, c, (enum dse_kind)k)) return 2;
        if (toml) return write_entries(in, c, (enum dse_kind)k);
        if (k == DSE_KIND_COSTS) {
            list_costs(in, c, format);
            return 0;
        }
        if (k == DSE_KIND_QUALITY)
            list_quality(in, c, format);
        else if (k == DSE_KIND_LLM)
            list_llms(in, c, format, put_cell);
        else if (k == DSE_KIND_FORMATS && format == OUTPUT_TABLE)
            list_formats(in, c);
        else
            list_entries(in, c, (enum dse_kind)k, format);
        return 0;
    }
    if (in->n_operands > 1) return usage_error(in, "one argument too many: \"%s\"", in->operands[1]);
    if (toml) return usage_error(in, "--format toml is for entries of catalogs");
    if (strcmp(what, "figures") == 0) return list_files("plots", "FIGURE", format, in->diags) ? 0 : 1;
    if (strcmp(what, "sweeps") == 0) return list_files("sweeps", "SWEEP", format, in->diags) ? 0 : 1;
    return unknown_kind(in, what);
}

static int run(const struct invocation *in)
{
    const char *given = option_get(in, "format");
    const bool toml = given && strcmp(given, "toml") == 0;
    enum output_format format = OUTPUT_TABLE;
    if (!toml && !output_parse_format(in, &format)) return 2;
    pager_start();
    if (in->n_operands == 1 && !toml && strcmp(in->operands[0], "models") == 0) {
        list_models(format);
        return 0;
    }
    struct catalog *c = open_catalog(in);
    if (!c) return 2;
    int status = in->n_operands ? list_one(in, c, toml, format) : list_all(c);
    catalog_free(c);
    return status;
}

const struct command command_list = {
    .name = "list",
    .operands =
        "[models | llms | memories | gpus | fpgas | engines | npus | interconnects | technologies | srams | profiles | requests | "
        "retentions | recordings | expert_loads | drafts | formats | quality | costs | sweeps | figures] [NAME]...",
    .summary = "list models, LLMs, memories, GPUs and all other entries",
    .options = (const struct option_row[]){OPTION_FORMAT, OPTION_CATALOG, {0}},
    .help = "Every entry says where its numbers come from. Entries of your own go into a file (--catalog FILE, $DSE_CATALOG\n"
            "or ~/.config/dse/catalog.toml), or into [catalog] of a sweep. --format toml prints an entry to start from.\n"
            "docs/reference/catalog.md has more.\n"
            "\n"
            "  dse list llms\n"
            "  dse list memories --format csv\n"
            "  dse list costs wafer_usd_7nm\n"
            "  dse list memories hbm3-h100-80gb --format toml\n",
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .run = run,
};
