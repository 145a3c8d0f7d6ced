/* The work of a point: its memory, its graph, its start and end. */
#include "measure/cuda_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GROUP_MAX = 8, DIM = 128, NODES = 32, LAUNCH_NODES = 1000, COPIES_MAX = 4096, L2_TIMES = 4, ALONE_TIMES = 16 };
/* A graph holds as many operations as take about this long, by very rough rates of any GPU. */
static const double GRAPH_S = 5e-4, ROUGH_BYTES_PER_S = 2e12, ROUGH_FLOPS_PER_S = 3e14;
static const double MEMORY_SHARE = 0.92;

void cuda_forget(struct cuda_device *d)
{
    const struct cu_driver *cu = &d->lib.driver;
    if (d->exec) cu->graph_exec_free(d->exec);
    if (d->graph) cu->graph_free(d->graph);
    for (int i = 0; i < CUDA_BUFFERS; i++)
        if (d->buffers[i]) cu->memory_free(d->buffers[i]);
    memset(d->buffers, 0, sizeof d->buffers);
    d->exec = NULL;
    d->graph = NULL;
    d->copies = 1;
}

/* ---- memory -------------------------------------------------------------------------------------------------------------- */

static enum meter_answer cannot(struct cuda_device *d, const char *why)
{
    snprintf(d->base.reason, sizeof d->base.reason, "%s", why);
    return METER_NO;
}

/* What goes round in copies, so that it comes from DRAM: bytes of one. */
static double rotating_bytes(const struct meter_point *p)
{
    return p->work == METER_MATMUL ? 2 * (double)p->n * (double)p->k : p->work == METER_DECODE ? meter_point_bytes(p) : 0;
}

/* Bytes of each buffer, of one copy. */
static void sizes_of(const struct cuda_device *d, double ret[CUDA_BUFFERS])
{
    const struct meter_point *p = &d->point;
    const double rows = (double)(p->batch * p->heads);
    memset(ret, 0, CUDA_BUFFERS * sizeof *ret);
    switch (p->work) {
    case METER_READ: ret[0] = (double)p->bytes, ret[1] = 4; return;
    case METER_WRITE: ret[0] = (double)p->bytes; return;
    case METER_COPY: ret[0] = ret[1] = (double)p->bytes; return;
    case METER_MATMUL:
        ret[0] = 2 * (double)p->m * (double)p->k;
        ret[1] = rotating_bytes(p) * (double)d->copies;
        ret[2] = 2 * (double)p->m * (double)p->n;
        return;
    case METER_DECODE:
        ret[0] = ret[3] = 2 * DIM * rows;
        ret[1] = ret[2] = 0.5 * rotating_bytes(p) * (double)d->copies;
        ret[4] = d->splits > 1 ? 4 * DIM * rows * d->splits : 4;
        ret[5] = d->splits > 1 ? 8 * rows * d->splits : 4;
        return;
    default: return;
    }
}

/* Take the memory and fill it. */
static enum meter_answer take_memory(struct cuda_device *d)
{
    const struct cu_driver *cu = &d->lib.driver;
    double sizes[CUDA_BUFFERS], sum = 0;
    size_t left = 0, total = 0;
    if (!cuda_ok(d, cu->memory_info(&left, &total), "memory of the GPU")) return METER_DEAD;
    sizes_of(d, sizes);
    for (int i = 0; i < CUDA_BUFFERS; i++) sum += sizes[i];
    if (sum > MEMORY_SHARE * (double)left) {
        snprintf(d->base.reason, sizeof d->base.reason, "%.3g GiB of memory are needed, %.3g GiB are free", sum / (1 << 30),
                 (double)left / (1 << 30));
        return METER_NO;
    }
    for (int i = 0; i < CUDA_BUFFERS; i++) {
        if (sizes[i] <= 0) continue;
        const size_t bytes = ((size_t)sizes[i] + 255) / 256 * 256;
        if (!cuda_ok(d, cu->memory_take(&d->buffers[i], bytes), "memory of the GPU")) return METER_NO;
        if (!cuda_fill(d, d->buffers[i], bytes, d->point.work == METER_MATMUL ? d->point.format : METER_FP16)) return METER_DEAD;
    }
    return cuda_ok(d, cu->stream_wait(d->stream), "filling memory") ? METER_YES : METER_DEAD;
}

/* ---- graphs -------------------------------------------------------------------------------------------------------------- */

static uint64_t nodes_for(const struct cuda_device *d)
{
    const struct meter_point *p = &d->point;
    if (p->work == METER_LAUNCH_NODE) return LAUNCH_NODES;
    if (p->work == METER_LAUNCH_GRAPH) return 1;
    const double rough_s = fmax(meter_point_bytes(p) / ROUGH_BYTES_PER_S, meter_point_flops(p) / ROUGH_FLOPS_PER_S);
    const uint64_t nodes = (uint64_t)fmin(fmax(ceil(GRAPH_S / fmax(rough_s, 1e-9)), 1), NODES);
    return (nodes + d->copies - 1) / d->copies * d->copies; /* every copy as often */
}

