#include "claims/attention.h"

#include "attention/anchors_file.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 32, /* as `dse profile` */
    HEADS = 8,
    HEADS_MAX = 4096,
    CONTEXT_MAX = 1 << 18, /* of the generator */
};

/* ---- reading ---------------------------------------------------------------------------------------------------------------- */

static bool read_generator(const struct claim_set *s, struct attention *a, const struct toml_node *table, struct diags *diags)
{
    a->generator = generator_defaults;
    a->heads = HEADS;
    bool ok = generator_set_table(&a->generator, s->doc, table, diags);
    const struct toml_node *n = toml_get(table, "n"), *heads = toml_expect(s->doc, a->table, "heads", TOML_INTEGER, diags);
    if (n) ok = claims_error(s, toml_key_loc(s->doc, n), "leave it out", diags, "n: the contexts say how long heads are");
    if (!heads && toml_get(a->table, "heads")) return false;
    if (heads && (heads->integer < 1 || heads->integer > HEADS_MAX))
        return claims_error(s, toml_loc(s->doc, heads), NULL, diags, "heads: %lld is outside of 1 to %d", (long long)heads->integer,
                            HEADS_MAX);
    if (heads) a->heads = (size_t)heads->integer;
    struct text t;
    text_init(&t);
    text_addf(&t, "%zu head%s of the generator", a->heads, a->heads == 1 ? "" : "s");
    for (size_t i = 0; i < table->n; i++) {
        const struct toml_node *p = &table->children[i];
        char buf[TEXT_NUMBER_MAX];
        double value = p->type == TOML_INTEGER ? (double)p->integer : p->type == TOML_FLOAT ? p->number : 0;
        text_addf(&t, "%s%s=%s", i ? " " : ": ", p->key, text_number(buf, value));
    }
    a->source = text_detach(&t);
    return ok;
}

static void add_ids(struct text *t, const char *what, const int32_t *ids, size_t n)
{
    text_addf(t, ", %s", what);
    for (size_t i = 0; i < n; i++) text_addf(t, " %ld", (long)ids[i]);
}

static bool read_trace(const struct claim_set *s, struct attention *a, const struct toml_node *name, struct diags *diags)
{
    char *path = xasprintf("%s/catalog/traces/%s.trace", s->data_dir, name->string);
    a->trace = trace_open(path, diags);
    free(path);
    if (!a->trace) return claims_error(s, toml_loc(s->doc, name), NULL, diags, "the trace \"%s\" cannot be used", name->string);
    const struct trace_info *info = trace_info(a->trace);
    struct text t;
    text_init(&t);
    text_add(&t, info->model);
    add_ids(&t, "layers", info->layer_ids, info->layers);
    add_ids(&t, "heads", info->head_ids, info->heads);
    text_addf(&t, "; trace %016llx", (unsigned long long)info->hash);
    a->source = text_detach(&t);
    return true;
}

