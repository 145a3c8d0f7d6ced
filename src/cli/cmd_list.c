/* dse list: what there is to choose from. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/command.h"
#include "cli/output.h"
#include "desc/schema.h"
#include "model/fidelity.h"
#include "model/registry.h"

#include <dirent.h>
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

static void put_cell(struct output *o, const struct field *f, const void *entry)
{
    struct value v = field_get(f, entry);
    char buf[TEXT_NUMBER_MAX];
    if (f->type == DSE_TYPE_I64)
        output_i64(o, v.i64);
    else if (f->type == DSE_TYPE_ENUM)
        output_text(o, value_text(f, v, buf));
    else
        output_f64(o, v.f64);
}

/* Entries of a catalog with the fields that their kind has. */
static void list_entries(const struct catalog *c, enum dse_kind kind, enum output_format format)
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
        output_text(o, e->name);
        for (size_t k = 0; k < fields->n; k++) put_cell(o, &fields->fields[k], e);
        output_text(o, e->source);
    }
    output_end(o);
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
    output_text(o, "the questions that come with dse");
    output_text(o, "figures");
    output_text(o, "the figures that come with dse");
    output_end(o);
    return 0;
}

static int unknown_kind(const struct invocation *in, const char *what)
{
    const char *names[DSE_KIND_COUNT + 3] = {"models", "figures", "sweeps"};
    for (int k = 0; k < DSE_KIND_COUNT; k++) names[3 + k] = kind_plural((enum dse_kind)k);
    const char *near = text_nearest(what, names, DSE_KIND_COUNT + 3);
    return near ? usage_error(in, "there is no list of \"%s\"; did you mean %s?", what, near)
                : usage_error(in, "there is no list of \"%s\"; `dse list` shows which there are", what);
}

static int list_one(const struct invocation *in, const struct catalog *c, enum output_format format)
{
    const char *what = in->operands[0];
    if (strcmp(what, "figures") == 0) return list_files("plots", "FIGURE", format, in->diags) ? 0 : 1;
    if (strcmp(what, "sweeps") == 0) return list_files("sweeps", "SWEEP", format, in->diags) ? 0 : 1;
    for (int k = 0; k < DSE_KIND_COUNT; k++) {
        if (strcmp(what, kind_plural((enum dse_kind)k)) != 0) continue;
        list_entries(c, (enum dse_kind)k, format);
        return 0;
    }
    return unknown_kind(in, what);
}

static int run(const struct invocation *in)
{
    enum output_format format;
    if (!output_parse_format(in, &format)) return 2;
    pager_start();
    if (in->n_operands && strcmp(in->operands[0], "models") == 0) {
        list_models(format);
        return 0;
    }
    struct catalog *c = open_catalog(in);
    if (!c) return 2;
    int status = in->n_operands ? list_one(in, c, format) : list_all(c);
    catalog_free(c);
    return status;
}

const struct command command_list = {
    .name = "list",
    .operands =
        "[models | llms | memories | gpus | fpgas | engines | technologies | srams | profiles | requests | retentions | recordings | "
        "sweeps | figures]",
    .summary = "what there is to choose from",
    .options = (const struct option_row[]){OPTION_FORMAT, OPTION_CATALOG, {0}},
    .help = "Every entry says where its numbers come from. Your own: --catalog FILE, or [catalog] in a sweep; docs/catalog.md.\n\n"
            "  dse list llms\n"
            "  dse list memories --format csv\n",
    .min_operands = 0,
    .max_operands = 1,
    .run = run,
};
