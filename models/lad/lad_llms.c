/* A step of what the paper's machine does not know: lad_llms.h. */
#include "lad_llms.h"

#include <dse/num.h>
#include <dse/units.h>

bool lad_is_simple(const struct dse_workload *w)
{
    return !dse_workload_unknown(w, 0);
}

static double activation_bytes(const struct lad_point *pt)
{
    return (double)pt->p->cache_bits / DSE_BITS_PER_BYTE;
}

static struct dse_workload workload_of(const struct lad_point *pt, double batch)
{
    struct dse_workload w = pt->p->workload;
    w.batch = (int64_t)batch;
    return w;
}

static int64_t read_of(const struct lad_point *pt)
{
    return pt->cache.prefill ? -1 : (int64_t)pt->cache.read;
}

static void expand(const struct lad_point *pt, const struct dse_workload *w, struct dse_oplist *ret)
{
    dse_workload_expand_reading(w, read_of(pt), ret);
}

void lad_llms_expand(const struct lad_point *pt, double batch, const struct dse_draw *draw, struct dse_oplist *ret)
{
    const struct dse_workload w = workload_of(pt, batch);
    if (draw)
        dse_workload_expand_drawn(&w, read_of(pt), draw, ret);
    else
        expand(pt, &w, ret);
}

double lad_llms_sequences(const struct lad_point *pt, double batch)
{
    const struct dse_workload w = workload_of(pt, batch);
    return (double)dse_workload_sequences(&w);
}

/* ---- LAD's attention: E43 ------------------------------------------------------------------------------------------------- */

/* Does LAD's decoding work on it? */
static bool is_local(const struct lad_point *pt, const struct dse_attention *a)
{
    return pt->locality_aware && a->mixer == DSE_FULL && !a->is_draft && a->queries == 1;
}

/* Of so many rows on their way through a tile: E15. */
static double resident_activations(const struct lad_point *pt, double rows)
{
    return (double)pt->p->resident_activations * rows * (double)pt->llm->hidden * activation_bytes(pt);
}

/* A chip as LAD's attention of these sequences sees it, beside `others`. *p is written where their context is another one. */
static const char *point_of(const struct lad_point *pt, const struct dse_attention *a, double others, struct lad_params *p,
                            struct lad_point *ret)
{
    *ret = *pt;
    ret->is_simple = true;
    ret->layers = (double)a->layers;
    ret->head_samples = (double)(a->layers * a->heads);
    if (pt->p->group_reads == LAD_READS_UNION) ret->group = a->heads / a->kv_heads;
    ret->sram_bytes -= resident_activations(pt, others);
    if (a->context == pt->p->workload.context) return NULL;
    *p = *pt->p;
    p->workload.context = a->context;
    ret->p = p;
    ret->n = (double)a->context;
    return lad_point_read(ret);
}

static const char no_statistics[] = "attention statistics do not cover one of the contexts (context, context_spread)";

const char *lad_llms_check(const struct lad_point *pt)
{
    struct dse_oplist list;
    const struct dse_workload w = workload_of(pt, (double)pt->p->workload.batch);
    if (!pt->locality_aware) return NULL;
    expand(pt, &w, &list);
    for (int i = 0; i < list.n_attentions; i++) {
        struct lad_params p;
        struct lad_point of;
        if (is_local(pt, &list.attention[i]) && point_of(pt, &list.attention[i], 0, &p, &of)) return no_statistics;
    }
    return NULL;
}

static double sequences_of(const struct dse_attention *a)
{
    return (double)a->sequences;
}

