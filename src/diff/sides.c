/* The two runs, and which models and columns they have. */
#include "diff/diff_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const diff_kind_names[DIFF_KINDS] = {"code", "constant", "catalog", "sweep", "together"};

/* ---- one side -------------------------------------------------------------------------------------------------------------- */

/* The record of the run. A column that an older dse did not have stays NULL. */
static bool read_record(struct diff_side *s, struct diags *diags)
{
    static const char *const names[] = {"sweep", "sweep_text", "version",  "git_commit", "started",
                                        "axes",  "fidelity",   "requests", "catalog",    "shard"};
    char **const to[] = {&s->sweep, &s->text,     &s->version,  &s->commit,  &s->started,
                         &s->axes,  &s->fidelity, &s->requests, &s->catalog, &s->shard};
    char *sql = xasprintf("SELECT * FROM run WHERE id = %lld", (long long)s->run);
    struct query *q = query_new(s->reader, sql, (struct srcloc){0}, diags);
    free(sql);
    const int rc = q ? query_step(q, diags) : -1;
    for (int c = 0; rc > 0 && c < query_columns(q); c++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            const char *value = strcmp(names[i], query_column_name(q, c)) == 0 ? query_text(q, c) : NULL;
            if (value) *to[i] = xstrdup(value);
        }
    query_free(q);
    return rc > 0;
}

/* The digits behind the last colon of PATH:RUN; 0 when it is a path alone, or a file of that name is there. */
static int64_t split_run(char *what)
{
    char *colon = strrchr(what, ':');
    int64_t run;
    if (!colon || access(what, F_OK) == 0 || !text_parse_i64(colon + 1, &run) || run < 1) return 0;
    *colon = '\0';
    return run;
}

bool diff_open(struct diff *d, int side, const char *what, struct diags *diags)
{
    struct diff_side *s = &d->side[side];
    s->path = xstrdup(what);
    const int64_t wanted = split_run(s->path);
    s->reader = reader_open(s->path, diags);
    s->run = s->reader ? reader_show_run(s->reader, wanted, diags) : 0;
    return s->run && read_record(s, diags);
}

static void release_side(struct diff_side *s)
{
    reader_close(s->reader);
    char *const texts[] = {s->path, s->sweep,    s->text,     s->version, s->commit, s->started,
                           s->axes, s->fidelity, s->requests, s->catalog, s->shard};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) free(texts[i]);
}

static void release_model(struct diff_model *m)
{
    for (size_t i = 0; i < m->n_columns; i++) {
        char *const texts[] = {m->columns[i].name, m->columns[i].unit, m->columns[i].from, m->columns[i].to};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) free(texts[k]);
    }
    for (size_t i = 0; i < m->n_inputs; i++) {
        free(m->inputs[i].name);
        free(m->inputs[i].from);
        free(m->inputs[i].to);
    }
    for (size_t i = 0; i < m->n_causes; i++) {
        free(m->causes[i].what);
        free(m->causes[i].largest);
        free(m->causes[i].moved);
    }
    for (int s = 0; s < 2; s++) free_strings(m->missing[s], m->n_missing[s]);
    free_strings(m->keys, m->n_keys);
    free_strings(m->metrics, m->n_metrics);
    free(m->columns);
    free(m->inputs);
    free(m->causes);
    free(m->lost);
    free(m->gained);
    free(m->changes);
    free(m->why_refused);
    free(m->name);
}

void diff_release(struct diff *d)
{
    for (size_t i = 0; i < d->n_models; i++) release_model(&d->models[i]);
    free(d->models);
    for (int s = 0; s < 2; s++) {
        free_strings(d->only[s], d->n_only[s]);
        release_side(&d->side[s]);
    }
    free_strings(d->notes, d->n_notes);
    *d = (struct diff){0};
}

/* ---- models ---------------------------------------------------------------------------------------------------------------- */

