/* A design point: the lengths of the cache (E5, E6), what it holds, and why it may not run. */
#include "veda_llms.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

bool veda_can(const struct dse_eviction *policy)
{
    return !policy->selects && !policy->reads_part;
}

struct dse_cache_steps veda_cache_steps(const struct veda_params *p)
{
    return dse_cache_steps_of(&p->cache, &p->workload, &p->request);
}

/* E5: one step at `context`, with a cache of what eviction leaves of it. */
static void span_of_step(struct veda_point *pt, double context)
{
    pt->longest = pt->p->cache.boundary == DSE_CACHE_AS_LISTED ? context : dse_min(context, pt->target);
    pt->held = pt->p->cache.boundary == DSE_CACHE_STREAMED ? pt->longest : context;
    pt->span = (struct veda_span){.flat = 1, .flat_length = pt->longest, .mean_of = 1};
}

/* E5: the mean step of a generation. */
static void span_of_generation(struct veda_point *pt, double prompt, double generate)
{
    double end = prompt + generate;
    pt->span = (struct veda_span){.from = prompt, .to = end, .mean_of = generate};
    pt->longest = end;
    if (!pt->policy->keeps_all) {
        double stays = pt->p->cache.boundary == DSE_CACHE_AS_LISTED ? prompt : pt->target;
        double growing = dse_clamp(stays - prompt, 0, generate);
        pt->span.to = prompt + growing;
        pt->span.flat = generate - growing;
        pt->span.flat_length = dse_min(stays, end);
        pt->longest = dse_min(stays, end);
    }
    const bool streamed = !pt->policy->keeps_all && pt->p->cache.boundary == DSE_CACHE_STREAMED;
    pt->held = streamed ? pt->longest : dse_max(prompt, pt->longest);
}

/* E5: a prompt, causal. */
static void span_of_prefill(struct veda_point *pt, double context)
{
    pt->held = pt->longest = pt->queries = context;
    pt->pairs = context * (context + 1) / 2;
    if (pt->p->causal == VEDA_SKIPPED)
        pt->span = (struct veda_span){.to = context, .mean_of = 1};
    else
        pt->span = (struct veda_span){.flat = context, .flat_length = context, .mean_of = 1};
}

static void set_span(struct veda_point *pt)
{
    const struct veda_params *p = pt->p;
    double context = (double)p->workload.context, prompt = (double)p->request.prompt, generate = (double)p->request.generate;
    bool generation = !pt->prefill && generate > 0;
    pt->target = pt->policy->keeps_all ? (double)INFINITY : dse_cache_target(&p->cache, generation ? prompt : context);
    pt->queries = 1;
    if (pt->prefill)
        span_of_prefill(pt, context);
    else if (generation)
        span_of_generation(pt, prompt, generate);
    else
        span_of_step(pt, context);
    pt->positions = veda_span_sum(&pt->span, 1);
    if (!pt->prefill) pt->pairs = pt->positions;
}

void veda_point_rows(struct veda_point *pt, double row_bytes)
{
    const struct veda_params *p = pt->p;
    const bool rows = p->gather == VEDA_GATHER_ROWS && row_bytes > 0 && !dse_dram_check(&p->dram);
    pt->row_bytes = row_bytes;
    pt->pair_bytes = 2 * row_bytes;
    pt->row_s = rows ? dse_dram_seconds(&p->dram, 1, row_bytes) : pt->stream_s;
    pt->row_factor = rows ? dse_dram_moved(&p->dram, 1, row_bytes) : 1;
}

static void set_memory(struct veda_point *pt)
{
    const struct veda_params *p = pt->p;
    pt->stream_s = dse_dram_stream_seconds(&p->dram, 1);
    veda_point_rows(pt, dse_kv_row_bytes(&p->workload));
    pt->buffer_bytes = p->buffer_kib * DSE_KIB;
    pt->activation_bytes = VEDA_ACTIVATION_BYTES * (double)(pt->llm->hidden + pt->llm->ffn);
}

