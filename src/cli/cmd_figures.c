/* dse figures: the figures that come with dse, all or some, from nothing. */
#include "base/text.h"
#include "base/threads.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/figure_feed.h"
#include "command/command.h"
#include "model/registry.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* One figure to draw. */
struct task {
    char *file, *db, *out;
    char *data, *script; /* or NULL: not asked for */
    struct figure *figure;
    struct diags diags;
    bool drawn;
};

struct tasks {
    struct task *list;
    size_t n;
};

static int is_toml(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 5 && strcmp(d->d_name + n - 5, ".toml") == 0;
}

/* ---- which ----------------------------------------------------------------------------------------------------------------- */

static void add_task(struct tasks *t, char *file)
{
    t->list = xrealloc(t->list, t->n + 1, sizeof *t->list);
    struct task *k = &t->list[t->n++];
    *k = (struct task){0};
    k->file = file;
    diags_init(&k->diags);
}

/* The figures of the name: all, a name of those that come with dse, a prefix with "*" ("lad_*"), or a file. */
static bool add_named(struct tasks *t, const char *name, const char *folder, struct dirent **files, int n,
                      const struct invocation *in)
{
    if (strcmp(name, "all") == 0) name = "*";
    size_t length = strlen(name), before = t->n;
    bool prefix = length && name[length - 1] == '*';
    for (int i = 0; i < n; i++) {
        size_t stem = strlen(files[i]->d_name) - 5;
        bool same = prefix ? strncmp(files[i]->d_name, name, length - 1) == 0
                           : stem == length && strncmp(files[i]->d_name, name, stem) == 0;
        if (same) add_task(t, xasprintf("%s/%s", folder, files[i]->d_name));
    }
    if (t->n > before) return true;
    if (strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".toml") == 0)) {
        add_task(t, xstrdup(name));
        return true;
    }
    const char **names = xcalloc((size_t)n + 1, sizeof *names);
    for (int i = 0; i < n; i++) {
        files[i]->d_name[strlen(files[i]->d_name) - 5] = '\0';
        names[i] = files[i]->d_name;
    }
    const char *near = text_nearest(name, names, (size_t)n);
    if (near)
        usage_error(in, "there is no figure %s; did you mean %s?", name, near);
    else
        usage_error(in, "there is no figure %s; `dse list figures` shows which there are", name);
    free(names);
    return false;
}

static bool find_tasks(struct tasks *t, const struct invocation *in)
{
    char *folder = xasprintf("%s/plots", catalog_data_dir());
    struct dirent **files = NULL;
    int n = scandir(folder, &files, is_toml, alphasort);
    bool ok = n >= 0 || diags_runtime(in->diags, folder, "cannot read the directory: %s", strerror(errno));
    if (ok && !in->n_operands) ok = add_named(t, "all", folder, files, n, in);
    for (size_t i = 0; ok && i < in->n_operands; i++) ok = add_named(t, in->operands[i], folder, files, n, in);
    for (int i = 0; i < n; i++) free(files[i]);
    free(files);
    free(folder);
    return ok;
}

/* ---- drawing --------------------------------------------------------------------------------------------------------------- */

/* Read every figure and run the sweeps that are missing, each once. False when the options are wrong, for one as for all. */
static bool prepare(struct tasks *t, const struct invocation *in, const char *dir, const char *ending, bool quiet)
{
    for (size_t i = 0; i < t->n; i++) {
        struct task *k = &t->list[i];
        k->figure = figure_read(k->file, &k->diags);
        if (!k->figure) continue;
        if (!figure_options(in, k->figure)) return false;
        k->out = xasprintf("%s/%s.%s", dir, figure_name(k->figure), ending);
        if (option_has(in, "data")) k->data = xasprintf("%s/%s.csv", dir, figure_name(k->figure));
        if (option_has(in, "gnuplot-script")) k->script = xasprintf("%s/%s.gp", dir, figure_name(k->figure));
        if (figure_feed_database(k->file, k->figure, dir, quiet, &k->db, &k->diags)) continue;
        figure_free(k->figure);
        k->figure = NULL;
    }
    return true;
}

