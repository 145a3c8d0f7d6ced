#include "cli/sweep_ends.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "cli/figure_feed.h"
#include "space/idle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRONT_ROWS = 20, FRONT_ROWS_MIN = 8, OTHER_LINES = 12 };

/* Is the sweep file there? If not, one that ships may be meant: by its name, or by its path in the source tree. */
static bool is_there(const struct invocation *in)
{
    const char *path = in->operands[0], *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const size_t n = strlen(name), end = n > 5 && strcmp(name + n - 5, ".toml") == 0 ? n - 5 : n;
    if (access(path, F_OK) == 0) return true;
    char *shipped = xasprintf("%s/sweeps/%.*s.toml", catalog_data_dir(), (int)end, name);
    const bool ships = access(shipped, F_OK) == 0;
    char *hint = ships ? xasprintf("the sweep of that name that comes with dse is %s", shipped)
                       : xstrdup("`dse list sweeps` shows those that come with dse");
    diags_input(in->diags, (struct srcloc){.file = path}, NULL, hint, "there is no such sweep file");
    free(hint);
    free(shipped);
    return false;
}

/* --fidelity, where the command has it; false with an error when there is no such word. */
static bool fidelity_asked(const struct invocation *in, const char **ret)
{
    *ret = option_get(in, "fidelity");
    if (!*ret) return true;
    for (int i = 0; i < SWEEP_FIDELITIES; i++)
        if (strcmp(*ret, sweep_fidelities[i]) == 0) return true;
    const char *near = text_nearest(*ret, sweep_fidelities, SWEEP_FIDELITIES);
    char *all = text_join(sweep_fidelities, ", ");
    usage_error(in, "there is no fidelity \"%s\"%s%s: %s", *ret, near ? "; did you mean " : "", near ? near : "", all);
    free(all);
    return false;
}

struct sweep_file *sweep_open_file(const struct invocation *in, struct catalog *catalog)
{
    const char *fidelity;
    if (!fidelity_asked(in, &fidelity) || !is_there(in)) return NULL;
    struct sweep_file *s = sweep_file_read_at(in->operands[0], fidelity, catalog, catalog_data_dir(), in->diags);
    if (!s || in->diags->errors == 0) return s;
    for (size_t m = 0; m < s->n_models; m++) space_check(s, m, in->diags);
    sweep_file_free(s);
    return NULL;
}

/* ---- axes that move nothing ---------------------------------------------------------------------------------------------- */

/* Is the axis, which is given at that place of the file, idle in all models of the sweep that have it from there? *ret_pairs: how
 * many pairs of rows say so; 0: all of them. */
static bool is_idle(const struct sweep_file *s, struct space *const *spaces, const struct field *f, struct srcloc loc,
                    size_t *ret_pairs)
{
    bool idle = false;
    *ret_pairs = 0;
    for (size_t m = 0; m < s->n_models; m++) {
        const struct binding *b = s->bindings[m];
        for (size_t a = 0; spaces[m] && a < space_axes(spaces[m]); a++) {
            const struct field *axis = space_axis(spaces[m], a).field;
            const struct given *g = &b->given[schema_index(&b->model->params, axis)];
            if (strcmp(axis->name, f->name) != 0 || g->loc.line != loc.line || g->loc.column != loc.column) continue;
            size_t pairs;
            if (space_axis_idle(spaces[m], a, &pairs) != IDLE_YES) return false;
            *ret_pairs += pairs;
            idle = true;
        }
    }
    return idle;
}

