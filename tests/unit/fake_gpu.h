/* A GPU of arithmetic for tests of measuring: its clock goes on by what the work takes, so that a whole plan takes no time. */
#ifndef DSE_TESTS_FAKE_GPU_H
#define DSE_TESTS_FAKE_GPU_H

#include "measure/meter_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fake_gpu {
    struct meter_device base;
    double time, busy_until, started, joules;
    struct meter_point point;
    uint64_t noise, starts;
    double clock; /* share of the highest */
    double last_s;
    volatile sig_atomic_t *stop; /* or NULL: is set at `stop_at` */
    /* What tests set. */
    double noise_share;  /* times vary by so much, each way */
    uint64_t slow_every; /* every so many starts take ten times as long; 0: none */
    double warm_s;       /* until then it is three times as slow */
    double stop_at;      /* of its clock; 0: never */
    int fails_at;        /* prepare of this number says that the device is dead; 0: never */
    bool may_not_set, may_not_give_back, has_no_counter, has_no_power;
    int prepared, held, given_back;
};

/* By a roofline: 1000 GB/s, 100 Tflop/s at the full clock, 2 us a launch. */
static inline double fake_operation_s(const struct fake_gpu *g, const struct meter_point *p)
{
    const double t = fmax(meter_point_bytes(p) / 1e12, meter_point_flops(p) / (1e14 * g->clock));
    return t + 2e-6;
}

static inline double fake_watts(const struct fake_gpu *g, const struct meter_point *p)
{
    return p->work == METER_IDLE ? 50 : p->work == METER_READ ? 200 + 50 * g->clock : 100 + 300 * g->clock * g->clock;
}

static inline double fake_noise(struct fake_gpu *g)
{
    g->noise = g->noise * 6364136223846793005u + 1442695040888963407u;
    return 1 + g->noise_share * (2 * (double)(g->noise >> 11) / 9007199254740992.0 - 1);
}

static inline void fake_pass(struct fake_gpu *g, double seconds)
{
    g->time += seconds;
    g->joules += seconds * fake_watts(g, &g->point);
    if (g->stop && g->stop_at > 0 && g->time >= g->stop_at) *g->stop = 1;
}

static inline enum meter_answer fake_prepare(struct meter_device *d, const struct meter_point *p)
{
    struct fake_gpu *g = (struct fake_gpu *)d;
    g->point = *p;
    fake_pass(g, 0.01);
    d->unit = p->work == METER_LAUNCH_NODE ? 1000 : 4;
    if (++g->prepared == g->fails_at) {
        snprintf(d->reason, sizeof d->reason, "an illegal address");
        return METER_DEAD;
    }
    if (meter_point_bytes(p) <= 8e9) return METER_YES;
    snprintf(d->reason, sizeof d->reason, "%.3g GiB are needed", meter_point_bytes(p) / (1 << 30));
    return METER_NO;
}

static inline enum meter_answer fake_start(struct meter_device *d, uint64_t units)
{
    struct fake_gpu *g = (struct fake_gpu *)d;
    double s = (double)(units * d->unit) * fake_operation_s(g, &g->point) * fake_noise(g);
    if (g->slow_every && ++g->starts % g->slow_every == 0) s *= 10;
    if (g->time < g->warm_s) s *= 3;
    g->started = g->time;
    g->busy_until = g->time + s;
    g->last_s = s;
    return METER_YES;
}

static inline enum meter_answer fake_wait(struct meter_device *d, double *ret_s)
{
    struct fake_gpu *g = (struct fake_gpu *)d;
    if (g->busy_until > g->time) fake_pass(g, g->busy_until - g->time);
    *ret_s = g->last_s;
    return METER_YES;
}

static inline void fake_sense(struct meter_device *d, struct meter_senses *ret)
{
    struct fake_gpu *g = (struct fake_gpu *)d;
    const bool is_hot = g->point.work == METER_MATMUL && g->clock >= 1;
    *ret = (struct meter_senses){.watts = g->has_no_power ? (double)NAN : fake_watts(g, &g->point),
                                 .joules = g->has_no_counter ? (double)NAN : g->joules,
                                 .clock_mhz = 2000 * g->clock,
                                 .celsius = 45,
                                 .limit = is_hot ? "power" : ""};
}

static inline enum meter_answer fake_hold(struct meter_device *d, double share, double *ret_mhz)
{
    struct fake_gpu *g = (struct fake_gpu *)d;
    *ret_mhz = NAN;
    if (share > 0 ? g->may_not_set : g->may_not_give_back) {
        snprintf(d->reason, sizeof d->reason, "clocks cannot be set: no permission");
        return METER_NO;
    }
    if (share > 0) *ret_mhz = 2000 * share;
    g->held += share > 0;
    g->given_back += share <= 0;
    g->clock = share > 0 ? share : 1;
    return METER_YES;
}

static inline double fake_now(struct meter_device *d)
{
    return ((struct fake_gpu *)d)->time;
}

static inline void fake_sleep(struct meter_device *d, double seconds)
{
    fake_pass((struct fake_gpu *)d, seconds);
}

static inline struct fake_gpu fake_gpu_new(void)
{
    struct fake_gpu g = {.base = {.prepare = fake_prepare,
                                  .start = fake_start,
                                  .wait = fake_wait,
                                  .sense = fake_sense,
                                  .hold_clock = fake_hold,
                                  .now = fake_now,
                                  .sleep = fake_sleep},
                         .clock = 1,
                         .noise = 1};
    g.base.machine = (struct meter_machine){.name = "NVIDIA Test, \"X\"\n# 1",
                                            .driver = "580.65",
                                            .software = "CUDA 13.0",
                                            .host = "Linux 6.1",
                                            .sms = 100,
                                            .major = 9,
                                            .capacity_gib = 80,
                                            .l2_mib = 50,
                                            .bus_bits = 5120,
                                            .clock_mhz = 2000,
                                            .limit_w = 400};
    for (int w = 0; w < METER_WORKS; w++) strcpy(g.base.machine.engines[w], w == METER_MATMUL ? "cublas 13.0.2" : "dse kernel");
    return g;
}

#endif
