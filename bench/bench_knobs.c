/* Which parameters move what, at either fidelity: each is changed alone at random points until both fidelities have moved, or
 * TRIALS points long. Prints those that move metrics at one fidelity only, and those that move none. What a model says of them
 * (dse_model.closed_form_only) is held to it by tests/unit/test_events.c.
 *
 *     bench_knobs [MODEL [PARAMETER]] */
#include "../tests/unit/random_runs.h"

enum { TRIALS = 60 };

struct moved {
    int closed, events, runs; /* points at which it moved; runs of both that were done */
};

static struct moved try_field(struct random_runs *r, size_t which)
{
    const struct model *m = r->model;
    const struct field *f = &m->params.fields[which];
    struct moved moved = {0};
    void *first = xmalloc(m->desc->metrics_size), *closed = xmalloc(m->desc->metrics_size);
    for (uint64_t i = 0; i < TRIALS && (moved.closed == 0 || moved.events == 0); i++) {
        start_point(r, 4 * i + 1 + 1000 * which);
        if (!draw_point(r, 0, true)) continue;
        random_runs_limit(1);
        if (run_point(r) != RANDOM_DONE) continue;
        memcpy(first, r->events, m->desc->metrics_size);
        memcpy(closed, r->closed, m->desc->metrics_size);
        memcpy(r->params, r->raw, m->desc->params_size);
        change(f, r->params);
        if (field_same(f, r->raw, r->params)) continue;
        if (m->desc->resolve) m->desc->resolve(r->params);
        if (m->desc->check(r->params)) continue;
        if (run_point(r) != RANDOM_DONE) continue;
        moved.runs++;
        moved.closed += differ(m, closed, r->closed);
        moved.events += differ(m, first, r->events);
    }
    free(first);
    free(closed);
    return moved;
}

static void try_model(const struct model *m, const char *parameter)
{
    struct one small;
    char *settings[SMALL];
    if (!one_init(&small, m, settings, small_settings(m, settings))) abort();
    struct random_runs r;
    random_runs_init(&r, &small, &small, &(struct sim_options){.stop = &random_stop});
    for (size_t i = 0; i < m->params.n; i++) {
        const struct field *f = &m->params.fields[i];
        if (f->type == DSE_TYPE_REF || (parameter && strcmp(parameter, f->name) != 0)) continue;
        struct moved v = try_field(&r, i);
        if (v.closed && v.events && !parameter) continue;
        printf("%-14s %-24s %s (%d and %d of %d)\n", m->desc->name, f->name,
               v.closed && v.events ? "both"
               : v.closed           ? "closed form only"
               : v.events           ? "event level only"
                                    : "nothing",
               v.closed, v.events, v.runs);
        fflush(stdout);
    }
    random_runs_release(&r);
    one_release(&small);
}

int main(int argc, char **argv)
{
    size_t models;
    if (set_up_thin(NULL) != 0) return 1;
    const struct model *list = registry_models(&models);
    for (size_t i = 0; i < models; i++)
        if ((argc <= 1 || strcmp(argv[1], list[i].desc->name) == 0) && fidelity_of_model(list[i].desc, FIDELITY_EVENT_LEVEL))
            try_model(&list[i], argc > 2 ? argv[2] : NULL);
    return tear_down(NULL) != 0;
}
