#include "base/text.h"
#include "base/xalloc.h"
#include "measure/meter.h"

#include <stdlib.h>

const char *const meter_kind_names[] = {"bandwidth", "gemm", "attention", "launch", "power", NULL};
const char *const meter_work_names[] = {"read",        "write",        "copy",       "matmul", "attention", "launch_stream",
                                        "launch_node", "launch_graph", "round_trip", "idle",   NULL};
const char *const meter_format_names[] = {"fp16", "bf16", NULL};

enum { HEAD_DIM = 128, BYTES_OF_NUMBER = 2, SPLIT_IN = 3 };
static const int64_t MIB = 1 << 20, GIB = 1 << 30;
static const int64_t KV_BYTES_MAX = (int64_t)16 << 30;
static const double MAKE_READY_S = 0.2;

struct plan {
    const struct meter_options *options;
    struct meter_point *points;
    size_t n, of_kind[METER_KINDS]; /* of_kind: with those that are not asked for */
};

/* Every third point of a kind may be fitted to, whatever else is measured. */
static void add(struct plan *plan, struct meter_point p)
{
    const struct meter_options *o = plan->options;
    p.calibrate = plan->of_kind[p.kind]++ % SPLIT_IN == 1;
    p.seconds = o->seconds * (p.kind == METER_POWER ? METER_POWER_FACTOR : 1);
    if (!(o->kinds >> p.kind & 1) || (p.clock_share > 0 && !o->clocks)) return;
    plan->points = xrealloc(plan->points, plan->n + 1, sizeof *plan->points);
    plan->points[plan->n++] = p;
}

static void add_bandwidths(struct plan *plan)
{
    const int64_t sizes[] = {4 * MIB, 16 * MIB, 64 * MIB, 256 * MIB, GIB, 4 * GIB};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (enum meter_work w = METER_READ; w <= METER_COPY; w++)
            if (w == METER_READ || i % 2 == 0)
                add(plan, (struct meter_point){.kind = METER_BANDWIDTH, .work = w, .bytes = sizes[i]});
}

/* The layers of Llama 3 8B (n x k: QKV, output, gate and up, down, output head), a square one, and shares of Llama 3 70B on eight
 * GPUs; fp16 of two of them. */
static void add_gemms(struct plan *plan)
{
    static const int64_t shapes[][2] = {{6144, 4096},   {4096, 4096}, {28672, 4096}, {4096, 14336},
                                        {128256, 4096}, {8192, 8192}, {1280, 8192},  {8192, 1024}},
                         half[][2] = {{4096, 4096}, {28672, 4096}};
    enum { LARGEST_M = 4096, HEAD_M = 512, HEAD_N = 100000 };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (int64_t m = 1; m <= (shapes[i][0] > HEAD_N ? HEAD_M : LARGEST_M); m *= 2)
            add(plan,
                (struct meter_point){
                    .kind = METER_GEMM, .work = METER_MATMUL, .format = METER_BF16, .m = m, .n = shapes[i][0], .k = shapes[i][1]});
    for (size_t i = 0; i < sizeof half / sizeof *half; i++)
        for (int64_t m = 1; m <= LARGEST_M; m *= 4)
            add(plan,
                (struct meter_point){
                    .kind = METER_GEMM, .work = METER_MATMUL, .format = METER_FP16, .m = m, .n = half[i][0], .k = half[i][1]});
}

/* Heads of Llama 2 7B, Llama 3 8B and 70B, and the share of 70B on eight GPUs. */
static void add_attention(struct plan *plan)
{
    static const int64_t heads[][2] = {{32, 32}, {32, 8}, {64, 8}, {8, 1}}, batches[] = {1, 4, 16, 64, 256};
    enum { SHORTEST = 128, LONGEST = 131072 };
    for (size_t h = 0; h < sizeof heads / sizeof *heads; h++)
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++)
            for (int64_t context = SHORTEST; context <= LONGEST; context *= 4) {
                struct meter_point p = {.kind = METER_ATTENTION,
                                        .work = METER_DECODE,
                                        .batch = batches[b],
                                        .context = context,
                                        .heads = heads[h][0],
                                        .kv_heads = heads[h][1],
                                        .head_dim = HEAD_DIM};
                if (meter_point_bytes(&p) <= (double)KV_BYTES_MAX) add(plan, p);
            }
}

