/* dse sweep --dry-run: what a sweep file asks for. */
#include "cli/dry_run.h"

#include "base/text.h"
#include "cli/progress.h"
#include "space/space.h"
#include "sweep/outlook.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The values of an axis: "1 to 8" of numbers, "llama2-7b, llama3-8b" of names. */
static void print_values(const struct field *f, const struct given *g)
{
    enum { FEW = 5 };
    char buf[TEXT_NUMBER_MAX], hi[TEXT_NUMBER_MAX];
    if (field_is_number(f)) {
        printf("%s to %s", value_text(f, g->values[0], buf), value_text(f, g->values[g->n - 1], hi));
        return;
    }
    for (uint64_t i = 0; i < g->n && i < FEW; i++) printf("%s%s", i ? ", " : "", value_text(f, g->values[i], buf));
    if (g->n > FEW) printf(", ...");
}

static void print_axes(const struct binding *b)
{
    char count[TEXT_NUMBER_MAX], lo[TEXT_NUMBER_MAX], hi[TEXT_NUMBER_MAX];
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct given *g = &b->given[i];
        const struct field *f = &b->model->params.fields[i];
        if (!g->is_given || g->n < 2) continue;
        if (g->continuous)
            printf("  %-18s continuous, %s to %s %s%s\n", f->name, value_text(f, g->values[0], lo), value_text(f, g->values[1], hi),
                   f->unit, g->log ? ", on a log scale" : "");
        else
            printf("  %-18s %9s values", f->name, text_about_count(count, (double)g->n));
        if (g->values && !g->continuous) {
            printf(", ");
            print_values(f, g);
            printf("%s%s", *f->unit ? " " : "", f->unit);
        }
        if (!g->continuous) printf("\n");
        if (g->exact_added && g->values)
            printf("    %s was added to compare with exact attention ([quality] exact = false leaves it out)\n",
                   value_text(f, g->values[g->n - 1], lo));
    }
}

/* Are all axes expanded, and is the space one that a run would take? */
static bool can_build(const struct sweep_file *s, size_t m)
{
    const struct binding *b = s->bindings[m];
    for (size_t i = 0; i < b->model->params.n; i++)
        if (b->given[i].is_given && !b->given[i].values) return false;
    return space_points_of(s, m) <= (uint64_t)SWEEP_POINTS_MAX;
}

/* What does not hold for all models of the sweep: the workload that the baseline shares with these points, and expressions. */
static void print_comparison(const struct sweep_file *s, const struct space *sp)
{
    size_t taken = 0;
    for (size_t i = 0; s->baseline && i < s->baseline->model->params.n; i++)
        if (space_baseline_takes(sp, i))
            printf("%s%s", taken++ ? ", " : "  compared with the baseline at the same ", s->baseline->model->params.fields[i].name);
    if (taken) printf("\n");
    for (size_t i = 0; i < s->n_constraints; i++)
        if (!space_constraint_applies(sp, i)) printf("  the constraint %s does not apply\n", s->constraints[i].name);
    for (size_t i = 0; i < s->n_derived; i++)
        if (!space_derived_applies(sp, i)) printf("  the derived column %s has no value\n", s->derived[i].name);
}

static bool show_size(const struct sweep_file *s, size_t m, struct diags *diags)
{
    struct space *sp = space_new(s, m, UINT64_MAX, diags);
    if (!sp) return false;
    size_t columns;
    space_columns(sp, &columns);
    printf("  a row has %zu columns; about %.3g MB of database%s\n", columns, (double)space_count(sp) * (double)columns * 8.5 / 1e6,
           s->search.method != SEARCH_NONE || s->keep != KEEP_ALL ? ", if every point had a row" : "");
    print_comparison(s, sp);
    space_free(sp);
    return true;
}

