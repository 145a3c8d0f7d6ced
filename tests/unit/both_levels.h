/* A point of a model in closed form and at event level, for the tests of event levels. */
#ifndef BOTH_LEVELS_H
#define BOTH_LEVELS_H

#include "model_points.h"
#include "sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ALL_IDEAL = DSE_IDEAL_FIFOS | DSE_IDEAL_REFRESH | DSE_IDEAL_DRAM | DSE_IDEAL_DRAWS | DSE_IDEAL_SYNC };
enum { LEVEL_BYTES = 2048, NOTES_MAX = 32, SETTINGS_MAX = 24 };

struct both_levels {
    const struct model *model;
    _Alignas(16) char params[LEVEL_BYTES], closed[LEVEL_BYTES], events[LEVEL_BYTES];
    struct dse_breakdown closed_parts, events_parts;
    uint64_t handled; /* events */
    size_t n_notes;
    struct sim_note note[NOTES_MAX];
};

/* The same point again. */
static inline void run_events(struct both_levels *b, unsigned ideal)
{
    struct dse_sim *sim = sim_new(&(struct sim_options){.ideal = ideal});
    b->events_parts.n = b->events_parts.n_causes = 0;
    bool ok = b->model->desc->simulate(b->params, sim, b->events, &b->events_parts);
    if (!ok) fail_msg("%s", dse_sim_error(sim));
    sim_finish(sim);
    b->handled = sim_events(sim);
    b->n_notes = sim_notes(sim);
    assert_true(b->n_notes <= NOTES_MAX);
    for (size_t i = 0; i < b->n_notes; i++) b->note[i] = sim_note(sim, i);
    sim_free(sim);
}

/* The defaults with `settings` ("llm=llama3-8b batch=2"), which must be feasible. */
static inline void both_levels(struct both_levels *b, const char *model, const char *settings, unsigned ideal)
{
    char *text = xstrdup(settings), *list[SETTINGS_MAX];
    const size_t n = settings_split(text, list, SETTINGS_MAX);
    memset(b, 0, sizeof *b);
    b->model = registry_find(model);
    struct one o;
    bool ok = one_init(&o, b->model, list, n);
    if (!ok) diags_print(&diags, stderr, false);
    assert_true(ok);
    const struct dse_model *m = b->model->desc;
    assert_true(m->params_size <= LEVEL_BYTES && m->metrics_size <= LEVEL_BYTES);
    memcpy(b->params, space_fixed(o.space), m->params_size);
    one_release(&o);
    const char *why = m->check(b->params);
    if (why) fail_msg("%s: %s", settings, why);
    m->estimate(b->params, b->closed, &b->closed_parts);
    run_events(b, ideal);
    free(text);
}

static inline double metric_of(const struct both_levels *b, const void *metrics, const char *name)
{
    const struct field *f = schema_find(&b->model->metrics, name);
    if (!f) {
        fail_msg("no metric %s", name);
        return 0;
    }
    double v;
    memcpy(&v, (const char *)metrics + f->offset, sizeof v);
    return v;
}

static inline double closed_metric(const struct both_levels *b, const char *name)
{
    return metric_of(b, b->closed, name);
}

static inline double event_metric(const struct both_levels *b, const char *name)
{
    return metric_of(b, b->events, name);
}

static inline const struct dse_part *part_of(const struct dse_breakdown *b, const char *name)
{
    for (int i = 0; i < b->n; i++)
        if (strcmp(b->part[i].name, name) == 0) return &b->part[i];
    fail_msg("no part %s", name);
    return NULL;
}

static inline double note_of(const struct both_levels *b, const char *name)
{
    for (size_t i = 0; i < b->n_notes; i++)
        if (strcmp(b->note[i].name, name) == 0) return b->note[i].value;
    fail_msg("no note %s", name);
    return 0;
}

/* Times of depth 0 are the latency; those of a deeper level what they detail; all bytes and operations are those of the closed
 * form, but for whole bursts at the ends of streams. */
static inline void assert_parts(const struct both_levels *b, double burst_share)
{
    double us = 0, bytes = 0, ops = 0;
    assert_int_equal(b->events_parts.n, b->closed_parts.n);
    for (int i = 0; i < b->events_parts.n; i++) {
        const struct dse_part *e = &b->events_parts.part[i], *c = &b->closed_parts.part[i];
        assert_string_equal(e->name, c->name);
        assert_true(isfinite(e->time_us) && e->time_us >= 0 && isfinite(e->energy_mj) && e->energy_mj >= 0);
        if (fabs(e->dram_bytes - c->dram_bytes) > burst_share * c->dram_bytes + 1e-6)
            fail_msg("%s: %.17g bytes, not %.17g", e->name, e->dram_bytes, c->dram_bytes);
        if (fabs(e->ops - c->ops) > 1e-9 * c->ops) fail_msg("%s: %.17g operations, not %.17g", e->name, e->ops, c->ops);
        if (e->depth == 0) {
            us += e->time_us;
            bytes += e->dram_bytes;
            ops += e->ops;
            double inside = 0;
            int k = i + 1;
            for (; k < b->events_parts.n && b->events_parts.part[k].depth == 1; k++) inside += b->events_parts.part[k].time_us;
            if (k > i + 1 && fabs(inside - e->time_us) > 1e-9 * e->time_us)
                fail_msg("%s: %g us inside %g", e->name, inside, e->time_us);
        }
    }
    double latency = event_metric(b, "latency_us");
    if (fabs(us - latency) > 1e-9 * latency) fail_msg("parts of %.17g us make %.17g", us, latency);
    assert_true(bytes > 0 && ops > 0);
}

/* Every metric of both levels has a value in the same places. */
static inline void assert_finite(const struct both_levels *b, const char *what)
{
    for (size_t i = 0; i < b->model->metrics.n; i++) {
        const struct field *f = &b->model->metrics.fields[i];
        if (f->type != DSE_TYPE_F64) continue;
        double c = metric_of(b, b->closed, f->name), e = metric_of(b, b->events, f->name);
        if (isfinite(c) != isfinite(e)) fail_msg("%s: %s is %g in closed form and %g at event level", what, f->name, c, e);
    }
}

#endif
