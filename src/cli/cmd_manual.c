/* dse manual: the pages of the manual, from the tables of the commands and models and the documents of docs/reference/. The build
 * calls it. */
#include "base/file.h"
#include "base/xalloc.h"
#include "cli/manual_page.h"
#include "command/command.h"
#include "config/catalog.h"
#include "model/registry.h"

#include <stdlib.h>
#include <string.h>

enum { DOCUMENT_MAX = 1 << 20 };

/* Formats of files, and the documents that describe them; meson.build has the same names. */
static const struct document {
    const char *page, *file, *summary;
} documents[] = {
    {"dse-catalog", "catalog", "named LLMs, memories, machines and measurements, and your own"},
    {"dse-claims", "claims-file", "published numbers in CSV, and how a model answers them"},
    {"dse-database", "database", "the tables and views of a database of results"},
    {"dse-figure", "figure-file", "the figure file: an SQL query and how to draw its rows"},
    {"dse-measured", "measured-files", "measured rows in CSV, and how a model answers them"},
    {"dse-model-toml", "model-in-toml", "models without C: parameters, equations and metrics in TOML"},
    {"dse-quality", "quality-files", "measured quality of lossy techniques in CSV"},
    {"dse-sweep-file", "sweep-file", "the sweep file: a question about a design space in TOML"},
    {"dse-trace", "trace-file", "files of q, k and v of attention heads"},
};
enum { DOCUMENTS = sizeof documents / sizeof *documents };

static bool write_page(const char *folder, const char *name, int section, struct text *t, struct diags *diags)
{
    char *path = xasprintf("%s/%s.%d", folder, name, section);
    const bool ok = file_write(path, t->s, t->n, diags);
    free(path);
    text_release(t);
    return ok;
}

/* ---- commands -------------------------------------------------------------------------------------------------------------- */

static void add_option(struct text *t, const struct option_row *o)
{
    char *help = option_help(o);
    text_add(t, ".It ");
    if (o->letter) text_addf(t, "Fl %c , ", o->letter);
    text_addf(t, "Fl -%s", o->name);
    if (o->argument) {
        text_add(t, *o->argument == '[' ? " Ns Ar " : " Ar ");
        page_argument(t, o->argument);
    }
    text_add(t, "\n");
    page_prose(t, help, false);
    free(help);
}

static void add_see_also(struct text *t)
{
    text_add(t, ".Sh SEE ALSO\n.Xr dse 1");
    for (size_t i = 0; i < DOCUMENTS; i++) text_addf(t, " ,\n.Xr %s 5", documents[i].page);
    text_add(t, "\n");
}

static const char exit_status[] = ".Bl -tag -width Ds\n.It 0\ndone\n.It 1\nfailed while running\n.It 2\nbad usage or bad input\n"
                                  ".It 130\ninterrupted, with the state saved\n.El\n";

static bool write_command(const char *folder, const struct command *c, struct diags *diags)
{
    struct text t;
    text_init(&t);
    char *name = xasprintf("dse-%s", c->name);
    page_begin(&t, name, 1, c->summary);
    text_addf(&t, ".Sh SYNOPSIS\n.Nm dse %s\n", c->name);
    if (c->options && c->options->name) text_add(&t, ".Op Ar OPTION ...\n");
    if (*c->operands) {
        text_add(&t, ".Ar ");
        page_argument(&t, c->operands);
        text_add(&t, "\n");
    }
    text_add(&t, ".Sh DESCRIPTION\n");
    page_help(&t, c->help);
    text_add(&t, ".Pp\nThe options are as follows:\n.Bl -tag -width Ds\n");
    for (const struct option_row *o = c->options; o && o->name; o++) add_option(&t, o);
    add_option(&t, &option_row_help);
    text_add(&t, ".El\n");
    if (!c->failure) {
        text_add(&t, ".Sh EXIT STATUS\n");
        text_add(&t, exit_status);
    }
    add_see_also(&t);
    const bool ok = write_page(folder, name, 1, &t, diags);
    free(name);
    return ok;
}

static const struct {
    const char *name, *meaning;
} environment[] = {
    {"DSE_CATALOG", "files of your own catalog entries, with colons between them"},
    {"DSE_PLUGINS",
     "plug-ins or TOML files with models of your own, with colons between them; dse --plugin FILE COMMAND ... adds one"},
    {"DSE_DATA_DIR", "the directory with catalog/ and models/ in place of the installed one"},
    {"DSE_PAGER", "the pager for long output on a terminal, before PAGER and less -FRX; empty or cat: no pager"},
    {"DSE_GNUPLOT_SECONDS", "seconds that gnuplot may take for a figure (default: 300)"},
    {"NO_COLOR", "if it is set, dse prints no colours"},
    {"COLUMNS", "width of the terminal"},
    {"XDG_CONFIG_HOME", "the folder in which dse looks for dse/catalog.toml of your own (default: ~/.config)"},
};