/* Of the sums of a step that LAD's attention of all lengths adds up to. */
void lad_llms_add_local(struct lad_step *step, const struct lad_attention *a, double share)
{
    struct lad_attention *sum = &step->attention;
    double *const to[] = {&sum->time_s,       &sum->fill_s,         &sum->stage1_s,      &sum->stage4_s,
                          &sum->stage1_bytes, &sum->stage4_bytes,   &sum->centers_bytes, &sum->active_bytes,
                          &sum->others_bytes, &sum->prefetch_bytes, &sum->macs};
    const double from[] = {a->time_s,        a->fill_s,       a->stage1_s,     a->stage4_s,       a->stage1_bytes, a->stage4_bytes,
                           a->centers_bytes, a->active_bytes, a->others_bytes, a->prefetch_bytes, a->macs};
    double *const mean[] = {&sum->stages.eas,    &sum->stages.apid, &sum->stages.md, &sum->stages.ac,  &sum->compute_cycles,
                            &sum->memory_cycles, &sum->slot_cycles, &sum->active,    &sum->prefetched, &sum->hits};
    const double of[] = {a->stages.eas,    a->stages.apid, a->stages.md, a->stages.ac,  a->compute_cycles,
                         a->memory_cycles, a->slot_cycles, a->active,    a->prefetched, a->hits};
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) *to[i] += from[i];
    for (size_t i = 0; i < sizeof mean / sizeof *mean; i++) *mean[i] += share * of[i];
    for (int i = 0; i < LAD_STAGES; i++) sum->exposed_s[i] += a->exposed_s[i];
}

/* HBM time of a pass that pre-fetching for the layers of an attention may use (E14). */
static double idle_seconds(const struct lad_point *pt, const struct lad_step *s, const struct dse_attention *a)
{
    double idle = 0;
    for (int i = 0; i < s->n_ops; i++) {
        const struct lad_op *o = &s->op[i];
        const double rest = o->time_s - o->dram_s;
        if (pt->p->prefetch == LAD_PREFETCH_IDEAL && o->kind == DSE_OP_LINEAR) idle += rest;
        if (pt->p->prefetch != LAD_PREFETCH_IDEAL && o->at == a->projection) idle += rest * (double)a->layers / o->layers;
    }
    return idle;
}

static double head_samples_of(const struct dse_attention *a)
{
    return (double)(a->layers * a->heads) * sequences_of(a);
}

bool lad_llms_local(const struct lad_step *step, const struct lad_point *pt, const struct dse_oplist *list, int i,
                    struct lad_local *ret)
{
    const struct dse_attention *a = &list->attention[i];
    if (!is_local(pt, a)) return false;
    ret->of = a;
    ret->share = head_samples_of(a) / step->head_samples;
    point_of(pt, a, step->sequences - sequences_of(a), &ret->p, &ret->pt);
    struct lad_spread own; /* of a recording heads differ by other amounts at other lengths (E12, E34) */
    const bool other = ret->pt.active_cv != pt->active_cv;
    if (other) lad_spread_init(&own, ret->pt.active_cv);
    lad_attention_at(&ret->pt, other ? &own : &step->spread, sequences_of(a), idle_seconds(pt, step, a) * ret->share, &ret->closed);
    return true;
}

static void add_locality(struct lad_step *s, const struct lad_point *pt, const struct dse_oplist *list)
{
    for (int i = 0; i < list->n_attentions; i++)
        if (is_local(pt, &list->attention[i])) s->head_samples += head_samples_of(&list->attention[i]);
    for (int i = 0; i < list->n_attentions; i++) {
        struct lad_local l;
        if (!lad_llms_local(s, pt, list, i, &l)) continue;
        lad_llms_add_local(s, &l.closed, l.share);
        s->n += l.share * l.pt.n;
        s->at.centers += l.share * l.pt.at.centers;
        s->at.large += l.share * l.pt.at.large;
        s->at.active += l.share * l.pt.at.active;
        s->at.updates += l.share * l.pt.at.updates;
    }
}

/* ---- operators: E44 ------------------------------------------------------------------------------------------------------- */

/* E22: how often blocks of queries, as long as one tile's SRAM holds them and their outputs, read the positions up to their
 * ends. */
static double reads_of(const struct lad_point *pt, const struct dse_attention *a)
{
    const double queries = (double)a->queries, bytes = queries * (double)(a->key_dim + a->value_dim) * activation_bytes(pt);
    const double blocks = dse_max(1, dse_ceil(bytes / pt->sram_bytes)), seen = a->pairs / queries + (queries / blocks - 1) / 2;
    return blocks > 1 ? dse_max(1, blocks * seen / (double)a->positions) : 1;
}