void veda_point_init(struct veda_point *ret, const struct veda_params *p)
{
    const struct dse_llm *llm = p->workload.llm;
    *ret = (struct veda_point){
        .p = p,
        .llm = llm,
        .prefill = p->workload.phase == DSE_PREFILL,
        .policy = dse_eviction_at(p->cache.eviction),
        .layers = (double)llm->layers,
        .batch = (double)p->workload.batch,
        .d = (double)llm->head_dim,
        .kv_heads = (double)llm->kv_heads,
        .group = llm->kv_heads > 0 ? dse_ceil((double)llm->heads / (double)llm->kv_heads) : 1,
        .devices = (double)p->devices,
        .device_kv_heads = dse_ceil((double)llm->kv_heads / (double)p->devices),
        .clock_hz = p->clock_ghz * DSE_GIGA,
    };
    veda_array_init(&ret->array, p);
    set_span(ret);
    set_memory(ret);
    ret->tokens = ret->batch * ret->queries;
}

void veda_point_keep_all(struct veda_point *pt)
{
    pt->policy = dse_eviction_at(0);
    set_span(pt);
}

double veda_footprint(const struct veda_point *pt)
{
    struct dse_workload w = pt->p->workload;
    w.context = (int64_t)pt->held;
    return dse_workload_footprint(&w) * (double)dse_workload_chips(&w);
}

/* Positions that the LLM sees. */
static const char *check_context(const struct veda_point *pt)
{
    struct dse_workload w = pt->p->workload;
    const struct dse_request *r = &pt->p->request;
    if (!pt->prefill && r->generate > 0) w.context = r->prompt + r->generate;
    return dse_workload_check(&w, DSE_CAN_ALL & ~DSE_CAN_ACTIVATIONS);
}

static const char *check_eviction(const struct veda_point *pt)
{
    const struct dse_cache_steps steps = veda_cache_steps(pt->p);
    const double seen = pt->prefill ? (double)pt->p->workload.context : steps.before;
    const char *why = dse_cache_check(&pt->p->cache, &pt->p->workload, seen);
    if (why) return why;
    if (pt->p->cache.kv_format != DSE_KV_TOKEN)
        return "the array needs keys and values of one width, without scales per channel (kv_format)";
    if (!veda_can(pt->policy))
        return "the voting engine evicts one position per step: it cannot select from a prompt or choose pages (eviction)";
    if (pt->policy->counts && pt->held > (double)pt->p->vote_fifo)
        return "the voting engine's FIFO is shorter than the cache (vote_fifo)";
    return NULL;
}

static const char no_room[] = "weights and KV cache do not fit the DRAM (capacity_gib)",
                  no_buffer[] = "the on-chip buffer does not hold the vectors of one token (buffer_kib)";

const char *veda_point_check(const struct veda_point *pt)
{
    const struct veda_params *p = pt->p;
    const char *why = check_context(pt);
    if (!why) why = check_eviction(pt);
    if (!why) why = dse_dram_check(&p->dram);
    if (why) return why;
    if (p->dataflow == VEDA_ADDER_TREE && p->softmax == VEDA_ELEMENT_SERIAL)
        return "element-serial softmax needs the flexible dataflow (softmax, dataflow)";
    if (!veda_is_simple(&p->workload)) return NULL; /* veda_layers_check */
    if (pt->activation_bytes > pt->buffer_bytes) return no_buffer;
    if (veda_footprint(pt) > pt->devices * p->dram.capacity_gib * DSE_GIB) return no_room;
    return NULL;
}

bool veda_point_shortage(const struct veda_point *pt, const char *reason, struct dse_shortage *ret)
{
    if (reason == no_buffer)
        *ret = (struct dse_shortage){pt->activation_bytes / DSE_KIB, pt->buffer_bytes / DSE_KIB, "KiB"};
    else
        *ret = (struct dse_shortage){veda_footprint(pt) / DSE_GIB, pt->devices * pt->p->dram.capacity_gib, "GiB"};
    return reason == no_buffer || reason == no_room;
}