/* `feed` is the thread's, so that claims and measured rows are evaluated once for all of its figures. */
static void draw(struct task *k, struct figure_feed *feed, const struct catalog *catalog)
{
    figure_set_catalog(k->figure, catalog);
    k->drawn = figure_feed_open(feed, k->db, catalog, &k->diags) && figure_render(k->figure, feed->reader, k->out, &k->diags);
    if (k->drawn && k->script) k->drawn = figure_write_script(k->figure, feed->reader, k->script, &k->diags);
    if (k->drawn && k->data) k->drawn = figure_feed_write_data(feed, k->figure, k->data, &k->diags);
    figure_feed_hint(k->file, k->db, &k->diags, 0);
}

static int thread_count(int wanted)
{
    return threads_available(wanted ? wanted : (int)sysconf(_SC_NPROCESSORS_ONLN));
}

static size_t draw_all(struct tasks *t, const struct catalog *catalog, int threads, bool quiet)
{
    size_t drawn = 0;
    registry_models(&(size_t){0}); /* made at the first call, which must be one thread's */
#pragma omp parallel num_threads(thread_count(threads))
    {
        struct figure_feed feed = {0};
#pragma omp for schedule(dynamic)
        for (size_t i = 0; i < t->n; i++) {
            struct task *k = &t->list[i];
            if (k->figure) draw(k, &feed, catalog);
#pragma omp critical
            {
                drawn += k->drawn;
                if (!quiet && k->drawn) terminal_say(stderr, "dse: figure %s (%zu of %zu)", k->out, drawn, t->n);
            }
        }
        figure_feed_close(&feed);
    }
    return drawn;
}

static void tasks_release(struct tasks *t, struct diags *diags)
{
    for (size_t i = 0; i < t->n; i++) {
        struct task *k = &t->list[i];
        diags_move(diags, &k->diags);
        diags_release(&k->diags);
        figure_free(k->figure);
        free(k->file);
        free(k->db);
        free(k->out);
        free(k->data);
        free(k->script);
    }
    free(t->list);
}

/* ---- the command ----------------------------------------------------------------------------------------------------------- */

static const char *ending_of(const struct invocation *in)
{
    static const char *const endings[] = {"png", "svg", "pdf"};
    const char *given = option_get(in, "format");
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(given ? given : "png", endings[i]) == 0) return endings[i];
    usage_error(in, "--format: there is no format \"%s\": png, svg, pdf", given);
    return NULL;
}

static int run(const struct invocation *in)
{
    const char *dir = option_get(in, "output"), *ending = ending_of(in);
    if (!dir) dir = "results";
    int threads = (int)option_integer(in, "jobs", 1, 1024, 0);
    bool quiet = option_has(in, "quiet");
    if (!ending || in->diags->errors) return 2;
    if (mkdir(dir, 0777) != 0 && errno != EEXIST) {
        diags_runtime(in->diags, dir, "cannot make the directory: %s", strerror(errno));
        return 1;
    }
    struct catalog *catalog = open_catalog(in);
    struct tasks t = {0};
    size_t drawn = 0;
    bool ok = catalog && find_tasks(&t, in);
    ok = ok && prepare(&t, in, dir, ending, quiet);
    if (ok) drawn = draw_all(&t, catalog, threads, quiet);
    int status = !ok ? 2 : drawn == t.n ? 0 : 1;
    tasks_release(&t, in->diags);
    catalog_free(catalog);
    return status;
}

const struct command command_figures = {
    .name = "figures",
    .operands = "[NAME...]",
    .summary = "draw the figures that come with dse, and run the sweeps that they need",
    .options =
        (const struct option_row[]){
            {'o', "output", "DIR", "folder for pictures and databases (default: results)"},
            {'f', "format", "png|svg|pdf", "format of the pictures (default: png)"},
            {'j', "jobs", "N", "number of figures drawn at the same time (default: one for each core)"},
            OPTIONS_FIGURE,
            {0, "gnuplot-script", NULL, "write the gnuplot commands beside each picture, NAME.gp, and their points to NAME.gp.dat"},
            {0, "data", NULL, "write the rows of each figure's query beside its picture, NAME.csv"},
            OPTION_CATALOG,
            {'q', "quiet", NULL, "no progress"},
            {0},
        },
    .help = "NAME is a figure of `dse list figures` without its ending, the start of several names with a star, a file, or\n"
            "all. If DIR has no database of a figure's sweep, dse runs the sweep. A database that exists is used as it is.\n"
            "\n"
            "  dse figures all -o /tmp/figures\n"
            "  dse figures 'lad_*' --format pdf\n",
    .min_operands = 0,
    .max_operands = 1024,
    .run = run,
};
