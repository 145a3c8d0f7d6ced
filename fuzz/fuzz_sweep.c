/* Sweep files: whatever the bytes, errors or a sweep whose every value is within its parameter's range. */
#include "config/sweep_file.h"
#include "toy_catalog.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_given(const struct field *f, const struct given *g)
{
    need(g->n > 0);
    need((g->values != NULL) == (g->n <= BIND_VALUES_MAX));
    for (uint64_t i = 0; g->values && i < g->n; i++) {
        struct value v = g->values[i];
        if (f->type == DSE_TYPE_F64) need(v.f64 >= f->min && v.f64 <= f->max);
        if (f->type == DSE_TYPE_I64) need((double)v.i64 >= f->min && (double)v.i64 <= f->max);
        if (f->type == DSE_TYPE_REF) need(v.ref != NULL);
        if (f->type == DSE_TYPE_ENUM) need(f->choices[v.choice] != NULL);
    }
}

/* A mix is there, or none was asked for: whole requests that models take, with shares of all of them. */
static void check_requests(const struct sweep_file *s)
{
    need(s->averages == (s->requests.n > 0) && s->averages == (s->requests_text != NULL));
    double sum = 0;
    for (size_t i = 0; i < s->requests.n; i++) {
        const struct mixed_request *q = &s->requests.requests[i];
        need(q->prompt >= 1 && q->generate >= 1 && q->share >= 0 && q->share <= 1);
        sum += q->share;
    }
    need(!s->averages || (sum > 0.999999 && sum < 1.000001));
}

/* A sample has points; without one no axis is continuous; a search has a population. */
static void check_points(const struct sweep_file *s)
{
    const bool sampled = s->sample.method != SAMPLE_GRID, searched = s->search.method != SEARCH_NONE;
    need(!sampled || (s->sample.points > 0 && !searched));
    need(!searched || (s->search.population >= 4 && s->fidelity == FIDELITY_CLOSED_FORM && !s->refine));
    need(s->keep == KEEP_ALL || (s->keep_points > 0 && s->fidelity == FIDELITY_CLOSED_FORM && !s->refine));
    for (size_t m = 0; m < s->n_models; m++)
        for (size_t i = 0; i < s->bindings[m]->model->params.n; i++) {
            const struct given *g = &s->bindings[m]->given[i];
            need(!g->continuous || (sampled && g->n == 2 && g->values[0].f64 < g->values[1].f64));
        }
}

static void check_sweep(const struct sweep_file *s)
{
    need(s->name && *s->name && s->question && s->n_models > 0 && s->n_objectives > 0);
    for (size_t m = 0; m < s->n_models; m++) {
        const struct binding *b = s->bindings[m];
        for (size_t i = 0; i < b->model->params.n; i++)
            if (b->given[i].is_given) check_given(&b->model->params.fields[i], &b->given[i]);
    }
    need(s->compares == (s->baseline != NULL));
    for (size_t i = 0; s->baseline && i < s->baseline->model->params.n; i++)
        if (s->baseline->given[i].is_given) {
            check_given(&s->baseline->model->params.fields[i], &s->baseline->given[i]);
            need(s->baseline->given[i].n == 1);
        }
    check_requests(s);
    check_points(s);
    for (size_t i = 0; i < s->n_constraints; i++) need(s->constraints[i].loc.line > 0 && s->constraints[i].loc.column > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct diags d;
    diags_init(&d);
    struct catalog *c = toy_catalog();
    struct sweep_file *s = sweep_file_read_text("fuzz", (const char *)data, n, c, toy_data_dir(), &d);
    need(s || d.errors == 1);
    need(diags_exit_status(&d) == (d.errors ? 2 : 0));
    if (d.errors == 0) check_sweep(s);
    char *printed = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&printed, &size);
    need(f != NULL);
    diags_print(&d, f, true);
    fclose(f);
    free(printed);
    sweep_file_free(s);
    diags_release(&d);
    return 0;
}
