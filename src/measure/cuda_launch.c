/* One operation on the GPU. */
#include "measure/cuda_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* As kernels.cu has them. */
enum { DIM = 128, DECODE_THREADS = 128, DECODE_BLOCKS = 3, ROUND = 64, SPLITS_MAX = 128 };
enum { STREAM_THREADS = 256, STREAM_BLOCKS = 8 };

static bool launch(struct cuda_device *d, cu_function f, unsigned x, unsigned y, unsigned z, unsigned threads, void **arguments)
{
    return cuda_ok(d, d->lib.driver.launch(f, x, y, z, threads, 1, 1, 0, d->stream, arguments, NULL),
                   "a kernel cannot be launched");
}

/* Blocks that fill the GPU, and go on with what comes next. */
static bool stream(struct cuda_device *d, cu_function f, void **arguments)
{
    return launch(d, f, (unsigned)(d->base.machine.sms * STREAM_BLOCKS), 1, 1, STREAM_THREADS, arguments);
}

bool cuda_fill(struct cuda_device *d, cu_pointer to, size_t bytes, enum meter_format format)
{
    unsigned long long words = bytes / sizeof(unsigned);
    unsigned seed = (unsigned)(to >> 8);
    int is_bf16 = format == METER_BF16;
    void *arguments[] = {&to, &words, &seed, &is_bf16};
    return stream(d, d->kernels.fill, arguments);
}

void *cuda_address(cu_pointer p)
{
    void *a;
    memcpy(&a, &p, sizeof a);
    return a;
}

/* Row-major out (m x n) = in (m x k) times weights (n x k) transposed, which in cuBLAS's columns is weights^T times in. */
static bool matmul(struct cuda_device *d, uint64_t copy)
{
    const struct meter_point *p = &d->point;
    const int type = p->format == METER_BF16 ? CUDA_R_16BF : CUDA_R_16F, m = (int)p->m, n = (int)p->n, k = (int)p->k;
    const float one = 1, zero = 0;
    const cu_pointer weights = d->buffers[1] + copy * 2 * (uint64_t)(p->n * p->k);
    const int r = d->lib.cublas.gemm(d->blas, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, cuda_address(weights), type, k,
                                     cuda_address(d->buffers[0]), type, k, &zero, cuda_address(d->buffers[2]), type, n,
                                     CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    if (r != 0) snprintf(d->base.reason, sizeof d->base.reason, "cuBLAS: status %d", r);
    return r == 0;
}

void cuda_split(const struct cuda_device *d, const struct meter_point *p, int *ret_splits, int *ret_per_split)
{
    const double blocks = (double)(p->batch * p->kv_heads), room = (double)(d->base.machine.sms * DECODE_BLOCKS);
    const int64_t rounds = (p->context + ROUND - 1) / ROUND, most = rounds < SPLITS_MAX ? rounds : SPLITS_MAX;
    double best = 0;
    for (int64_t s = 1; s <= most; s++) { /* how full the last wave of blocks is */
        const double waves = blocks * (double)s / room;
        best = fmax(best, waves / ceil(waves));
    }
    int64_t s = 1;
    for (; s < most; s++) {
        const double waves = blocks * (double)s / room;
        if (waves / ceil(waves) >= 0.85 * best) break;
    }
    const int64_t per = (rounds + s - 1) / s;
    *ret_per_split = (int)(per * ROUND);
    *ret_splits = (int)((rounds + per - 1) / per);
}

static bool decode(struct cuda_device *d, uint64_t copy)
{
    const struct meter_point *p = &d->point;
    const uint64_t step = 2 * (uint64_t)(p->batch * p->context * p->kv_heads * p->head_dim) * copy;
    cu_pointer q = d->buffers[0], k = d->buffers[1] + step, v = d->buffers[2] + step, out = d->buffers[3], parts = d->buffers[4],
               tops = d->buffers[5];
    int context = (int)p->context, group = (int)(p->heads / p->kv_heads), per_split = d->per_split, splits = d->splits;
    float scale = (float)(1.4426950408889634 / sqrt((double)p->head_dim)); /* scores in powers of two */
    void *arguments[] = {&q, &k, &v, &out, &parts, &tops, &context, &group, &per_split, &scale};
    void *merging[] = {&parts, &tops, &out, &splits};
    return launch(d, d->kernels.decode, (unsigned)splits, (unsigned)p->kv_heads, (unsigned)p->batch, DECODE_THREADS, arguments) &&
           (splits == 1 || launch(d, d->kernels.merge, (unsigned)(p->batch * p->heads), 1, 1, DIM, merging));
}

bool cuda_operate(struct cuda_device *d, uint64_t copy)
{
    unsigned long long n = (unsigned long long)d->point.bytes / 16;
    unsigned value = 0x3c003c00;
    void *reading[] = {&d->buffers[0], &n, &d->buffers[1]}, *writing[] = {&d->buffers[0], &n, &value},
         *copying[] = {&d->buffers[0], &d->buffers[1], &n};
    switch (d->point.work) {
    case METER_READ: return stream(d, d->kernels.read, reading);
    case METER_WRITE: return stream(d, d->kernels.write, writing);
    case METER_COPY: return stream(d, d->kernels.copy, copying);
    case METER_MATMUL: return matmul(d, copy);
    case METER_DECODE: return decode(d, copy);
    case METER_LAUNCH_STREAM:
    case METER_LAUNCH_NODE:
    case METER_LAUNCH_GRAPH:
    case METER_ROUND_TRIP: return launch(d, d->kernels.nothing, 1, 1, 1, 1, NULL);
    case METER_IDLE:
    case METER_WORKS: break;
    }
    return true;
}