static bool write_main(const char *folder, const struct commands *all, struct diags *diags)
{
    struct text t;
    text_init(&t);
    page_begin(&t, "dse", 1, "which machine for LLM inference, out of a trillion, and why?");
    text_add(&t, ".Sh SYNOPSIS\n.Nm\n.Ar COMMAND ...\n.Nm\n.Fl -help\n.Nm\n.Fl -version Op Fl -verbose\n.Sh DESCRIPTION\n");
    page_prose(
        &t,
        "dse runs analytical models of published accelerators over parameter sweeps, on all cores. It stores every design point "
        "in SQLite, finds the Pareto front and draws the figures. The commands are:",
        false);
    text_add(&t, ".Bl -tag -width Ds\n");
    for (size_t i = 0; i < all->n; i++) {
        if (all->list[i]->hidden) continue;
        text_addf(&t, ".It Xr dse-%s 1\n", all->list[i]->name);
        page_prose(&t, all->list[i]->summary, false);
    }
    text_add(&t, ".El\n.Pp\nThe models are:\n.Bl -tag -width Ds\n");
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t i = 0; i < n; i++) {
        text_addf(&t, ".It Xr dse-%s 7\n", models[i].desc->name);
        page_prose(&t, models[i].desc->title, false);
    }
    text_add(&t, ".El\n.Sh ENVIRONMENT\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < sizeof environment / sizeof *environment; i++) {
        text_addf(&t, ".It Ev %s\n", environment[i].name);
        page_prose(&t, environment[i].meaning, false);
    }
    text_add(&t, ".El\n.Sh EXIT STATUS\n");
    text_add(&t, exit_status);
    text_add(&t, ".Sh EXAMPLES\n");
    page_literal(&t, all->start, strlen(all->start));
    text_add(&t, ".Sh SEE ALSO\n");
    for (size_t i = 0; i < DOCUMENTS; i++) text_addf(&t, ".Xr %s 5%s\n", documents[i].page, i + 1 < DOCUMENTS ? " ," : "");
    return write_page(folder, "dse", 1, &t, diags);
}

/* ---- models ---------------------------------------------------------------------------------------------------------------- */

static void add_field(struct text *t, const struct field *f, bool range)
{
    text_add(t, ".It Va ");
    page_argument(t, f->name);
    if (*f->unit) {
        text_add(t, " Pq ");
        page_argument(t, f->unit);
    }
    text_add(t, "\n");
    char *allowed = range ? field_allowed(f) : xstrdup(f->doc);
    page_prose(t, allowed, false);
    free(allowed);
}

static bool write_model(const char *folder, const struct model *m, struct diags *diags)
{
    struct text t;
    text_init(&t);
    char *name = xasprintf("dse-%s", m->desc->name);
    page_begin(&t, name, 7, m->desc->title);
    text_addf(&t, ".Sh SYNOPSIS\n.Nm dse eval %s\n.Op Fl -set Ar NAME=VALUE ...\n.Sh DESCRIPTION\n", m->desc->name);
    page_prose(&t, m->desc->cite, false);
    text_add(&t, ".Sh PARAMETERS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < m->params.n; i++) add_field(&t, &m->params.fields[i], true);
    text_add(&t, ".El\n.Sh METRICS\n.Bl -tag -width Ds\n");
    for (size_t i = 0; i < m->metrics.n; i++)
        if (!m->metrics.fields[i].without) add_field(&t, &m->metrics.fields[i], false);
    text_add(&t, ".El\n.Sh SEE ALSO\n.Xr dse-describe 1 ,\n.Xr dse-eval 1\n");
    const bool ok = write_page(folder, name, 7, &t, diags);
    free(name);
    return ok;
}

/* ---- formats --------------------------------------------------------------------------------------------------------------- */

static bool write_document(const char *folder, const struct document *d, struct diags *diags)
{
    char *path = xasprintf("%s/docs/reference/%s.md", catalog_data_dir(), d->file), *s = NULL;
    size_t n;
    bool ok = text_read_file(path, DOCUMENT_MAX, &s, &n, diags);
    if (ok) {
        struct text t;
        text_init(&t);
        page_begin(&t, d->page, 5, d->summary);
        text_add(&t, ".Sh DESCRIPTION\n");
        const char *body = *s == '#' ? strchr(s, '\n') : s;
        page_markdown(&t, body ? body : "");
        text_add(&t, ".Sh SEE ALSO\n.Xr dse 1\n");
        ok = write_page(folder, d->page, 5, &t, diags);
    }
    free(s);
    free(path);
    return ok;
}

static int run(const struct invocation *in)
{
    const char *folder = in->operands[0];
    bool ok = write_main(folder, in->all, in->diags);
    for (size_t i = 0; ok && i < in->all->n; i++)
        if (!in->all->list[i]->hidden) ok = write_command(folder, in->all->list[i], in->diags);
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t i = 0; ok && i < n; i++) ok = write_model(folder, &models[i], in->diags);
    for (size_t i = 0; ok && i < DOCUMENTS; i++) ok = write_document(folder, &documents[i], in->diags);
    return ok ? 0 : 1;
}

const struct command command_manual = {
    .name = "manual",
    .operands = "FOLDER",
    .summary = "write the pages of the manual",
    .help = "The build calls it.\n",
    .hidden = true,
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
