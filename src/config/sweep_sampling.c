/* Which points of a sweep's space are evaluated, and which of their rows are stored: [sample], [search], and `keep` of [sweep]. */
#include "config/sweep_internal.h"

#include "base/hint.h"

#include <string.h>

const char *const sample_names[SAMPLE_METHODS] = {"grid", "sobol", "halton", "lhs", "random"};
const char *const search_names[SEARCH_METHODS] = {"", "exact", "local", "nsga2"};
const char *const keep_names[KEEPS] = {"all", "front", "sample"};

static const int64_t NUMBER_MAX = 1000000000000000; /* more than anybody evaluates */

/* A whole number of at least `least`, if the key is there. */
static bool read_number(struct reading *r, const struct toml_node *table, const char *key, int64_t least, int64_t most,
                        uint64_t *ret)
{
    const struct toml_node *node = toml_expect(r->doc, table, key, TOML_INTEGER, r->diags);
    if (!node) return toml_get(table, key) == NULL;
    if (node->integer < least || node->integer > most)
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, NULL, "%s: %lld is not from %lld to %lld", key,
                           (long long)node->integer, (long long)least, (long long)most);
    *ret = (uint64_t)node->integer;
    return true;
}

/* The method that a table names: its index in names[first..n), or -1 with an error. */
static int read_method(struct reading *r, const struct toml_node *table, const char *const *names, size_t first, size_t n,
                       const char *what, const char *otherwise)
{
    const struct toml_node *node = toml_expect(r->doc, table, "method", TOML_STRING, r->diags);
    if (!node && !toml_get(table, "method"))
        diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, otherwise, "[%s] has no method", table->key);
    if (!node) return -1;
    for (size_t i = first; i < n; i++)
        if (strcmp(node->string, names[i]) == 0) return (int)i;
    diags_unknown(r->diags, toml_loc(r->doc, node), r->doc->text, node->string, names + first, n - first, otherwise,
                  "there is no %s method \"%s\"", what, node->string);
    return -1;
}

/* An error at a key that goes with other methods alone; true when it is not there. */
static bool lacks_key(struct reading *r, const struct toml_node *table, const char *key, const char *method, const char *hint)
{
    const struct toml_node *node = toml_get(table, key);
    return !node || diags_input(r->diags, toml_key_loc(r->doc, node), r->doc->text, hint, "%s does not go with method = \"%s\"",
                                key, method);
}

/* ---- [sample] -------------------------------------------------------------------------------------------------------------- */

static bool read_grid(struct reading *r, const struct toml_node *table)
{
    bool ok = true;
    static const char *const keys[] = {"points", "seed", "scramble"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ok = lacks_key(r, table, keys[i], "grid", "the grid has all points; a sample has method = \"sobol\"") && ok;
    return ok;
}

static bool read_scramble(struct reading *r, const struct toml_node *table)
{
    struct sample_section *sample = &r->out->sample;
    sample->scramble = sample->method == SAMPLE_SOBOL || sample->method == SAMPLE_HALTON;
    if (!sample->scramble) return lacks_key(r, table, "scramble", sample_names[sample->method], "sobol and halton are scrambled");
    const struct toml_node *node = toml_expect(r->doc, table, "scramble", TOML_BOOLEAN, r->diags);
    if (node) sample->scramble = node->boolean;
    return node || !toml_get(table, "scramble");
}

static bool read_sample(struct reading *r)
{
    static const char *const keys[] = {"method", "points", "seed", "scramble"};
    const struct toml_node *table = toml_expect(r->doc, &r->doc->root, "sample", TOML_TABLE, r->diags);
    if (!table) return toml_get(&r->doc->root, "sample") == NULL;
    bool ok = toml_check_keys(r->doc, table, keys, sizeof keys / sizeof *keys, r->diags);
    int method = read_method(r, table, sample_names, 0, SAMPLE_METHODS, "sampling",
                             "grid, sobol, halton, lhs or random; [search] has local and nsga2");
    if (method < 0) return false;
    struct sample_section *sample = &r->out->sample;
    sample->method = (enum sample_method)method;
    if (sample->method == SAMPLE_GRID) return read_grid(r, table) && ok;
    if (!toml_get(table, "points"))
        ok = diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, "points = 10000",
                         "[sample] method = \"%s\" needs the number of points", sample_names[method]);
    ok = read_number(r, table, "points", 1, sample->method == SAMPLE_SOBOL ? (int64_t)1 << 30 : NUMBER_MAX, &sample->points) && ok;
    ok = read_number(r, table, "seed", 0, INT64_MAX, &sample->seed) && ok;
    return read_scramble(r, table) && ok;
}

/* ---- [search] -------------------------------------------------------------------------------------------------------------- */

