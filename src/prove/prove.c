/* The list, and what needs other rooms: agreement of the fidelities, documentation. */
#include "base/file.h"
#include "prove/prove_internal.h"

#include "agree/agree.h"

#include <dirent.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

const struct proof proofs[] = {
    {"tables", "units, docs, sources and names", prove_tables},
    {"defaults", "defaults are complete, in range and feasible", prove_defaults},
    {"points", "random points are refused with a reason or finite, and parts add up", prove_points},
    {"shortage", "what does not fit says how much is missing", prove_shortage},
    {"devices", "devices that work together are all paid for", prove_devices},
    {"bounds", "bounds of boxes hold at points of them", prove_bounds},
    {"equations", "equations are finite or absent anywhere", prove_equations},
    {"trends", "declared trends hold", prove_trends},
    {"techniques", "with a technique off, nothing depends on what it alone reads", prove_techniques},
    {"agreement", "the event level runs, and how far it is from the closed form", prove_agreement},
    {"documentation", "the README has every equation that the code cites", prove_documentation},
    {NULL, NULL, NULL},
};

const struct proof *proof_find(const char *name)
{
    for (const struct proof *p = proofs; p->name; p++)
        if (strcmp(p->name, name) == 0) return p;
    return NULL;
}

/* ---- agreement --------------------------------------------------------------------------------------------------------------- */

bool prove_agreement(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    enum { AGREE_POINTS = 3 };
    if (!m->desc->simulate) {
        text_add(note, "it has no event level");
        return true;
    }
    struct agreement a = {0};
    const struct agree_options options = {.points = AGREE_POINTS, .seed = 42};
    bool ok = agree(m, catalog, &options, &a, diags);
    for (size_t i = 0; ok && i < a.n; i++)
        if (a.points[i].failure)
            ok = prove_fail(m, diags, "its event level failed: %s; %s", a.points[i].failure, a.points[i].command);
    const struct agree_spread s = ok ? agree_spread_of(&a, agree_metric, AGREE_LATENCY) : (struct agree_spread){0};
    const bool is_measured = a.n > 0 && a.points[0].is_measured;
    if (ok && s.n == 0 && is_measured)
        text_add(note, "at the defaults its event level takes whole times of measured kernels, and repeats the closed form");
    else if (ok && s.n == 0)
        ok = prove_fail(m, diags, "no point near the defaults could be carried out at event level");
    else if (ok)
        text_addf(note, "latency_us differs by %+.1f to %+.1f %% at %zu points near the defaults", 100 * s.min, 100 * s.max, s.n);
    agreement_release(&a);
    return ok;
}

/* ---- documentation ----------------------------------------------------------------------------------------------------------- */

static int is_source(const struct dirent *d)
{
    const char *dot = strrchr(d->d_name, '.');
    return dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0);
}

/* Tags like E12 in one source: each must be in the README. *ret_found counts them. */
static bool prove_tags(const struct model *m, const regex_t *cited, const char *code, const char *readme, int *ret_found,
                       struct diags *diags)
{
    regmatch_t at;
    bool ok = true;
    for (const char *s = code; ok && regexec(cited, s, 1, &at, 0) == 0; s += at.rm_so + 1) {
        const char *tag = strchr(s + at.rm_so, 'E');
        char *wanted = xasprintf("**E%ld**", strtol(tag + 1, NULL, 10));
        if (!strstr(readme, wanted)) ok = prove_fail(m, diags, "the code cites %s, which its README does not have", wanted);
        free(wanted);
        ++*ret_found;
    }
    return ok;
}

static bool prove_sources(const struct model *m, const char *folder, const char *readme, struct text *note, struct diags *diags)
{
    regex_t cited;
    if (regcomp(&cited, "\\(E[0-9]+\\)|[^A-Za-z0-9_]E[0-9]+[^A-Za-z0-9_.]", REG_EXTENDED) != 0) return false;
    struct dirent **files;
    const int n = scandir(folder, &files, is_source, alphasort);
    int found = 0;
    bool ok = true;
    for (int i = 0; i < n; i++) {
        char *name = xasprintf("%s/%s", folder, files[i]->d_name), *code = NULL;
        ok = ok && text_read_file(name, 1 << 20, &code, NULL, diags) && prove_tags(m, &cited, code, readme, &found, diags);
        free(code);
        free(name);
        free(files[i]);
    }
    if (n >= 0) free(files);
    regfree(&cited);
    if (n > 0)
        text_addf(note, "%d citations of equations in %d files", found, n);
    else
        text_add(note, "there is no code beside it to hold against the README");
    return ok && (n <= 0 || found > 0 || prove_fail(m, diags, "its code cites no equation of the README (E1, E2, ...)"));
}

bool prove_documentation(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags)
{
    (void)catalog;
    if (m->made.defaults) { /* a model in TOML: nothing that it has can be without words there */
        text_addf(note, "its file is its documentation, with %zu equations that --equations prints", m->equations.n);
        return true;
    }
    char *path = model_file(m, catalog_data_dir(), "README.md"), *readme = NULL;
    struct diags own;
    diags_init(&own);
    bool ok =
        text_read_file(path, 1 << 20, &readme, NULL, &own) || prove_fail(m, diags, "it has no README that can be read: %s", path);
    diags_release(&own);
    if (ok && !strstr(readme, "**E1**")) ok = prove_fail(m, diags, "its README has no equations: **E1**, **E2**, ...");
    *strrchr(path, '/') = '\0';
    ok = ok && prove_sources(m, path, readme, note, diags);
    free(readme);
    free(path);
    return ok;
}
