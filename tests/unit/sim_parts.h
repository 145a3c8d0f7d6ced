/* Parts of small networks, for the tests of the event level. Included after cmocka.h. */
#ifndef DSE_TESTS_SIM_PARTS_H
#define DSE_TESTS_SIM_PARTS_H

#include "sim/sim.h"

/* A service of fixed times that passes its first input on to all its outputs. */
struct fixed {
    dse_ps interval, latency;
    unsigned outputs;
};

static inline void serve_fixed(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    (void)sim;
    const struct fixed *f = object;
    ret->interval = f->interval;
    ret->latency = f->latency;
    ret->outputs = f->outputs;
    for (int i = 0; i < DSE_STAGE_PORTS; i++) out[i] = in[0];
}

/* Writes down when each item came, in order. */
struct sink {
    uint64_t item[1024];
    dse_ps when[1024];
    size_t n;
};

static inline void serve_sink(struct dse_sim *sim, void *object, const uint64_t *in, uint64_t *out, struct dse_service *ret)
{
    (void)out;
    (void)ret;
    struct sink *s = object;
    assert_true(s->n < 1024);
    s->when[s->n] = dse_sim_now(sim);
    s->item[s->n++] = in[0];
}

static inline struct dse_stage *add_fixed(struct dse_sim *sim, const char *name, struct fixed *f, struct dse_fifo *in,
                                          struct dse_fifo *out, uint32_t depth)
{
    f->outputs = out ? 1 : 0;
    return dse_stage_new(
        sim, &(struct dse_stage_spec){.name = name, .in = {in}, .out = {out}, .depth = depth, .serve = serve_fixed, .object = f});
}

static inline void add_sink(struct dse_sim *sim, struct sink *s, struct dse_fifo *in)
{
    s->n = 0;
    dse_stage_new(sim, &(struct dse_stage_spec){.name = "sink", .in = {in}, .serve = serve_sink, .object = s});
}

static inline void fill(struct dse_fifo *f, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) assert_true(dse_fifo_put(f, i));
}

/* A run of a network that fails for this reason. Frees the run. */
static inline void expect_failure(struct dse_sim *sim, enum sim_end end, const char *error)
{
    assert_false(dse_sim_run(sim));
    assert_string_equal(dse_sim_error(sim), error);
    assert_int_equal(sim_end(sim), end);
    sim_free(sim);
}

#endif