static bool read_profile(const struct claim_set *s, struct attention *a, const struct toml_node *name, struct diags *diags)
{
    const struct dse_entry *entry = catalog_find(s->catalog, DSE_KIND_PROFILE, name->string);
    a->profile = (const struct dse_profile *)entry;
    if (entry) {
        a->source = xasprintf("profile %s: %s", entry->name, entry->source);
        return true;
    }
    size_t n = 0;
    while (catalog_at(s->catalog, DSE_KIND_PROFILE, n)) n++;
    const char **names = xcalloc(n + 1, sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = catalog_at(s->catalog, DSE_KIND_PROFILE, i)->name;
    claims_unknown(s, toml_loc(s->doc, name), name->string, names, n, "`dse list profiles` shows all", diags,
                   "there is no profile \"%s\"", name->string);
    free(names);
    return false;
}

static const char *const range_columns[] = {"context", "vectors", "scores", "min", "max", "outside", "recomputed"};
enum { RANGE_CONTEXT = 0, RANGE_OUTSIDE = 5, RANGE_RECOMPUTED = 6, RANGE_COLUMNS = 7 };

/* Read a file of ranges and check that all its cells are numbers. */
static bool read_range(const struct claim_set *s, struct attention *a, const struct toml_node *name, struct diags *diags)
{
    char *path = xasprintf("%s/catalog/ranges/%s.csv", s->data_dir, name->string);
    a->range = xcalloc(1, sizeof *a->range);
    bool ok = csv_table_read(a->range, path, range_columns, RANGE_COLUMNS, diags);
    for (size_t i = 0; i < a->range->n_rows && ok; i++)
        for (size_t k = 0; k < RANGE_COLUMNS; k++) {
            double v;
            ok = csv_table_number(a->range, i, k, false, &v, diags) && ok;
        }
    free(path);
    if (!ok) return claims_error(s, toml_loc(s->doc, name), NULL, diags, "the range \"%s\" cannot be used", name->string);
    a->source = xasprintf("range %s: %s", name->string, a->range->source);
    return true;
}

static bool was_measured_before(const struct attention *a)
{
    return a->profile || a->range;
}

static bool read_steps(const struct claim_set *s, struct attention *a, struct diags *diags)
{
    const struct toml_node *steps = toml_get(a->table, "steps");
    a->steps = STEPS;
    if (!steps) return true;
    if (was_measured_before(a))
        return claims_error(s, toml_key_loc(s->doc, steps), NULL, diags, "steps: a file is measured already");
    bool half = steps->type == TOML_STRING && strcmp(steps->string, "half") == 0;
    if (!half && (steps->type != TOML_INTEGER || steps->integer < 1 || steps->integer > CONTEXT_MAX))
        return claims_error(s, toml_loc(s->doc, steps), "the last steps of each context, or \"half\" of them", diags,
                            "steps: a number from 1 to %d or \"half\" is needed", CONTEXT_MAX);
    a->steps = half ? 0 : (size_t)steps->integer;
    return true;
}

static bool read_one(struct claim_set *s, struct attention *a, struct diags *diags)
{
    static const char *const keys[] = {"generator", "trace", "profile", "range", "heads", "steps"};
    const char *hint =
        "generator = { seed = 2 }, or trace, profile or range = \"NAME\" of a file of catalog/traces, profiles or ranges";
    if (a->table->type != TOML_TABLE)
        return claims_error(s, toml_loc(s->doc, a->table), hint, diags, "attention.%s is not a table", a->table->key);
    bool ok = toml_check_keys(s->doc, a->table, keys, sizeof keys / sizeof *keys, diags);
    int given = 0;
    for (size_t i = 0; i < 4; i++) given += toml_get(a->table, keys[i]) != NULL;
    if (given != 1)
        return claims_error(s, toml_key_loc(s->doc, a->table), hint, diags, "attention %s comes from %s", a->table->key,
                            given ? "more than one place" : "nowhere");
    const struct toml_node *generator = toml_expect(s->doc, a->table, "generator", TOML_TABLE, diags);
    const struct toml_node *trace = toml_expect(s->doc, a->table, "trace", TOML_STRING, diags);
    const struct toml_node *profile = toml_expect(s->doc, a->table, "profile", TOML_STRING, diags);
    const struct toml_node *range = toml_expect(s->doc, a->table, "range", TOML_STRING, diags);
    const struct toml_node *heads = toml_get(a->table, "heads");
    if (!generator && heads)
        ok = claims_error(s, toml_key_loc(s->doc, heads), NULL, diags,
                          "heads: only a generator has this key; other sources have heads of their own");
    if (generator) return read_generator(s, a, generator, diags) && read_steps(s, a, diags) && ok;
    if (trace) return read_trace(s, a, trace, diags) && read_steps(s, a, diags) && ok;
    if (profile) return read_profile(s, a, profile, diags) && read_steps(s, a, diags) && ok;
    if (range) return read_range(s, a, range, diags) && read_steps(s, a, diags) && ok;
    return false;
}

bool claims_read_attention(struct claim_set *s, struct diags *diags)
{
    const struct toml_node *all = toml_expect(s->doc, &s->doc->root, "attention", TOML_TABLE, diags);
    if (!all) return !toml_get(&s->doc->root, "attention");
    bool ok = true;
    s->attention = xcalloc(all->n, sizeof(struct attention *));
    for (size_t i = 0; i < all->n; i++) {
        struct attention *a = s->attention[s->n_attention++] = xcalloc(1, sizeof *a);
        a->table = &all->children[i];
        a->good = read_one(s, a, diags);
        a->public = (struct claim_attention){a->table->key, a->source};
        ok = a->good && ok;
    }
    return ok;
}

struct attention *claims_attention(const struct claim_set *s, const char *name)
{
    for (size_t i = 0; i < s->n_attention; i++)
        if (strcmp(s->attention[i]->public.name, name) == 0) return s->attention[i];
    return NULL;
}

const struct claim_attention *claims_attention_at(const struct claim_set *s, size_t i)
{
    return i < s->n_attention ? &s->attention[i]->public : NULL;
}

static void free_attention(struct attention *a)
{
    for (int k = 0; k < RUN_KINDS; k++) {
        free(a->runs[k].contexts);
        free(a->runs[k].values);
    }
    trace_close(a->trace);
    if (a->range) csv_table_release(a->range);
    free(a->range);
    free(a->source);
    free(a);
}

void claims_free_attention(struct claim_set *s)
{
    for (size_t i = 0; i < s->n_attention; i++) free_attention(s->attention[i]);
    free(s->attention);
}

/* ---- what is asked for --------------------------------------------------------------------------------------------------- */

static size_t find_context(const struct run *r, size_t context)
{
    size_t at = 0;
    while (at < r->n && r->contexts[at] < context) at++;
    return at;
}

static void add_context(struct run *r, size_t context)
{
    size_t at = find_context(r, context);
    if (at < r->n && r->contexts[at] == context) return;
    r->contexts = xrealloc(r->contexts, r->n + 1, sizeof *r->contexts);
    memmove(r->contexts + at + 1, r->contexts + at, (r->n - at) * sizeof *r->contexts);
    r->contexts[at] = context;
    r->n++;
}

static double range_cell(const struct csv_table *t, size_t row, size_t column)
{
    double v = (double)NAN;
    struct diags none; /* read_range found a number */
    diags_init(&none);
    csv_table_number(t, row, column, false, &v, &none);
    diags_release(&none);
    return v;
}

static void range_values(const struct csv_table *t, size_t context, double *v)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        if (range_cell(t, i, RANGE_CONTEXT) != (double)context) continue;
        v[STATISTIC_INSIDE] = 1 - range_cell(t, i, RANGE_OUTSIDE);
        v[STATISTIC_RECOMPUTED] = range_cell(t, i, RANGE_RECOMPUTED);
    }
}

