/* The run that a page is about, and its columns. */
#include "report/report_data.h"

#include "base/xalloc.h"
#include "desc/label.h"

#include <stdlib.h>
#include <string.h>

/* ---- the run ------------------------------------------------------------------------------------------------------------- */

static char *copy(const struct query *q, int i)
{
    const char *s = query_text(q, i);
    return s ? xstrdup(s) : NULL;
}

/* "llm, context, tiles", unless another parameter has been listed before by that name. */
static void take_axes(struct report_run *r, const char *list)
{
    char *axes = xstrdup(list ? list : ""), *rest;
    for (char *name = strtok_r(axes, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest))
        if (!name_list_have(&r->axes, name)) name_list_add(&r->axes, name);
    free(axes);
}

static bool take_goal(struct report_run *r, const char *objectives, struct diags *diags)
{
    return (objectives && goal_parse(&r->goal, objectives) && r->goal.n) ||
           diags_runtime(diags, r->options->db,
                         "run %lld has no objectives: its sweep has no [objectives], so there is no front to report",
                         (long long)r->id);
}

static bool read_run(struct report_run *r, struct diags *diags)
{
    char *sql = xasprintf("SELECT sweep, sweep_text, axes, status, feasible, done, objectives, fidelity FROM run WHERE id = %lld",
                          (long long)r->id);
    struct query *q = query_new(r->reader, sql, (struct srcloc){0}, diags);
    free(sql);
    bool ok = q && query_step(q, diags) > 0;
    if (ok) {
        r->sweep = copy(q, 0);
        r->sweep_text = copy(q, 1);
        r->fidelity = copy(q, 7);
        take_axes(r, query_text(q, 2));
        r->done = (uint64_t)query_i64(q, 5);
        const char *status = query_text(q, 3);
        if (!status || strcmp(status, "done") != 0)
            ok = diags_runtime(diags, r->options->db, "run %lld is not done (%s): the same command as before continues the run",
                               (long long)r->id, status ? status : "no status");
        else if (query_i64(q, 4) <= 0)
            ok = diags_runtime(
                diags, r->options->db,
                "run %lld has no feasible point to report on; `dse query DB 'select reason, count(*) from MODEL group by reason'` "
                "tells why",
                (long long)r->id);
        ok = ok && take_goal(r, query_text(q, 6), diags);
    }
    query_free(q);
    return ok;
}

static bool find_models(struct report_run *r, struct diags *diags)
{
    if (!read_models(r->reader, r->id, &r->models, diags)) return false;
    if (r->models.n == 0) return diags_runtime(diags, r->options->db, "run %lld has no model", (long long)r->id);
    r->columns_of = xcalloc(r->models.n, sizeof *r->columns_of);
    for (size_t m = 0; m < r->models.n; m++)
        if (!read_columns(r->reader, r->models.s[m], &r->columns_of[m], diags)) return false;
    return split_axes(r->reader, &r->models, &r->axes, &r->shared, &r->own, diags);
}

/* ---- columns ------------------------------------------------------------------------------------------------------------- */

const struct report_column *report_column(const struct report_run *r, const char *name)
{
    for (size_t i = 0; i < r->n_columns; i++)
        if (strcmp(r->columns[i].name, name) == 0) return &r->columns[i];
    return NULL;
}

static struct report_column *add_column(struct report_run *r, const char *name, enum report_kind kind)
{
    r->columns = xrealloc(r->columns, r->n_columns + 1, sizeof *r->columns);
    struct report_column *c = &r->columns[r->n_columns++];
    *c = (struct report_column){.name = xstrdup(name), .kind = kind};
    return c;
}

/* Add a column of the database, unless it has been added. */
static void add_stored(struct report_run *r, const char *name, enum report_kind kind)
{
    if (report_column(r, name)) return;
    struct report_column *c = add_column(r, name, kind);
    if (!reader_column_info(r->reader, name, &c->unit, &c->doc, &c->direction)) {
        c->unit = xstrdup("");
        c->doc = xstrdup("");
    }
    c->label = label_of_column(name, c->unit);
}

static void add_made(struct report_run *r, const char *name, enum report_kind kind, const char *label, const char *doc)
{
    struct report_column *c = add_column(r, name, kind);
    c->label = xstrdup(label);
    c->unit = xstrdup("");
    c->doc = xstrdup(doc);
}

static bool all_have(const struct report_run *r, const char *name)
{
    for (size_t m = 0; m < r->models.n; m++)
        if (!name_list_have(&r->columns_of[m], name)) return false;
    return true;
}

static bool is_leading(const char *name)
{
    static const char *const names[] = {"run", "point", "status", "reason"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], name) == 0) return true;
    return false;
}

/* What the numbers of a row rest on, as far as the run says it. */
static void add_notes(struct report_run *r)
{
    static const char *const names[] = {"quality", "known_tokens", "beyond"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        bool there = false;
        for (size_t m = 0; m < r->models.n; m++) there = there || name_list_have(&r->columns_of[m], names[i]);
        if (there) add_stored(r, names[i], KIND_NOTE);
    }
}

/* As the terminal's table of a front has them: model, objectives, the varied parameters of all models and of some; then
 * everything else that all models have. */
static void find_columns(struct report_run *r)
{
    if (r->models.n > 1) add_made(r, "model", KIND_MODEL, "Model", "model of the row");
    for (size_t i = 0; i < r->goal.n; i++) add_stored(r, r->goal.columns[i], KIND_OBJECTIVE);
    for (size_t i = 0; i < r->shared.n; i++) add_stored(r, r->shared.s[i], KIND_AXIS);
    if (r->own.n > 1 && !report_column(r, "design"))
        add_made(r, "design", KIND_DESIGN, "Design", "the varied parameters that only some of the models have");
    for (size_t i = 0; i < r->own.n; i++) add_stored(r, r->own.s[i], KIND_AXIS);
    add_notes(r);
    for (size_t i = 0; i < r->columns_of[0].n; i++) {
        const char *name = r->columns_of[0].s[i];
        if (!is_leading(name) && all_have(r, name)) add_stored(r, name, KIND_METRIC);
    }
}

bool report_run_open(struct report_run *r, const struct report_options *o, struct diags *diags)
{
    *r = (struct report_run){.options = o, .reader = reader_open(o->db, diags)};
    goal_init(&r->goal);
    if (!r->reader) return false;
    r->id = reader_show_run(r->reader, o->run, diags);
    if (!r->id || !read_run(r, diags) || !find_models(r, diags)) return false;
    find_columns(r);
    return true;
}

void report_run_close(struct report_run *r)
{
    for (size_t i = 0; i < r->n_columns; i++) {
        free(r->columns[i].name);
        free(r->columns[i].label);
        free(r->columns[i].unit);
        free(r->columns[i].doc);
    }
    free(r->columns);
    for (size_t m = 0; r->columns_of && m < r->models.n; m++) name_list_release(&r->columns_of[m]);
    free(r->columns_of);
    struct name_list *lists[] = {&r->models, &r->axes, &r->shared, &r->own};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) name_list_release(lists[i]);
    free(r->sweep);
    free(r->sweep_text);
    free(r->fidelity);
    goal_release(&r->goal);
    reader_close(r->reader);
}
