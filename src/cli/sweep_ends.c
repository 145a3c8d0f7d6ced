#include "cli/sweep_ends.h"

#include "base/xalloc.h"
#include "cli/figure_feed.h"
#include "space/space.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FRONT_ROWS = 20, FRONT_ROWS_MIN = 8, OTHER_LINES = 12 };

struct sweep_file *sweep_open_file(const struct invocation *in, struct catalog *catalog)
{
    struct sweep_file *s = sweep_file_read(in->operands[0], catalog, catalog_data_dir(), in->diags);
    if (!s || in->diags->errors == 0) return s;
    for (size_t m = 0; m < s->n_models; m++) space_check(s, m, in->diags);
    sweep_file_free(s);
    return NULL;
}

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

bool sweep_draw_figures(const struct sweep_file *s, const struct catalog *catalog, const char *db, bool quiet, struct diags *diags)
{
    struct figure_feed feed;
    bool ok = figure_feed_open(&feed, db, catalog, diags);
    if (!ok) {
        figure_feed_close(&feed);
        return false;
    }
    for (size_t i = 0; i < s->n_figures; i++) {
        struct figure *f = figure_read(s->figures[i], diags);
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