/* Of one tensor of keys or values of all positions, `dim` wide: elements that heads have. */
static double elements_of(const struct dse_attention *a, double dim)
{
    return (double)(a->layers * a->sequences * a->positions) * (double)a->kv_heads * dim;
}

/* E38, E42: what a technique of the cache adds, and making numbers of one with scales. */
static void add_technique(struct lad_step *s, const struct lad_point *pt, const struct dse_attention *a, struct lad_op *o)
{
    const struct dse_cache_step *c = &pt->cache;
    const double share = (double)(a->layers * a->sequences) * (double)a->kv_heads / (double)pt->llm->kv_heads;
    const double paged = c->prefill ? 0 : c->page_bytes, keys = (double)a->key_dim;
    const double instances = (double)(a->layers * a->heads * a->sequences);
    const double bytes = share * (o->kind == DSE_OP_SCORES ? paged : dse_cache_moved(c) - paged);
    if (o->kind == DSE_OP_ELEMENTWISE) {
        o->ops += instances * c->pairs * (c->policy->drained ? 2 : 1);
        return;
    }
    if (o->kind == DSE_OP_SCORES && !c->prefill)
        o->ops += 2 * c->pages * keys *
                  (DSE_OPS_PER_MAC * instances + share * (double)pt->llm->kv_heads * dse_cache_widening(&pt->p->workload));
    o->bytes += bytes;
    s->technique_bytes += bytes;
}

static void attention_op(struct lad_step *s, const struct lad_point *pt, const struct dse_attention *a, const struct dse_op *op,
                         struct lad_op *o)
{
    const bool keys = op->kind == DSE_OP_SCORES, own = a->mixer == DSE_FULL && !a->is_draft;
    const double dim = (double)(keys ? a->key_dim : a->value_dim), elements = elements_of(a, dim);
    if (op->kind != DSE_OP_ELEMENTWISE) {
        const double read = a->is_made ? elements * activation_bytes(pt) : op->kv_read_bytes;
        o->bytes += read * reads_of(pt, a);
        if (!a->is_made && !a->is_index) o->ops += elements * dse_cache_widening(&pt->p->workload);
    }
    if (own) add_technique(s, pt, a, o);
    if (op->kind != DSE_OP_ELEMENTWISE) o->compute_s = lad_vpu_seconds(pt, o->ops / DSE_OPS_PER_MAC / dim, dim);
}

static void linear_op(const struct lad_point *pt, const struct dse_op *op, struct lad_op *o)
{
    const struct dse_workload *w = &pt->p->workload;
    const double rows = op->rows * op->copies, k = (double)op->k, n = (double)op->n, times = (double)op->repeat;
    o->compute_s = lad_vpu_seconds(pt, times * rows * n, k);
    o->layers = times;
    o->activation_read = k / (k + n);
    o->bytes += op->kv_read_bytes;
    if (op->kv_read_bytes > 0) { /* keys and values that are made of latents */
        o->bytes += times * rows * n * activation_bytes(pt);
        const double widened = times * rows * k * dse_cache_widening(w);
        o->ops += widened;
        o->compute_s += lad_vpu_seconds(pt, widened / DSE_OPS_PER_MAC / k, k);
    }
    if (w->phase == DSE_PREFILL || w->chunk_tokens > 0) o->activation_bytes = rows * (k + n) * activation_bytes(pt);
}

/* One lane an element of the state. */
static void recurrence_op(const struct lad_point *pt, const struct dse_op *op, struct lad_op *o)
{
    const double lanes = (double)pt->p->vpu_width;
    o->compute_s = lad_vpu_seconds(pt, op->ops / DSE_OPS_PER_MAC / lanes, lanes);
    o->bytes += op->kv_read_bytes;
}

