/* Why rows changed: points evaluated again with one group of inputs swapped at a time (diff.h). */
#include "base/text.h"
#include "base/xalloc.h"
#include "config/catalog_kinds.h"
#include "diff/source.h"
#include "dse_config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows at event level take seconds: so few are evaluated again. */
enum { EVENT_ROWS = 8 };
/* Sums of floating-point numbers in another order are no effect of their own. */
static const double rounding = 1e-9;

struct causes {
    struct diff *diff;
    struct diff_model *m;
    const struct model *model;
    struct source side[2];
    size_t *group;                /* of each parameter: the one that owns it */
    const struct field **metrics; /* fields of m->metrics but the last, which is the status */
    struct runner *runner[FIDELITIES];
    struct mixer *mixer[2][FIDELITIES];
    void *scratch, *numbers;
    double *values[5]; /* of m->metrics: of A's parameters and B's as evaluated, of one swapped, the sum of effects, an effect */
};

/* ---- evaluating ------------------------------------------------------------------------------------------------------------ */

/* The metrics at these parameters, and 1 or 0 for feasible behind them; NaN where there is none. False: it cannot be run. */
static bool evaluate(struct causes *c, const void *start, int mix, enum fidelity fidelity, double *ret)
{
    const struct dse_model *desc = c->model->desc;
    const char *reason = NULL;
    enum run_end end = RUN_DONE;
    memcpy(c->scratch, start, desc->params_size);
    memset(c->numbers, 0, desc->metrics_size);
    if (c->mixer[mix][fidelity]) {
        end = mixer_run(c->mixer[mix][fidelity], c->scratch, c->numbers, NULL, &reason);
    } else {
        if (desc->resolve) desc->resolve(c->scratch);
        reason = desc->check ? desc->check(c->scratch) : NULL;
        if (!reason) end = runner_run(c->runner[fidelity], desc, c->scratch, c->numbers, NULL);
    }
    const bool there = end == RUN_DONE && !reason;
    for (size_t i = 0; i + 1 < c->m->n_metrics; i++)
        ret[i] = there && !c->metrics[i]->without ? field_number(c->metrics[i], c->numbers) : (double)NAN;
    ret[c->m->n_metrics - 1] = there;
    return end == RUN_DONE;
}

/* ---- groups ---------------------------------------------------------------------------------------------------------------- */

/* Do the two entries of one name say the same? */
static bool same_entry(const struct causes *c, const struct field *ref, const struct dse_entry *a, const struct dse_entry *b)
{
    const struct schema *fields = catalog_fields(c->side[0].catalog, ref->kind);
    for (size_t i = 0; i < fields->n; i++)
        if (!field_same(&fields->fields[i], a, b) &&
            !(fields->fields[i].type == DSE_TYPE_F64 && isnan(field_number(&fields->fields[i], a)) &&
              isnan(field_number(&fields->fields[i], b))))
            return false;
    return ref->kind != DSE_KIND_LLM || catalog_same_kinds((const void *)a, (const void *)b);
}

static bool same_value(const struct causes *c, size_t i)
{
    const struct field *f = &c->model->params.fields[i];
    const void *a = c->side[0].params, *b = c->side[1].params;
    if (f->type == DSE_TYPE_REF) {
        const struct dse_entry *x = field_get(f, a).ref, *y = field_get(f, b).ref;
        return x == y || (x && y && strcmp(x->name, y->name) == 0 && same_entry(c, f, x, y));
    }
    if (f->type == DSE_TYPE_F64 && isnan(field_get(f, a).f64) && isnan(field_get(f, b).f64)) return true;
    return field_same(f, a, b);
}

static bool group_differs(const struct causes *c, size_t group)
{
    for (size_t i = 0; i < c->model->params.n; i++)
        if (c->group[i] == group && !same_value(c, i)) return true;
    return false;
}

static void add_difference(struct text *t, const struct field *f, const void *a, const void *b)
{
    char x[TEXT_NUMBER_MAX], y[TEXT_NUMBER_MAX];
    text_addf(t, "%s %s", f->name, value_text(f, field_get(f, a), x));
    text_addf(t, " -> %s", value_text(f, field_get(f, b), y));
}