/* What the board draws: streaming, computing, and both in turn. */
static void add_power(struct plan *plan)
{
    static const double shares[] = {0, 0.9, 0.75, 0.6, 0.45, 0.3};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        const struct meter_point base = {.kind = METER_POWER, .clock_share = shares[i]};
        struct meter_point read = base, matmul = base, decode = base;
        read.work = METER_READ, read.bytes = 4 * GIB;
        matmul.work = METER_MATMUL, matmul.format = METER_BF16, matmul.m = matmul.n = matmul.k = 8192;
        add(plan, read);
        add(plan, matmul);
        if (i) continue;
        decode.work = METER_DECODE, decode.batch = 64, decode.context = 8192, decode.heads = 32, decode.kv_heads = 8,
        decode.head_dim = HEAD_DIM;
        add(plan, decode);
    }
}

struct meter_point *meter_plan(const struct meter_options *options, size_t *ret_n)
{
    struct plan plan = {.options = options};
    add(&plan, (struct meter_point){.kind = METER_POWER, .work = METER_IDLE});
    add_bandwidths(&plan);
    add_gemms(&plan);
    add_attention(&plan);
    for (enum meter_work w = METER_LAUNCH_STREAM; w <= METER_ROUND_TRIP; w++)
        add(&plan, (struct meter_point){.kind = METER_LAUNCH, .work = w});
    add_power(&plan);
    *ret_n = plan.n;
    return plan.points;
}

double meter_plan_seconds(const struct meter_point *points, size_t n)
{
    double s = 0;
    for (size_t i = 0; i < n; i++) s += points[i].seconds + METER_WARM_S + MAKE_READY_S;
    return s;
}

/* ---- what a point is ----------------------------------------------------------------------------------------------------- */

double meter_point_bytes(const struct meter_point *p)
{
    switch (p->work) {
    case METER_READ:
    case METER_WRITE: return (double)p->bytes;
    case METER_COPY: return 2 * (double)p->bytes;
    case METER_MATMUL: return BYTES_OF_NUMBER * ((double)p->k * (double)(p->m + p->n) + (double)p->m * (double)p->n);
    case METER_DECODE: return 2.0 * BYTES_OF_NUMBER * (double)p->batch * (double)p->context * (double)(p->kv_heads * p->head_dim);
    default: return 0;
    }
}

double meter_point_flops(const struct meter_point *p)
{
    if (p->work == METER_MATMUL) return 2 * (double)p->m * (double)p->n * (double)p->k;
    if (p->work == METER_DECODE) return 4 * (double)p->batch * (double)p->context * (double)(p->heads * p->head_dim);
    return 0;
}

char *meter_point_text(const struct meter_point *p)
{
    struct text t;
    text_init(&t);
    text_addf(&t, "%s%s", p->kind == METER_POWER ? "power, " : "", meter_work_names[p->work]);
    if (p->bytes >= GIB)
        text_addf(&t, " %lld GiB", (long long)(p->bytes / GIB));
    else if (p->bytes)
        text_addf(&t, " %lld MiB", (long long)(p->bytes / MIB));
    if (p->work == METER_MATMUL)
        text_addf(&t, " %s %lld x %lld x %lld", meter_format_names[p->format], (long long)p->m, (long long)p->n, (long long)p->k);
    if (p->work == METER_DECODE)
        text_addf(&t, ", batch %lld, context %lld, %lld heads on %lld", (long long)p->batch, (long long)p->context,
                  (long long)p->heads, (long long)p->kv_heads);
    if (p->clock_share > 0) text_addf(&t, ", at %.0f %% of the highest clock", 100 * p->clock_share);
    return text_detach(&t);
}