/* What was measured before: NaN where the file has no such column, or no such context. */
static void known_values(const struct attention *a, size_t context, double *v)
{
    for (int i = 0; i < STATISTICS; i++) v[i] = (double)NAN;
    if (a->profile) statistics_of_profile(a->profile, context, v);
    if (a->range) range_values(a->range, context, v);
}

static bool check_statistic(const struct claim_set *s, const struct attention *a, enum statistic statistic, size_t context,
                            struct srcloc value, struct srcloc at, struct diags *diags)
{
    double v[STATISTICS];
    known_values(a, context, v);
    if (!isnan(v[statistic])) return true;
    bool there = false;
    for (int i = 0; i < STATISTICS; i++) there |= !isnan(v[i]);
    if (!there)
        return claims_error(s, at, "the contexts of the file's rows", diags, "%s was not measured at %zu positions", a->public.name,
                            context);
    return claims_error(s, value, "measure it on a trace or a generator", diags, "the file of %s says nothing of %s",
                        a->public.name, statistic_names[statistic]);
}

bool attention_want(const struct claim_set *s, struct attention *a, enum statistic statistic, size_t context, struct srcloc value,
                    struct srcloc at, struct diags *diags)
{
    if (was_measured_before(a)) {
        if (!check_statistic(s, a, statistic, context, value, at, diags)) return false;
    } else {
        size_t n = a->trace ? trace_info(a->trace)->n : CONTEXT_MAX, least = a->steps > 2 ? a->steps : 2;
        if (context > n || context < least)
            return claims_error(s, at, NULL, diags, "context %zu: %s can be measured at %zu to %zu positions", context,
                                a->public.name, least, n);
    }
    add_context(&a->runs[statistic_run(statistic)], context);
    return true;
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

/* The work of a run: squares of positions, times heads. */
static double run_work(const struct attention *a, const struct run *r)
{
    if (was_measured_before(a)) return 0;
    const struct trace_info *info = a->trace ? trace_info(a->trace) : NULL;
    double heads = info ? (double)(info->layers * info->heads) : (double)a->heads, work = 0;
    for (size_t i = 0; i < r->n; i++) work += heads * (double)r->contexts[i] * (double)r->contexts[i];
    return work;
}

double attention_work(const struct attention *a)
{
    double work = 0;
    for (int k = 0; k < RUN_KINDS; k++) work += run_work(a, &a->runs[k]);
    return work;
}

static void tell(void *user, double share)
{
    const struct measure_progress *p = user;
    p->tell(p->user, (p->done + share * p->now) / p->all);
}

static bool run_heads(struct attention *a, enum run_kind kind, struct run *r, struct measure_progress *progress,
                      struct diags *diags)
{
    a->generator.n = (int64_t)r->contexts[r->n - 1];
    struct head_source source = a->trace ? head_source_trace(a->trace) : head_source_generator(&a->generator, a->heads);
    struct measure_plan plan = {.sources = &source,
                                .n_sources = 1,
                                .contexts = r->contexts,
                                .n_contexts = r->n,
                                .steps = a->steps,
                                .progress = progress->tell ? tell : NULL,
                                .progress_user = progress};
    progress->now = run_work(a, r);
    bool ok = statistics_measure(kind, &plan, r->values, diags);
    progress->done += progress->now;
    return ok;
}

bool attention_run(struct attention *a, struct measure_progress *progress, struct diags *diags)
{
    bool ok = true;
    for (enum run_kind k = 0; k < RUN_NOTHING; k++) {
        struct run *r = &a->runs[k];
        if (r->values || r->n == 0) continue;
        r->values = xcalloc(r->n, sizeof *r->values);
        for (size_t i = 0; i < r->n && was_measured_before(a); i++) known_values(a, r->contexts[i], r->values[i]);
        if (was_measured_before(a) || run_heads(a, k, r, progress, diags)) continue;
        free(r->values);
        r->values = NULL;
        ok = false;
    }
    return ok;
}

double attention_value(const struct attention *a, enum statistic statistic, size_t context)
{
    if (statistic == STATISTIC_EXP_ERROR) return statistic_without_heads();
    const struct run *r = &a->runs[statistic_run(statistic)];
    return r->values ? r->values[find_context(r, context)][statistic] : (double)NAN;
}