/* ", 1.2 ms each: 35 s on one core": what rows at event level take. */
static void print_cost(const struct sweep_outlook *o, uint64_t rows)
{
    char each[32], all[32];
    if (isnan(o->run_seconds)) return;
    if (o->run_seconds < 1)
        snprintf(each, sizeof each, "%.2g ms", 1e3 * o->run_seconds);
    else
        progress_duration(each, o->run_seconds);
    printf(", %s%s each: %s on one core", o->longer ? "more than " : "", each,
           progress_duration(all, o->run_seconds * (double)rows));
}

/* What event level will cost: for each point, or for the front and its neighbours. */
static bool print_outlook(const struct sweep_file *s, struct diags *diags)
{
    struct sweep_outlook o;
    char rows[TEXT_NUMBER_MAX], front[TEXT_NUMBER_MAX], near[TEXT_NUMBER_MAX], sampled[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
    if (!sweep_outlook(s, (uint64_t)SWEEP_POINTS_MAX, &o, diags)) return false;
    if (!s->refine) {
        printf("event level: %s rows", text_about_count(rows, (double)o.points));
        print_cost(&o, o.points);
        printf("\n");
        return true;
    }
    uint64_t first = o.front + o.neighbours;
    printf("event level: %s points are on the front of the closed form%s%s%s, and have %s neighbours: up to %s rows",
           text_count(front, o.front), o.sampled < o.points ? " of a sample of " : "",
           o.sampled < o.points ? text_count(sampled, o.sampled) : "", o.sampled < o.points ? " points" : "",
           text_count(near, o.neighbours), text_count(rows, first));
    print_cost(&o, first);
    printf("\n"
           "  more where event level is slower, because the points behind such a point are evaluated, too; at most %s rows\n",
           text_count(limit, s->refine_runs));
    return true;
}

/* What is not evaluated, or not stored. */
static void print_search(const struct sweep_file *s)
{
    char n[TEXT_NUMBER_MAX];
    const struct search_section *o = &s->search;
    if (o->method != SEARCH_NONE)
        printf("search: %s%s%s\n", search_names[o->method], o->evaluations ? ", evaluations of each model: " : "",
               o->evaluations ? text_count(n, o->evaluations) : "");
    if (s->keep == KEEP_FRONT) printf("only rows of the front are stored\n");
    if (s->keep == KEEP_SAMPLE)
        printf("only rows of the front and of a sample of %s points are stored\n", text_count(n, s->keep_points));
}

int dry_run(const struct sweep_file *s, struct diags *diags)
{
    bool ok = true, small = true;
    for (size_t m = 0; m < s->n_models; m++) {
        char count[TEXT_NUMBER_MAX];
        uint64_t n = space_points_of(s, m);
        printf("%s: %s%s points\n", s->bindings[m]->model->desc->name, n == UINT64_MAX ? "more than " : "",
               text_about_count(count, (double)n));
        print_axes(s->bindings[m]);
        small = can_build(s, m) && small;
        ok = (can_build(s, m) ? show_size(s, m, diags) : space_check(s, m, diags)) && ok;
    }
    if (s->sample.method != SAMPLE_GRID)
        printf("sample: %s, seed %llu%s\n", sample_names[s->sample.method], (unsigned long long)s->sample.seed,
               s->sample.scramble ? ", scrambled" : "");
    print_search(s);
    if (s->known_quality) printf("quality is known: a point whose loss nobody measured is infeasible\n");
    char *budget = budget_text(&s->budget);
    printf("quality: %s; designs that lose more are on no front\n", budget);
    free(budget);
    if (s->equal_text) printf("equal: %s\n", s->equal_text);
    char *baseline = sweep_baseline_text(s);
    if (baseline) printf("baseline: %s\n", baseline);
    free(baseline);
    char *requests = sweep_requests_description(s);
    if (requests) printf("requests: %s\n", requests);
    free(requests);
    if (ok && small && (s->refine || s->fidelity == FIDELITY_EVENT_LEVEL)) ok = print_outlook(s, diags);
    return ok ? 0 : 2;
}