static void warn_idle_axes(const struct sweep_file *s, struct space *const *spaces, size_t m, struct diags *diags)
{
    const struct binding *b = s->bindings[m];
    for (size_t a = 0; a < space_axes(spaces[m]); a++) {
        const struct field *f = space_axis(spaces[m], a).field;
        const struct given *g = &b->given[schema_index(&b->model->params, f)];
        size_t pairs;
        if (fidelity_not_reading(FIDELITY_CLOSED_FORM, f) || !is_idle(s, spaces, f, g->loc, &pairs)) continue;
        char of[TEXT_NUMBER_MAX + sizeof " in  pairs that were checked"] = "", count[TEXT_NUMBER_MAX];
        if (pairs) snprintf(of, sizeof of, " in %s pairs that were checked", text_count(count, pairs));
        diags_warn(diags, g->loc, g->source_text, "%s changes no metric %s: rows that differ only in it are equal%s", f->name,
                   s->refine ? "in closed form" : "here", of);
    }
}

void sweep_warn_idle(const struct sweep_file *s, struct diags *diags)
{
    if (s->fidelity == FIDELITY_EVENT_LEVEL && !s->refine) return;
    struct space **spaces = xcalloc(s->n_models, sizeof *spaces);
    struct diags quiet, found; /* what is wrong with a space is said by the run */
    diags_init(&quiet);
    diags_init(&found);
    for (size_t m = 0; m < s->n_models; m++) spaces[m] = space_new(s, m, UINT64_MAX, &quiet);
    for (size_t m = 0; m < s->n_models; m++)
        if (spaces[m]) warn_idle_axes(s, spaces, m, &found);
    diags_move(diags, &found); /* once for all models of a shared axis */
    for (size_t m = 0; m < s->n_models; m++) space_free(spaces[m]);
    free(spaces);
    diags_release(&quiet);
    diags_release(&found);
}

/* ---- the database and its figures ---------------------------------------------------------------------------------------- */

static bool ensure_results(struct diags *diags)
{
    if (mkdir("results", 0777) == 0 || errno == EEXIST) return true;
    return diags_runtime(diags, "results", "cannot make the directory: %s", strerror(errno));
}

char *sweep_database_path(const struct invocation *in, const struct sweep_file *s, const char *part)
{
    const char *out = option_get(in, "output");
    if (out && !*out) usage_error(in, "--output needs the name of a file");
    if (out) return *out ? xstrdup(out) : NULL;
    if (!ensure_results(in->diags)) return NULL;
    return xasprintf("results/%s%s.db", s->name, part);
}

/* Has the figure's query no rows? An error in the query is for figure_render to tell. */
static bool has_no_rows(const struct figure *f, struct reader *r)
{
    struct diags ignored;
    diags_init(&ignored);
    struct query *q = query_new(r, figure_sql(f), (struct srcloc){0}, &ignored);
    const bool none = q && query_step(q, &ignored) == 0;
    query_free(q);
    diags_release(&ignored);
    return none;
}

bool sweep_draw_figures(const struct sweep_file *s, const struct catalog *catalog, const char *db, bool front_alone, bool quiet,
                        struct diags *diags)
{
    struct figure_feed feed = {0};
    bool ok = figure_feed_open(&feed, db, catalog, diags);
    if (!ok) {
        figure_feed_close(&feed);
        return false;
    }
    for (size_t i = 0; i < s->n_figures; i++) {
        struct figure *f = figure_read(s->figures[i], diags);
        if (f && front_alone && has_no_rows(f, feed.reader)) {
            if (!quiet)
                terminal_say(stderr, "%s: figure %s is not drawn: its query has no rows here, where only the front is kept",
                             s->name, figure_name(f));
            figure_free(f);
            continue;
        }
        if (f) figure_set_catalog(f, catalog);
        char *out = f ? figure_picture_path(db, figure_name(f), "png") : NULL;
        bool drawn = f && figure_render(f, feed.reader, out, diags);
        if (drawn && !quiet) terminal_say(stderr, "%s: figure %s", s->name, out);
        ok = drawn && ok;
        free(out);
        figure_free(f);
    }
    figure_feed_close(&feed);
    return ok;
}

size_t sweep_front_rows(void)
{
    size_t lines = terminal_height(stdout);
    return !lines ? FRONT_ROWS : lines > FRONT_ROWS_MIN + OTHER_LINES ? lines - OTHER_LINES : FRONT_ROWS_MIN;
}