/* Those with a fixed row of the run, in the order of their names. */
static bool read_models(const struct diff_side *s, char ***ret, size_t *ret_n, struct diags *diags)
{
    char **all = NULL;
    size_t n = 0;
    bool ok = read_strings(s->reader,
                           "SELECT substr(name, 1, length(name) - 6) FROM main.sqlite_schema WHERE type = 'table'"
                           " AND name LIKE '%\\_fixed' ESCAPE '\\' ORDER BY name",
                           &all, &n, diags);
    for (size_t i = 0; ok && i < n; i++) {
        struct text sql;
        text_init(&sql);
        char *table = xasprintf("%s_fixed", all[i]);
        text_add(&sql, "SELECT ");
        sql_add_string(&sql, all[i]);
        text_add(&sql, " FROM ");
        sql_add_name(&sql, table);
        text_addf(&sql, " WHERE run = %lld", (long long)s->run);
        ok = read_strings(s->reader, sql.s, ret, ret_n, diags);
        free(table);
        text_release(&sql);
    }
    free_strings(all, n);
    return ok;
}

static bool find_models(struct diff *d, const char *wanted, struct diags *diags)
{
    char **names[2] = {0};
    size_t n[2] = {0};
    bool ok = read_models(&d->side[0], &names[0], &n[0], diags) && read_models(&d->side[1], &names[1], &n[1], diags);
    for (int s = 0; ok && s < 2; s++)
        for (size_t i = 0; i < n[s]; i++) {
            const char *name = names[s][i];
            if (!name || (wanted && strcmp(wanted, name) != 0)) continue;
            if (!has_string(names[!s], n[!s], name)) {
                add_string(&d->only[s], &d->n_only[s], xstrdup(name));
            } else if (s == 0) {
                d->models = xrealloc(d->models, d->n_models + 1, sizeof *d->models);
                d->models[d->n_models++] = (struct diff_model){.name = xstrdup(name)};
            }
        }
    if (ok && wanted && !d->n_models)
        ok = diags_input(diags, (struct srcloc){0}, NULL, NULL, "not both runs have rows of model \"%s\"", wanted);
    for (int s = 0; s < 2; s++) free_strings(names[s], n[s]);
    return ok;
}

/* ---- columns --------------------------------------------------------------------------------------------------------------- */

static bool table_columns(const struct diff_side *s, const char *model, const char *suffix, char ***ret, size_t *ret_n,
                          struct diags *diags)
{
    struct text sql;
    text_init(&sql);
    char *table = xasprintf("%s%s", model, suffix);
    text_add(&sql, "SELECT name FROM pragma_table_info(");
    sql_add_string(&sql, table);
    text_add(&sql, ", 'main') ORDER BY cid");
    const bool ok = read_strings(s->reader, sql.s, ret, ret_n, diags);
    free(table);
    text_release(&sql);
    return ok;
}

static double tolerance_of(const struct diff_options *o, const char *column)
{
    double rel = 0;
    for (size_t i = 0; i < o->n_tolerances; i++)
        if (!o->tolerances[i].column || strcmp(o->tolerances[i].column, column) == 0) rel = o->tolerances[i].rel;
    return rel;
}

static void add_column(const struct diff *d, struct diff_model *m, const char *name, const struct diff_options *o)
{
    m->columns = xrealloc(m->columns, m->n_columns + 1, sizeof *m->columns);
    struct diff_column *c = &m->columns[m->n_columns++];
    *c = (struct diff_column){.name = xstrdup(name), .rel = tolerance_of(o, name)};
    char *doc = NULL;
    int direction;
    if (reader_column_info(d->side[0].reader, name, &c->unit, &doc, &direction)) free(doc);
    if (!c->unit) c->unit = xstrdup("");
}

/* Parameters that are an axis of either side are keys; others may stand still at different values. */
static bool divide_params(const struct diff *d, struct diff_model *m, char **const params[2], const size_t n_params[2],
                          struct diags *diags)
{
    static const char *const leading[] = {"run", "first_id", "points"};
    char **others = NULL;
    size_t n = 0;
    for (size_t i = 0; i < n_params[0]; i++) {
        const char *name = params[0][i];
        bool both = has_string(params[1], n_params[1], name);
        for (size_t k = 0; k < sizeof leading / sizeof *leading; k++) both = both && strcmp(name, leading[k]) != 0;
        if (!both) continue;
        if (is_listed(d->side[0].axes, name) || is_listed(d->side[1].axes, name))
            add_string(&m->keys, &m->n_keys, xstrdup(name));
        else
            add_string(&others, &n, xstrdup(name));
    }
    const bool ok = find_inputs(d, m, others, n, diags);
    free_strings(others, n);
    return ok;
}