/* What differs of an entry: parameters that follow from it, and what only it says. */
static void add_entry_differences(const struct causes *c, size_t group, struct text *t)
{
    enum { SHOWN = 3 };
    const struct field *ref = &c->model->params.fields[group];
    const struct dse_entry *a = field_get(ref, c->side[0].params).ref, *b = field_get(ref, c->side[1].params).ref;
    const struct schema *fields = catalog_fields(c->side[0].catalog, ref->kind), *params = &c->model->params;
    size_t n = 0;
    for (size_t i = 0; i < params->n; i++)
        if (c->group[i] == group && i != group && !same_value(c, i) && n++ < SHOWN) {
            text_add(t, n == 1 ? ": " : ", ");
            add_difference(t, &params->fields[i], c->side[0].params, c->side[1].params);
        }
    for (size_t i = 0; i < fields->n; i++) {
        const struct field *f = &fields->fields[i];
        if (f->type == DSE_TYPE_PATTERN || schema_find(params, f->name) || field_same(f, a, b)) continue;
        if (f->type == DSE_TYPE_F64 && isnan(field_number(f, a)) && isnan(field_number(f, b))) continue;
        if (n++ >= SHOWN) continue;
        text_add(t, n == 1 ? ": " : ", ");
        add_difference(t, f, a, b);
    }
    if (n > SHOWN) text_addf(t, " and %zu more", n - SHOWN);
}

/* Which cause the group is at this row, and its words. The caller frees *ret_what. */
static enum diff_kind judge_group(const struct causes *c, size_t group, size_t *ret_key, char **ret_what)
{
    const struct field *f = &c->model->params.fields[group];
    const bool given = source_gives(&c->side[0], f->name) || source_gives(&c->side[1], f->name);
    struct text t;
    text_init(&t);
    *ret_key = SIZE_MAX;
    if (f->type == DSE_TYPE_REF) {
        const struct dse_entry *a = field_get(f, c->side[0].params).ref, *b = field_get(f, c->side[1].params).ref;
        if (strcmp(a->name, b->name) == 0) {
            text_addf(&t, "%s %s", f->name, a->name);
            *ret_key = t.n;
            add_entry_differences(c, group, &t);
            *ret_what = text_detach(&t);
            return DIFF_CATALOG;
        }
    }
    add_difference(&t, f, c->side[0].params, c->side[1].params);
    *ret_key = strlen(f->name);
    *ret_what = text_detach(&t);
    return given ? DIFF_SWEEP : DIFF_CONSTANT;
}

/* ---- causes ---------------------------------------------------------------------------------------------------------------- */

/* The cause of that kind whose words begin alike, made when there is none. Frees `what`. */
static struct diff_cause *find_cause(struct diff_model *m, enum diff_kind kind, char *what, size_t key)
{
    for (size_t i = 0; i < m->n_causes; i++) {
        struct diff_cause *old = &m->causes[i];
        if (old->kind != kind || strncmp(old->what, what, key) != 0 || (old->what[key] != what[key])) continue;
        if (strcmp(old->what, what) != 0 && !strstr(old->what, " and others")) {
            char *both = xasprintf("%s and others", old->what);
            free(old->what);
            old->what = both;
        }
        free(what);
        return old;
    }
    m->causes = xrealloc(m->causes, m->n_causes + 1, sizeof *m->causes);
    struct diff_cause *cause = &m->causes[m->n_causes++];
    *cause = (struct diff_cause){.kind = kind, .what = what};
    cause->largest = xcalloc(m->n_metrics, sizeof *cause->largest);
    cause->moved = xcalloc(m->n_metrics, sizeof *cause->moved);
    return cause;
}

/* Is there an effect of that kind? */
static bool is_effect(const struct causes *c, enum diff_kind kind, const double *effect)
{
    for (size_t i = 0; i < c->m->n_metrics; i++)
        if (fabs(effect[i]) > (kind == DIFF_TOGETHER ? rounding : 0)) return true;
    return false;
}

/* Count what a cause does at a row: effects are relative, NaN where there is none. */
static void count_effect(const struct causes *c, struct diff_cause *cause, const double *effect)
{
    bool any = false;
    for (size_t i = 0; i < c->m->n_metrics; i++) {
        if (isnan(effect[i]) || effect[i] == 0 || (cause->kind == DIFF_TOGETHER && fabs(effect[i]) <= rounding)) continue;
        any = true;
        cause->moved[i]++;
        if (fabs(effect[i]) > fabs(cause->largest[i])) cause->largest[i] = effect[i];
    }
    cause->rows += any;
}

/* Against the value of A's row; the status against 1. */
static double relative(const struct causes *c, size_t i, double effect)
{
    if (i + 1 == c->m->n_metrics || effect == 0) return effect;
    return relative_size(c->side[0].values[i], effect);
}