/* Capture the operations as a graph of `nodes`. */
static enum meter_answer capture(struct cuda_device *d, uint64_t nodes)
{
    const struct cu_driver *cu = &d->lib.driver;
    if (!cuda_ok(d, cu->capture_begin(d->stream, CU_CAPTURE_RELAXED), "a graph")) return METER_DEAD;
    bool ok = true;
    for (uint64_t i = 0; ok && i < nodes; i++) ok = cuda_operate(d, i % d->copies);
    if (!cuda_ok(d, cu->capture_end(d->stream, &d->graph), "a graph") || !ok) return METER_NO;
    if (!cuda_ok(d, cu->graph_make(&d->exec, d->graph, 0), "a graph")) return METER_NO;
    d->base.unit = nodes;
    return METER_YES;
}

/* Can this GPU do it at all? Chooses the copies and, of attention, the splits. */
static enum meter_answer choose(struct cuda_device *d)
{
    const struct meter_point *p = &d->point;
    if (p->work == METER_MATMUL && !d->blas) return cannot(d, "it needs cuBLAS");
    if (p->work == METER_DECODE) {
        if (!d->kernels.decode) return cannot(d, "its kernel needs compute capability 8.0");
        if (p->head_dim != DIM || p->heads % p->kv_heads || p->heads / p->kv_heads > GROUP_MAX)
            return cannot(d, "its kernel has heads of 128 and at most 8 on a KV head");
        cuda_split(d, p, &d->splits, &d->per_split);
    }
    const double bytes = rotating_bytes(p), far = L2_TIMES * (double)d->l2_bytes;
    const bool is_alone = bytes <= 0 || bytes > ALONE_TIMES * (double)d->l2_bytes; /* it leaves next to nothing in the cache */
    d->copies = is_alone ? 1 : (uint64_t)fmin(fmax(ceil(far / bytes), 2), COPIES_MAX);
    return METER_YES;
}

enum meter_answer cuda_prepare(struct meter_device *base, const struct meter_point *p)
{
    struct cuda_device *d = (struct cuda_device *)base;
    cuda_forget(d);
    d->point = *p;
    base->unit = 1;
    if (p->work == METER_IDLE) return METER_YES;
    enum meter_answer a = choose(d);
    if (a == METER_YES) a = take_memory(d);
    if (a != METER_YES) return a;
    if (!cuda_operate(d, 0)) return METER_NO; /* once by itself: libraries load their kernels then */
    if (!cuda_ok(d, d->lib.driver.stream_wait(d->stream), "the first operation")) return METER_DEAD;
    if (p->work == METER_LAUNCH_STREAM || p->work == METER_ROUND_TRIP) return METER_YES;
    return capture(d, nodes_for(d));
}

/* ---- running ------------------------------------------------------------------------------------------------------------- */

/* Launches, each waited for: nothing is left to wait for then. */
static bool round_trips(struct cuda_device *d, uint64_t n)
{
    const double begin = d->base.now(&d->base);
    bool ok = true;
    for (uint64_t i = 0; ok && i < n; i++)
        ok = cuda_operate(d, 0) && cuda_ok(d, d->lib.driver.stream_wait(d->stream), "waiting for a kernel");
    d->host_s = d->base.now(&d->base) - begin;
    return ok;
}

enum meter_answer cuda_start(struct meter_device *base, uint64_t units)
{
    struct cuda_device *d = (struct cuda_device *)base;
    const struct cu_driver *cu = &d->lib.driver;
    if (d->point.work == METER_ROUND_TRIP) return round_trips(d, units) ? METER_YES : METER_DEAD;
    bool ok = cuda_ok(d, cu->event_record(d->begin, d->stream), "an event");
    for (uint64_t i = 0; ok && i < units; i++)
        ok = d->exec ? cuda_ok(d, cu->graph_launch(d->exec, d->stream), "a graph cannot be launched") : cuda_operate(d, 0);
    ok = ok && cuda_ok(d, cu->event_record(d->end, d->stream), "an event");
    return ok ? METER_YES : METER_DEAD;
}

enum meter_answer cuda_wait(struct meter_device *base, double *ret_s)
{
    struct cuda_device *d = (struct cuda_device *)base;
    const struct cu_driver *cu = &d->lib.driver;
    float ms = 0;
    *ret_s = d->host_s;
    if (d->point.work == METER_ROUND_TRIP) return METER_YES;
    if (!cuda_ok(d, cu->event_wait(d->end), "the work failed") || !cuda_ok(d, cu->event_ms(&ms, d->begin, d->end), "its time"))
        return METER_DEAD;
    *ret_s = 1e-3 * (double)ms;
    return METER_YES;
}