/* The columns of rows that are no parameters: those of both sides are compared. */
static bool find_columns(const struct diff *d, struct diff_model *m, const struct diff_options *o, struct diags *diags)
{
    static const char *const leading[] = {"id", "run", "point"};
    char **all[2] = {0}, **params[2] = {0};
    size_t n_all[2] = {0}, n_params[2] = {0};
    bool ok = true;
    for (int s = 0; ok && s < 2; s++)
        ok = table_columns(&d->side[s], m->name, "_all", &all[s], &n_all[s], diags) &&
             table_columns(&d->side[s], m->name, "_fixed", &params[s], &n_params[s], diags);
    ok = ok && divide_params(d, m, params, n_params, diags);
    for (int s = 0; ok && s < 2; s++)
        for (size_t i = 0; i < n_all[s]; i++) {
            const char *name = all[s][i];
            bool is_result = !has_string(params[0], n_params[0], name) && !has_string(params[1], n_params[1], name);
            for (size_t k = 0; k < sizeof leading / sizeof *leading; k++) is_result &= strcmp(name, leading[k]) != 0;
            if (!is_result) continue;
            if (!has_string(all[!s], n_all[!s], name))
                add_string(&m->missing[s], &m->n_missing[s], xstrdup(name));
            else if (s == 0)
                add_column(d, m, name, o);
        }
    for (int s = 0; s < 2; s++) {
        free_strings(all[s], n_all[s]);
        free_strings(params[s], n_params[s]);
    }
    return ok;
}

/* A tolerance of a column that no model has is a mistake. */
static bool check_tolerances(const struct diff *d, const struct diff_options *o, struct diags *diags)
{
    for (size_t i = 0; i < o->n_tolerances; i++) {
        const char *name = o->tolerances[i].column;
        bool known = !name;
        for (size_t m = 0; m < d->n_models && !known; m++)
            for (size_t c = 0; c < d->models[m].n_columns && !known; c++) known = strcmp(d->models[m].columns[c].name, name) == 0;
        if (!known) return diags_input(diags, (struct srcloc){0}, NULL, NULL, "--rel: both runs have no column \"%s\"", name);
    }
    return true;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------- */

bool diff_run(struct diff *d, const struct diff_options *options, struct diags *diags)
{
    bool ok = find_models(d, options->model, diags);
    for (size_t i = 0; ok && i < d->n_models; i++) ok = find_columns(d, &d->models[i], options, diags);
    ok = ok && check_tolerances(d, options, diags);
    for (size_t i = 0; ok && i < d->n_models; i++) {
        struct diff_model *m = &d->models[i];
        struct reading r = {.diff = d, .model = m, .n = m->n_keys + m->n_columns};
        r.names = xcalloc(r.n + 1, sizeof *r.names);
        for (size_t k = 0; k < m->n_keys; k++) r.names[k] = m->keys[k];
        for (size_t k = 0; k < m->n_columns; k++) r.names[m->n_keys + k] = m->columns[k].name;
        ok = compare_rows(&r, diags) && (!options->sample || find_causes(d, m, options, diags));
        free(r.names);
    }
    return ok;
}

bool diff_is_any(const struct diff *d)
{
    bool any = d->n_only[0] || d->n_only[1];
    for (size_t i = 0; i < d->n_models; i++) {
        const struct diff_model *m = &d->models[i];
        any |= m->only[0] || m->only[1] || m->changed || m->n_lost || m->n_gained;
    }
    return any;
}

char *diff_design(const struct diff *d, int side, const struct diff_model *m, uint64_t point, struct diags *diags)
{
    const struct diff_side *s = &d->side[side];
    struct run_rows *rows = run_rows_new(s->reader, m->name, s->run, (const char *const *)m->keys, m->n_keys, diags);
    struct text t;
    text_init(&t);
    const int rc = rows ? run_rows_at(rows, point, diags) : -1;
    for (size_t i = 0; rc > 0 && i < m->n_keys; i++) {
        const char *value = run_rows_text(rows, i);
        text_addf(&t, "%s%s=%s", i ? " " : "", m->keys[i], value ? value : "");
    }
    run_rows_free(rows);
    if (rc >= 0) return text_detach(&t);
    text_release(&t);
    return NULL;
}