static void add_op(struct lad_step *s, const struct lad_point *pt, const struct dse_oplist *list, const struct dse_op *op)
{
    struct lad_op *o = &s->op[s->n_ops];
    const struct dse_attention *a = op->in_attention ? &list->attention[op->attention] : NULL;
    struct dse_exchange_cost cost;
    if (a && lad_is_attention(&(struct lad_op){.kind = op->kind})) s->full_cache_bytes += op->kv_read_bytes;
    if (a && is_local(pt, a)) return;
    *o = (struct lad_op){.name = op->name,
                         .kind = op->kind,
                         .role = op->role,
                         .at = (int)(op - list->op),
                         .ops = op->ops,
                         .weight_bytes = op->weight_bytes,
                         .bytes = op->kv_write_bytes,
                         .write_bytes = op->kv_write_bytes};
    if (a) attention_op(s, pt, a, op, o);
    if (op->kind == DSE_OP_LINEAR) linear_op(pt, op, o);
    if (op->kind == DSE_OP_LINEAR) s->full_cache_bytes += op->kv_read_bytes;
    if (op->kind == DSE_OP_RECURRENCE) recurrence_op(pt, op, o);
    if (op->kind == DSE_OP_ELEMENTWISE && pt->p->elementwise == LAD_EXPOSED) o->compute_s = lad_sfm_seconds(pt, o->ops);
    lad_op_at(pt, o, 1);
    if (op->kind == DSE_OP_COLLECTIVE) {
        dse_exchange_at(&pt->p->links, &op->exchange, &cost);
        o->layers = (double)op->repeat;
        o->exchange = &op->exchange;
        o->time_s = (double)op->repeat * cost.seconds;
        o->link_joules = (double)op->repeat * cost.joules;
    }
    s->n_ops++;
}

/* ---- several chips: E45, E46 ------------------------------------------------------------------------------------------------ */

/* Of one chip's pass: seconds of its passes, everything else of all chips. */
static void scale(struct lad_step *s, double passes, double all)
{
    struct lad_attention *a = &s->attention;
    double *const times[] = {&s->linear_s,     &s->elementwise_s,   &s->time_s,          &s->compute_bound_s,
                             &s->dram_bound_s, &s->latency_bound_s, &s->communication_s, &a->time_s,
                             &a->fill_s,       &a->stage1_s,        &a->stage4_s};
    double *const amounts[] = {
        &s->weight_bytes,     &s->bytes,           &s->vpu_ops,      &s->exact_bytes,  &s->link_joules,   &s->head_samples,
        &s->full_cache_bytes, &s->technique_bytes, &a->stage1_bytes, &a->stage4_bytes, &a->centers_bytes, &a->active_bytes,
        &a->others_bytes,     &a->prefetch_bytes,  &a->macs};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) *times[i] *= passes;
    for (size_t i = 0; i < sizeof amounts / sizeof *amounts; i++) *amounts[i] *= all;
    for (int i = 0; i < LAD_STAGES; i++) a->exposed_s[i] *= passes;
    for (int i = 0; i < s->n_ops; i++) {
        struct lad_op *o = &s->op[i];
        o->time_s *= passes;
        o->dram_s *= passes;
        o->batch_bytes *= all;
        o->batch_ops *= all;
        o->link_joules *= all;
    }
}

/* ---- what it takes: E15, E17, E18 -------------------------------------------------------------------------------------------- */

static double footprint(const struct lad_point *pt, const struct dse_workload *w, const struct dse_oplist *list)
{
    const struct lad_params *p = pt->p;
    struct dse_workload held = *w;
    const double counters = p->counters == LAD_COUNTED ? (double)p->intervals * LAD_COUNTER_BYTES : 0;
    held.context = (int64_t)pt->cache.held;
    double bytes = dse_workload_footprint(&held);
    for (int i = 0; i < list->n_attentions; i++) {
        const struct dse_attention *a = &list->attention[i];
        const double each = (double)(a->layers * a->sequences * dse_workload_passes(w));
        if (is_local(pt, a))
            bytes += each * (double)a->heads * (pt->cache_bytes + (double)a->context * (pt->position_bytes + counters));
        if (a->mixer == DSE_FULL && !a->is_draft)
            bytes += each * pt->cache.besides_bytes * (double)a->kv_heads / (double)pt->llm->kv_heads;
    }
    return bytes;
}

