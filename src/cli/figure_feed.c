#include "cli/figure_feed.h"

#include "base/file.h"
#include "base/xalloc.h"
#include "cli/query_print.h"
#include "cli/progress.h"
#include "sweep/sweep.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool figure_options(const struct invocation *in, struct figure *f)
{
    const char *size = option_get(in, "size"), *style = option_get(in, "style");
    size_t errors = in->diags->errors;
    if (size && !figure_set_size(f, size)) usage_error(in, "--size: there is no size \"%s\": single, double, slide", size);
    if (style && !figure_set_style(f, style)) usage_error(in, "--style: there is no style \"%s\": light, dark", style);
    long long dpi = option_integer(in, "dpi", 72, 1200, 0);
    if (dpi) figure_set_dpi(f, (double)dpi);
    return in->diags->errors == errors;
}

char *figure_picture_path(const char *db, const char *figure, const char *ending)
{
    const char *slash = strrchr(db, '/');
    return xasprintf("%.*s%s.%s", slash ? (int)(slash - db + 1) : 0, db, figure, ending);
}

bool figure_feed_open(struct figure_feed *f, const char *db, const struct catalog *catalog, struct diags *diags)
{
    reader_close(f->reader);
    if (!f->tables) f->tables = tables_new(catalog);
    f->reader = reader_open(db, diags);
    return f->reader && tables_attach(f->tables, f->reader, diags);
}

void figure_feed_close(struct figure_feed *f)
{
    reader_close(f->reader);
    tables_free(f->tables);
    *f = (struct figure_feed){0};
}

bool figure_feed_write_data(struct figure_feed *feed, const struct figure *f, const char *path, struct diags *diags)
{
    struct query *q = query_new(feed->reader, figure_sql(f), (struct srcloc){0}, diags);
    char *csv = NULL;
    size_t n = 0;
    FILE *memory = open_memstream(&csv, &n);
    bool ok = q && memory && query_print(q, OUTPUT_CSV, memory, diags);
    if (memory) fclose(memory);
    ok = ok && file_write(path, csv, n, diags);
    free(csv);
    query_free(q);
    return ok;
}

void figure_feed_hint(const char *figure_path, const char *db, struct diags *diags, size_t from)
{
    static const char words[] = "no such table";
    for (size_t i = from; !db && i < diags->n; i++) {
        struct diag *g = &diags->list[i];
        if (strncmp(g->message, words, strlen(words)) != 0) continue;
        free(g->hint);
        g->hint = xasprintf(
            "no database is open: name one, dse plot %s results/NAME.db, or the sweep that makes it, sweep = \"NAME\" under "
            "[figure]",
            figure_path);
    }
}

/* ---- the sweep ------------------------------------------------------------------------------------------------------------- */

/* The file of a sweep, or NULL. The caller frees it. */
static char *find_sweep(const char *figure_path, const char *sweep)
{
    const char *slash = strrchr(figure_path, '/');
    char *places[] = {
        xasprintf("%.*s../sweeps/%s.toml", slash ? (int)(slash - figure_path + 1) : 0, figure_path, sweep),
        xasprintf("sweeps/%s.toml", sweep),
        xasprintf("%s/sweeps/%s.toml", catalog_data_dir(), sweep),
    };
    char *found = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!found && access(places[i], R_OK) == 0)
            found = places[i];
        else
            free(places[i]);
    }
    return found;
}

static bool run_sweep(const char *file, const char *db, bool quiet, struct diags *diags)
{
    struct catalog *catalog = catalog_open(diags); /* of its own: the sweep's [catalog] goes into it */
    struct sweep_file *s = catalog ? sweep_file_read(file, catalog, catalog_data_dir(), diags) : NULL;
    if (!s) {
        catalog_free(catalog);
        return false;
    }
    struct progress bar;
    progress_init(&bar, stderr, s->name);
    struct sweep_options options = {.db = db, .max_points = UINT64_MAX, .progress = quiet ? NULL : progress_update, .user = &bar};
    struct sweep_result result;
    bool ok = diags->errors == 0 && sweep_run(s, &options, &result, diags);
    progress_clear(&bar);
    sweep_file_free(s);
    catalog_free(catalog);
    return ok;
}

bool figure_feed_database(const char *figure_path, const struct figure *f, const char *dir, bool quiet, char **ret,
                          struct diags *diags)
{
    *ret = NULL;
    const char *sweep = figure_sweep(f);
    if (!sweep) return true;
    char *db = xasprintf("%s/%s.db", dir, sweep);
    if (access(db, F_OK) == 0) {
        *ret = db;
        return true;
    }
    char *file = find_sweep(figure_path, sweep);
    bool ok = file || diags_runtime(diags, db, "is not there, and there is no sweep %s to make it", sweep);
    if (ok && mkdir(dir, 0777) != 0 && errno != EEXIST)
        ok = diags_runtime(diags, dir, "cannot make the directory: %s", strerror(errno));
    if (ok && !quiet) terminal_say(stderr, "dse: %s is not there: running %s", db, file);
    ok = ok && run_sweep(file, db, quiet, diags);
    free(file);
    if (ok)
        *ret = db;
    else
        free(db);
    return ok;
}
