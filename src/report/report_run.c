/* The run that a page is about, and its columns. */
#include "report/report_data.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

static struct query *ask(const struct report_run *r, const char *sql, struct diags *diags)
{
    return query_new(r->reader, sql, (struct srcloc){0}, diags);
}

static char *copy(const struct query *q, int i)
{
    const char *s = query_text(q, i);
    return s ? xstrdup(s) : NULL;
}

static bool read_run(struct report_run *r, int64_t wanted, struct diags *diags)
{
    r->id = reader_show_run(r->reader, wanted, diags);
    if (!r->id) return false;
    char *sql = xasprintf("SELECT id, sweep, sweep_text, models, axes, objectives, status, feasible FROM run WHERE id = %lld",
                          (long long)r->id);
    struct query *q = ask(r, sql, diags);
    free(sql);
    bool ok = q && query_step(q, diags) > 0;
    if (ok) {
        r->sweep = copy(q, 1);
        r->sweep_text = copy(q, 2);
        r->models = copy(q, 3);
        r->axes = copy(q, 4);
        r->objectives = copy(q, 5);
        const char *status = query_text(q, 6);
        r->feasible = (uint64_t)query_i64(q, 7);
        if (!status || strcmp(status, "done") != 0)
            ok = diags_runtime(diags, r->options->db, "run %lld is not done (%s): the same `dse sweep` goes on with it",
                               (long long)r->id, status ? status : "no status");
        else if (r->feasible == 0)
            ok =
                diags_runtime(diags, r->options->db,
                              "run %lld has no feasible point to report on; `select reason, count(*)` tells why", (long long)r->id);
    }
    query_free(q);
    return ok;
}

/* "lad 2, veda 3": one model has no comma. */
static void find_table(struct report_run *r)
{
    r->compares_models = r->models && strchr(r->models, ',');
    size_t n = r->models ? strcspn(r->models, " ,") : 0;
    r->table = r->compares_models ? xstrdup("comparison") : xstrndup(r->models ? r->models : "", n);
}

/* Is `name` one of "llm, context, tiles"? */
static bool listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = list; p && *p; p += strcspn(p, ","), p += strspn(p, ", "))
        if (strncmp(p, name, n) == 0 && (p[n] == ',' || p[n] == '\0')) return true;
    return false;
}

static bool is_objective(const struct goal *g, const char *name)
{
    for (size_t i = 0; i < g->n; i++)
        if (strcmp(g->columns[i], name) == 0) return true;
    return false;
}

static bool is_leading(const char *name)
{
    static const char *const names[] = {"run", "point", "status", "reason", "fidelity"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

static void add_column(struct report_run *r, const char *name, bool is_text)
{
    r->columns = xrealloc(r->columns, r->n_columns + 1, sizeof *r->columns);
    struct report_column *c = &r->columns[r->n_columns++];
    *c = (struct report_column){.name = xstrdup(name), .is_text = is_text};
    c->is_axis = listed(r->axes, name) || strcmp(name, "model") == 0;
    c->is_objective = is_objective(&r->goal, name);
    if (!reader_column_info(r->reader, name, &c->unit, &c->doc, &c->direction)) {
        c->unit = xstrdup("");
        c->doc = xstrdup("");
    }
}

/* The columns whose values differ among the feasible rows: the others say nothing in a page. */
static bool find_columns(struct report_run *r, struct diags *diags)
{
    char *sql = xasprintf("SELECT name FROM pragma_table_info('%s')", r->table);
    struct query *q = ask(r, sql, diags);
    free(sql);
    struct text all;
    text_init(&all);
    char **names = NULL;
    size_t n = 0;
    int more = -1;
    while (q && (more = query_step(q, diags)) > 0) {
        const char *name = query_text(q, 0);
        if (is_leading(name)) continue;
        text_addf(&all, "%smin(\"%s\") IS NOT max(\"%s\"), typeof(max(\"%s\")) = 'text'", n ? ", " : "SELECT ", name, name, name);
        names = xrealloc(names, n + 1, sizeof *names);
        names[n++] = xstrdup(name);
    }
    query_free(q);
    bool ok = q && more == 0 && n;
    if (ok) {
        text_addf(&all, " FROM \"%s\" WHERE run = %lld AND status = 'ok'", r->table, (long long)r->id);
        q = ask(r, all.s, diags);
        ok = q && query_step(q, diags) > 0;
        for (size_t i = 0; ok && i < n; i++)
            if (query_i64(q, 2 * (int)i) || is_objective(&r->goal, names[i]))
                add_column(r, names[i], query_i64(q, 2 * (int)i + 1) != 0);
        query_free(q);
    } else if (q && more == 0) {
        diags_runtime(diags, r->options->db, "has no rows of %s", r->table);
    }
    for (size_t i = 0; i < n; i++) free(names[i]);
    free(names);
    text_release(&all);
    if (ok && r->n_columns == 0) ok = diags_runtime(diags, r->options->db, "has no feasible row of run %lld", (long long)r->id);
    return ok;
}

bool report_run_open(struct report_run *r, const struct report_options *o, struct diags *diags)
{
    *r = (struct report_run){.options = o, .reader = reader_open(o->db, diags)};
    goal_init(&r->goal);
    if (!r->reader || !read_run(r, o->run, diags)) return false;
    if (!r->objectives || !goal_parse(&r->goal, r->objectives))
        return diags_runtime(diags, o->db,
                             "run %lld has no objectives: its sweep has no [objectives], so there is no front to report",
                             (long long)r->id);
    find_table(r);
    return find_columns(r, diags);
}

void report_run_close(struct report_run *r)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        free(r->columns[i].name);
        free(r->columns[i].unit);
        free(r->columns[i].doc);
    }
    free(r->columns);
    char *strings[] = {r->sweep, r->sweep_text, r->models, r->axes, r->objectives, r->table};
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) free(strings[i]);
    goal_release(&r->goal);
    reader_close(r->reader);
}