/* Evaluate A's parameters with a group, or the fidelity or the requests, as B has them. */
static void try_swap(struct causes *c, enum diff_kind kind, char *what, size_t key, int mix, enum fidelity fidelity)
{
    double *swapped = c->values[2], *sum = c->values[3], *effect = c->values[4];
    const bool ran = evaluate(c, c->side[0].params, mix, fidelity, swapped);
    for (size_t i = 0; i < c->m->n_metrics; i++) {
        const double change = ran ? swapped[i] - c->values[0][i] : (double)NAN;
        sum[i] += change;
        effect[i] = relative(c, i, change);
    }
    struct diff_cause *cause = find_cause(c->m, kind, what, key);
    count_effect(c, cause, effect);
}

static void swap_group(struct causes *c, size_t group)
{
    const struct schema *params = &c->model->params;
    void *own = xmalloc(c->model->desc->params_size);
    size_t key;
    char *what;
    const enum diff_kind kind = judge_group(c, group, &key, &what);
    memcpy(own, c->side[0].params, c->model->desc->params_size);
    for (size_t i = 0; i < params->n; i++)
        if (c->group[i] == group)
            field_set(&params->fields[i], c->side[0].params, field_get(&params->fields[i], c->side[1].params));
    try_swap(c, kind, what, key, 0, c->side[0].fidelity);
    memcpy(c->side[0].params, own, c->model->desc->params_size);
    free(own);
}

static void swap_all(struct causes *c)
{
    for (size_t g = 0; g < c->model->params.n; g++)
        if (c->group[g] == g && group_differs(c, g)) swap_group(c, g);
    const struct source *a = &c->side[0], *b = &c->side[1];
    if (a->fidelity != b->fidelity) {
        char *what = xasprintf("fidelity %s -> %s", fidelity_names[a->fidelity], fidelity_names[b->fidelity]);
        try_swap(c, DIFF_SWEEP, what, strlen("fidelity"), 0, b->fidelity);
    }
    const char *mine = a->side->requests ? a->side->requests : "", *other = b->side->requests ? b->side->requests : "";
    if (strcmp(mine, other) != 0) try_swap(c, DIFF_SWEEP, xstrdup("requests"), strlen("requests"), 1, a->fidelity);
}

/* The code: what is stored and not computed, on both sides; and what remains. */
static void count_rest(struct causes *c)
{
    double *effect = c->values[4];
    const double *e[2] = {c->values[0], c->values[1]}, *v[2] = {c->side[0].values, c->side[1].values};
    const size_t status = c->m->n_metrics - 1;
    for (size_t i = 0; i < status; i++) effect[i] = relative(c, i, (e[0][i] - v[0][i]) + (v[1][i] - e[1][i]));
    effect[status] = (e[0][status] - c->side[0].feasible) + (c->side[1].feasible - e[1][status]);
    char *what = xasprintf("dse %s (%s) -> %s (%s)", c->side[0].side->version, c->side[0].side->commit, c->side[1].side->version,
                           c->side[1].side->commit);
    if (is_effect(c, DIFF_CODE, effect))
        count_effect(c, find_cause(c->m, DIFF_CODE, what, strlen("dse")), effect);
    else
        free(what);
    for (size_t i = 0; i <= status; i++) effect[i] = relative(c, i, e[1][i] - e[0][i] - c->values[3][i]);
    if (is_effect(c, DIFF_TOGETHER, effect))
        count_effect(c, find_cause(c->m, DIFF_TOGETHER, xstrdup("all of these at once, beyond the sum of each alone"), 0), effect);
}

/* One changed row. NULL, or why it cannot be evaluated again; the caller frees it. */
static char *explain_row(struct causes *c, const uint64_t *points, uint64_t *events, struct diags *diags)
{
    for (int s = 0; s < 2; s++) {
        char *why = source_read(&c->side[s], points[s], diags);
        if (why) return why;
    }
    if (c->side[0].fidelity == FIDELITY_EVENT_LEVEL || c->side[1].fidelity == FIDELITY_EVENT_LEVEL)
        if ((*events)++ >= EVENT_ROWS) return xasprintf("at event level, of which %d rows are evaluated again", EVENT_ROWS);
    memset(c->values[3], 0, c->m->n_metrics * sizeof *c->values[3]);
    for (int s = 0; s < 2; s++)
        if (!evaluate(c, c->side[s].params, s, c->side[s].fidelity, c->values[s])) return xstrdup("this dse cannot run the point");
    swap_all(c);
    count_rest(c);
    return NULL;
}

/* ---- setting up ------------------------------------------------------------------------------------------------------------ */