/* What a search cannot do. */
static bool check_search(struct reading *r, const struct toml_node *table)
{
    const struct sweep_file *s = r->out;
    const char *name = search_names[s->search.method];
    if (s->sample.method != SAMPLE_GRID)
        return diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, "leave one of the two out",
                           "[search] chooses its points itself, and so does [sample] method = \"%s\"",
                           sample_names[s->sample.method]);
    if (s->refine || s->fidelity != FIDELITY_CLOSED_FORM)
        return diags_input(r->diags, s->search.loc, r->doc->text, "fidelity = \"closed-form\" in [sweep]",
                           "[search] method = \"%s\" goes by the closed form, the sweep's fidelity is \"%s\"", name,
                           sweep_fidelity_text(s));
    if (s->budget.n > 1)
        return diags_input(r->diags, s->search.loc, r->doc->text, "one value of it; a sweep of the grid has a front for each",
                           "[search] looks for one front, and [quality] %s has several values", budget_metrics[s->budget.named]);
    if (s->search.method == SEARCH_EXACT && s->keep == KEEP_SAMPLE)
        return diags_input(r->diags, s->search.loc, r->doc->text, "keep = \"front\", or leave keep out",
                           "an exact search evaluates few points, which are no sample of the space");
    return true;
}

static bool read_search(struct reading *r)
{
    static const char *const keys[] = {"method", "evaluations", "population", "seed"};
    const struct toml_node *table = toml_expect(r->doc, &r->doc->root, "search", TOML_TABLE, r->diags);
    if (!table) return toml_get(&r->doc->root, "search") == NULL;
    bool ok = toml_check_keys(r->doc, table, keys, sizeof keys / sizeof *keys, r->diags);
    int method = read_method(r, table, search_names, 1, SEARCH_METHODS, "search",
                             "exact, local or nsga2; [sample] has sobol, halton, lhs and random");
    if (method < 0) return false;
    struct search_section *search = &r->out->search;
    *search = (struct search_section){.method = (enum search_method)method,
                                      .loc = toml_loc(r->doc, toml_get(table, "method")),
                                      .evaluations = method == SEARCH_NSGA2 ? SEARCH_EVALUATIONS : 0,
                                      .population = SEARCH_POPULATION};
    if (method == SEARCH_EXACT)
        ok = lacks_key(r, table, "evaluations", "exact", "an exact search ends when its front is certain") &&
             lacks_key(r, table, "seed", "exact", NULL) && ok;
    if (method != SEARCH_NSGA2) ok = lacks_key(r, table, "population", search_names[method], NULL) && ok;
    ok = read_number(r, table, "evaluations", 1, NUMBER_MAX, &search->evaluations) && ok;
    ok = read_number(r, table, "population", 4, 1 << 20, &search->population) && ok;
    ok = read_number(r, table, "seed", 0, INT64_MAX, &search->seed) && ok;
    return check_search(r, table) && ok;
}

/* A continuous axis has no points of its own: only a sample can take some. */
static bool check_continuous(struct reading *r)
{
    bool ok = true;
    for (size_t m = 0; r->out->sample.method == SAMPLE_GRID && m < r->out->n_models; m++) {
        const struct binding *b = r->out->bindings[m];
        for (size_t i = 0; i < b->model->params.n; i++) {
            if (!b->given[i].continuous) continue;
            ok = diags_input(r->diags, b->given[i].loc, r->doc->text,
                             "[sample] method = \"sobol\", points = 10000; or points = 20 in the range",
                             "%s: a continuous axis has no points to %s", b->model->params.fields[i].name,
                             r->out->search.method ? "search" : "go through one by one");
        }
    }
    return ok;
}

bool sweep_read_sampling(struct reading *r)
{
    bool ok = read_sample(r);
    ok = read_search(r) && ok;
    return check_continuous(r) && ok;
}

/* ---- keep ------------------------------------------------------------------------------------------------------------------ */

bool sweep_read_keep(struct reading *r, const struct toml_node *sweep)
{
    r->out->keep_points = KEEP_POINTS;
    const struct toml_node *node = toml_expect(r->doc, sweep, "keep", TOML_STRING, r->diags);
    bool ok = node || !toml_get(sweep, "keep");
    int keep = -1;
    for (int i = 0; node && i < KEEPS; i++)
        if (strcmp(node->string, keep_names[i]) == 0) keep = i;
    if (node && keep < 0)
        return diags_unknown(r->diags, toml_loc(r->doc, node), r->doc->text, node->string, keep_names, KEEPS,
                             "all, front or sample", "there is no \"%s\" to keep", node->string);
    if (keep > 0) r->out->keep = (enum sweep_keep)keep;
    if (keep > 0 && (r->out->refine || r->out->fidelity != FIDELITY_CLOSED_FORM))
        ok = diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, "keep = \"all\", or fidelity = \"closed-form\"",
                         "keep = \"%s\" goes with the closed form, the sweep's fidelity is \"%s\"", node->string,
                         sweep_fidelity_text(r->out));
    const struct toml_node *points = toml_get(sweep, "keep_points");
    if (points && r->out->keep != KEEP_SAMPLE)
        return diags_input(r->diags, toml_key_loc(r->doc, points), r->doc->text, "keep = \"sample\"",
                           "keep_points is the size of a sample, and none is kept");
    return read_number(r, sweep, "keep_points", 1, KEEP_POINTS_MAX, &r->out->keep_points) && ok;
}