static double resident(const struct lad_point *pt, const struct dse_workload *w, const struct dse_oplist *list)
{
    const double rows = (double)(dse_workload_sequences(w) * (1 + w->speculation.draft_tokens));
    double most = 0;
    for (int i = 0; i < list->n_attentions; i++) {
        struct lad_params p;
        struct lad_point of;
        if (is_local(pt, &list->attention[i]) && !point_of(pt, &list->attention[i], 0, &p, &of))
            most = dse_max(most, lad_sram_resident(&of, 0));
    }
    return most + resident_activations(pt, rows);
}

double lad_llms_footprint(const struct lad_point *pt, double batch)
{
    const struct dse_workload w = workload_of(pt, batch);
    struct dse_oplist list;
    expand(pt, &w, &list);
    return footprint(pt, &w, &list);
}

double lad_llms_resident(const struct lad_point *pt, double batch)
{
    const struct dse_workload w = workload_of(pt, batch);
    struct dse_oplist list;
    expand(pt, &w, &list);
    return resident(pt, &w, &list);
}

static bool fits(const struct lad_point *pt, double batch)
{
    if (lad_llms_footprint(pt, batch) > pt->p->dram.capacity_gib * DSE_GIB) return false;
    return pt->p->workload.phase != DSE_DECODE || lad_llms_resident(pt, batch) <= pt->sram_bytes;
}

double lad_llms_largest(const struct lad_point *pt)
{
    int64_t fit = 1, no = pt->p->workload.batch + 1;
    while (no - fit > 1) {
        const int64_t middle = fit + (no - fit) / 2;
        if (fits(pt, (double)middle))
            fit = middle;
        else
            no = middle;
    }
    return (double)fit;
}

/* ---- the step -------------------------------------------------------------------------------------------------------------- */

void lad_llms_pass(struct lad_step *step, const struct lad_point *pt, double batch, const struct dse_oplist *list)
{
    const struct dse_workload w = workload_of(pt, batch);
    struct lad_step *s = step;
    s->n_ops = 0;
    s->batch = batch;
    s->sequences = (double)dse_workload_sequences(&w);
    s->tokens = dse_workload_tokens(&w);
    s->footprint_bytes = footprint(pt, &w, list);
    s->resident_bytes = resident(pt, &w, list);
    s->attention = (struct lad_attention){0};
    s->at = (struct dse_locality){0};
    s->n = s->head_samples = s->full_cache_bytes = s->technique_bytes = 0;
    for (int i = 0; i < list->n; i++) add_op(s, pt, list, &list->op[i]);
    if (pt->locality_aware) add_locality(s, pt, list);
    lad_step_sum(s, pt);
}

void lad_llms_end(struct lad_step *step, const struct lad_point *pt)
{
    const struct dse_workload w = workload_of(pt, step->batch);
    const double stages = (double)dse_degree(w.pipeline_parallel), passes = (double)dse_workload_passes(&w);
    scale(step, passes, passes * pt->chips);
    step->bubble_s = step->time_s / passes * (stages - passes);
    step->time_s += step->bubble_s;
    step->latency_bound_s += step->bubble_s;
}

void lad_llms_at(struct lad_step *step, const struct lad_point *pt, double batch)
{
    struct dse_oplist list;
    lad_llms_expand(pt, batch, NULL, &list);
    lad_llms_pass(step, pt, batch, &list);
    lad_llms_end(step, pt);
}

/* ---- metrics ----------------------------------------------------------------------------------------------------------------- */

const struct lad_point *lad_llms_see(struct lad_point *pt, const struct lad_step *step)
{
    pt->head_samples = step->head_samples / step->batch;
    if (!pt->locality_aware) return pt;
    pt->n = step->n;
    pt->at = step->at;
    return pt;
}

void lad_llms_power(struct lad_power *power, double chips)
{
    power->watts *= chips;
    power->leakage_w *= chips;
    power->clock_w *= chips;
    power->modules_w *= chips;
    power->sram_w *= chips;
}