static void open_runners(struct causes *c)
{
    const struct dse_model *desc = c->model->desc;
    c->scratch = xmalloc(desc->params_size);
    c->numbers = xmalloc(desc->metrics_size);
    for (int f = 0; f < FIDELITIES; f++) {
        c->runner[f] = runner_new((enum fidelity)f, NULL);
        for (int s = 0; s < 2; s++)
            if (c->side[s].mix) c->mixer[s][f] = mixer_new(c->side[s].mix, c->runner[f], NULL, false);
    }
    for (size_t i = 0; i < sizeof c->values / sizeof *c->values; i++) c->values[i] = xcalloc(c->m->n_metrics, sizeof(double));
    c->group = xcalloc(c->model->params.n, sizeof *c->group);
    for (size_t i = 0; i < c->model->params.n; i++) c->group[i] = source_owner(&c->side[0], &c->side[1], i);
}

static void release(struct causes *c)
{
    for (int f = 0; f < FIDELITIES; f++) {
        for (int s = 0; s < 2; s++) mixer_free(c->mixer[s][f]);
        runner_free(c->runner[f]);
    }
    for (int s = 0; s < 2; s++) source_release(&c->side[s]);
    for (size_t i = 0; i < sizeof c->values / sizeof *c->values; i++) free(c->values[i]);
    free(c->metrics);
    free(c->group);
    free(c->scratch);
    free(c->numbers);
}

/* The numbers among the model's metrics that both runs have as columns, and the status. */
static void choose_metrics(struct causes *c)
{
    const struct schema *all = &c->model->metrics;
    c->metrics = xcalloc(all->n + 1, sizeof(struct field *));
    for (size_t i = 0; i < all->n; i++) {
        bool there = false;
        for (size_t k = 0; k < c->m->n_columns && !there; k++) there = strcmp(c->m->columns[k].name, all->fields[i].name) == 0;
        if (!there || !field_is_number(&all->fields[i])) continue;
        c->metrics[c->m->n_metrics] = &all->fields[i];
        add_string(&c->m->metrics, &c->m->n_metrics, xstrdup(all->fields[i].name));
    }
    add_string(&c->m->metrics, &c->m->n_metrics, xstrdup("status"));
}

/* Entries that a run has by a hash alone, and that another file stands for in the other run. */
static void note_files(struct diff *d)
{
    const char *p = d->side[0].catalog;
    for (; p && *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const size_t n = strncmp(p, "# ", 2) == 0 ? strcspn(p + 2, " \n") : 0;
        if (!n || p[2 + n] != ' ') continue;
        char *entry = xstrndup(p + 2, n);
        const char *a = source_digest(&d->side[0], entry), *b = source_digest(&d->side[1], entry);
        char *note = xasprintf("%s is not the same in both, and no run keeps it: what that changes counts as code", entry);
        if (a && b && strncmp(a, b, 16) != 0 && !has_string(d->notes, d->n_notes, note))
            add_string(&d->notes, &d->n_notes, xstrdup(note));
        free(note);
        free(entry);
    }
}

static void note_sides(struct diff *d)
{
    static const char *const names[] = {"A", "B"};
    if (d->n_notes) return;
    const struct diff_side *a = &d->side[0], *b = &d->side[1];
    if (strcmp(a->commit, b->commit) == 0 && strcmp(a->commit, DSE_COMMIT) != 0)
        add_string(&d->notes, &d->n_notes,
                   xasprintf("both runs were made by dse of commit %s; causes are weighed by this one's code, of commit %s",
                             a->commit, DSE_COMMIT));
    for (int s = 0; s < 2; s++)
        if (!d->side[s].catalog)
            add_string(
                &d->notes, &d->n_notes,
                xasprintf("%s is of a dse that kept no catalog: what an entry says beyond its parameters is taken as it is today",
                          names[s]));
    note_files(d);
}

bool find_causes(struct diff *d, struct diff_model *m, const struct diff_options *options, struct diags *diags)
{
    if (!m->changed) return true;
    struct causes c = {.diff = d, .m = m, .model = registry_find(m->name)};
    if (!c.model) {
        m->refused = m->changed;
        m->why_refused = xasprintf("this dse has no model \"%s\"", m->name);
        return true;
    }
    choose_metrics(&c);
    bool ok = true;
    for (int s = 0; ok && s < 2; s++)
        ok = source_open(&c.side[s], &d->side[s], c.model, (const char *const *)m->metrics, m->n_metrics - 1, options, diags);
    if (ok) open_runners(&c);
    const uint64_t n = m->changed < options->sample ? m->changed : options->sample;
    uint64_t events = 0;
    for (uint64_t i = 0; ok && i < n; i++) {
        char *why = explain_row(&c, m->changes + 2 * (uint64_t)((__uint128_t)i * m->changed / n), &events, diags);
        m->evaluated += !why;
        m->refused += why != NULL;
        if (why && !m->why_refused)
            m->why_refused = why;
        else
            free(why);
        ok = diags->errors == 0;
    }
    release(&c);
    if (ok) note_sides(d);
    return ok;
}
