/* LAD at event level: a chip's pass as operators one after another, and LAD's attention over each of its lengths (E47 to E49).
 * What the machine is, is in lad_machine.c; here is which step each run of it has, and what becomes of all, so that metrics and
 * breakdown come from the same equations as those of the closed form. */
#include "lad_events.h"

#include "lad_machine.h"

#include <dse/program.h>
#include <dse/units.h>

#include <assert.h>
#include <math.h>
#include <string.h>

/* A run of the machine: LAD's attention over one length, with its share of the operators; or all operators, where there is no
 * such. */
struct part {
    const struct dse_attention *of; /* NULL: there is no such */
    int group;
    struct lad_point pt;
    struct lad_step step;
    struct lad_machine machine;
    struct lad_attention seen;
    double share;
};

struct pass {
    struct dse_closed *closed;
    struct dse_sim *sim;
    const struct dse_workload *w;
    bool general; /* operators of any LLM (E47); else those of a dense one, on one chip */
    struct dse_oplist list;
    struct lad_events_reads r;
    struct lad_before_reads before;
    struct lad_node node[DSE_OPS_MAX];
    struct lad_step step; /* all operators, as one sequence; and then as they are seen */
    struct part *part[DSE_ATTENTIONS_MAX];
    int parts;
};

/* ---- operators ------------------------------------------------------------------------------------------------------------- */

/* Of attention that LAD's decoding does not work on. */
static void attention_op(const struct pass *x, const struct dse_op *op, struct lad_op *o)
{
    const int a = (int)op->attention;
    if (op->kind == DSE_OP_SCORES) {
        o->compute_s = x->r.group.scores_compute_s[a];
        o->bytes = x->r.group.scores_bytes[a];
    } else if (op->kind == DSE_OP_VALUES) {
        o->compute_s = x->r.group.values_compute_s[a];
        o->bytes = x->r.group.values_bytes[a];
    } else {
        o->compute_s = x->r.group.softmax_s[a];
        o->sfm_s = x->r.group.softmax_sfm_s[a];
    }
}

static void linear_op(const struct pass *x, const struct dse_op *op, int i, struct lad_op *o)
{
    const double k = (double)op->k, spills = x->r.op.spilled[i] > x->r.sram_mib * DSE_MIB * x->r.tiles ? (double)op->repeat : 0;
    o->compute_s = x->r.op.compute_s[i];
    o->leaves_hbm = x->r.op.compute_s[i] > x->r.op.dram_s[i];
    o->layers = (double)op->repeat;
    o->activation_bytes = x->r.op.spilled[i];
    o->activation_read = k / (k + (double)op->n);
    o->bytes = x->r.op.moved_bytes[i] - op->weight_bytes - spills * x->r.op.spilled[i];
}

static void add_op(struct pass *x, int i)
{
    const struct dse_op *op = &x->list.op[i];
    struct lad_op *o = &x->step.op[x->step.n_ops];
    if (op->in_attention && x->r.group.local[op->attention] != 0) return;
    *o = (struct lad_op){
        .name = op->name, .kind = op->kind, .at = i, .weight_bytes = op->weight_bytes, .write_bytes = op->kv_write_bytes};
    if (op->in_attention) attention_op(x, op, o);
    if (op->kind == DSE_OP_LINEAR) linear_op(x, op, i, o);
    if (op->kind == DSE_OP_RECURRENCE) {
        o->compute_s = x->r.op.compute_s[i];
        o->bytes = x->r.op.moved_bytes[i];
    }
    if (op->kind == DSE_OP_ELEMENTWISE && !op->in_attention) {
        o->compute_s = x->r.op.time_s[i];
        o->sfm_s = x->r.op.sfm_s[i];
    }
    if (op->kind == DSE_OP_COLLECTIVE) {
        o->layers = (double)op->repeat;
        o->exchange = &op->exchange;
    }
    x->step.n_ops++;
}

/* The pass in closed form, experts as drawn; also with what the published memory reaches: dram_efficiency is the closed form's,
 * and the memory of the run reaches what it reaches. */
static void time_pass(struct pass *x)
{
    static const double published_efficiency = 0.871;
    const struct dse_draw draw = dse_draw_of(x->sim, 0, dse_layers_simulated(dse_closed_events(x->closed), x->w->llm->layers));
    struct dse_dram published = *dse_closed_memory(x->closed);
    published.dram_efficiency = published_efficiency;
    const struct lad_before_gives before = {.stream = dse_dram_stream_seconds(&published, 1)};
    dse_workload_expand_drawn(x->w, -1, &draw, &x->list);
    dse_closed_run(dse_closed_at(x->closed, &lad_events, &x->list), NULL, &x->r);
    dse_closed_run(dse_closed_at(x->closed, &lad_before, &x->list), &before, &x->before);
    for (int i = 0; i < x->list.n; i++) add_op(x, i);
}

/* ---- parts ----------------------------------------------------------------------------------------------------------------- */

/* Of a chip. */
static int64_t stage_layers(const struct pass *x)
{
    return (int64_t)dse_ceil_div((uint64_t)x->w->llm->layers, (uint64_t)x->r.stages);
}

static struct part *new_part(struct pass *x)
{
    struct part *p = dse_sim_alloc(x->sim, 1, sizeof *p);
    x->part[x->parts++] = p;
    p->pt = (struct lad_point){.p = &x->r,
                               .dram = dse_closed_memory(x->closed),
                               .links = dse_closed_links(x->closed),
                               .local = dse_closed_locality(x->closed),
                               .n = (double)x->w->context,
                               .clock_hz = x->r.clock_ghz * DSE_GIGA,
                               .sram_bytes = x->r.sram_mib * DSE_MIB,
                               .group = 1};
    return p;
}

/* E12: the spread over heads. */
static void read_nodes(struct pass *x, struct part *p, struct dse_closed_at *at)
{
    struct lad_head_reads head;
    p->pt.node = x->node;
    p->pt.nodes = 0;
    for (int i = 0; i < DSE_OPS_MAX; i++) {
        const struct lad_head_gives gives = {.node = i + 1};
        dse_closed_run(at, &gives, &head);
        if (isnan(head.node_weight)) break;
        x->node[p->pt.nodes++] = (struct lad_node){head.node_weight, head.group.node_factor[p->group]};
    }
}

/* E48. */
static void add_local_part(struct pass *x, int i, double samples)
{
    const struct dse_attention *a = &x->list.attention[i];
    struct part *p = new_part(x);
    struct lad_point *pt = &p->pt;
    p->of = a;
    p->group = i;
    p->share = x->r.group.samples[i] / samples;
    pt->locality_aware = true;
    pt->layers = (double)a->layers;
    pt->heads = (uint64_t)a->heads;
    pt->kv_heads = (uint64_t)a->kv_heads;
    pt->n = (double)a->context;
    pt->d = (double)a->key_dim;
    pt->row_bytes = x->r.group.row[i];
    pt->cache_bytes = x->r.group.caches[i];
    pt->g_bytes = x->r.group.g_bytes[i];
    pt->passes = x->r.group.passes[i];
    pt->row_cycles = x->r.group.row_cycles[i];
    pt->room = x->r.group.room[i];
    pt->room_share = x->r.group.room_share[i];
    pt->group = (uint32_t)x->r.group.together[i];
    pt->at = (struct dse_locality){x->r.group.centers[i], x->r.group.large[i], x->r.group.active[i], x->r.group.updates[i],
                                   x->r.group.hit_ratio[i]};
    pt->active_cv = x->r.group.spread[i];
    pt->active = x->r.group.active_mean[i];
    pt->prefetched = x->before.group.fetched_mean[i];
    pt->cycles = x->r.group.cycles[i];
    pt->hbm_cycles = x->r.group.hbm_cycles[i];
    pt->slot_cycles = x->r.group.slot_cycles[i];
    p->step.batch = (double)a->sequences;
}

static void add_parts(struct pass *x)
{
    double samples = 0;
    for (int i = 0; i < x->list.n_attentions; i++) samples += x->r.group.samples[i];
    for (int i = 0; i < x->list.n_attentions; i++)
        if (x->r.group.local[i] != 0) add_local_part(x, i, samples);
    if (x->parts > 0) return;
    struct part *p = new_part(x);
    const struct dse_llm *llm = x->w->llm;
    p->pt.layers = (double)(x->general ? stage_layers(x) : llm->layers);
    p->pt.heads = x->general ? 1 : (uint64_t)llm->heads;
    p->pt.kv_heads = x->general ? 1 : (uint64_t)llm->kv_heads;
    p->pt.row_bytes = dse_kv_row_bytes(x->w);
    p->step.batch = x->general ? 1 : (double)x->w->batch;
    p->share = 1;
}

static void scale_op(struct lad_op *o, double by)
{
    o->weight_bytes *= by;
    o->compute_s *= by;
    o->bytes *= by;
    o->write_bytes *= by;
    o->sfm_s *= by;
}

/* Keys and values that LAD's layers append. */
static double appended(const struct pass *x)
{
    double bytes = 0;
    for (int i = 0; i < x->parts; i++) {
        const struct dse_attention *a = x->part[i]->of;
        bytes += (double)(a->layers * a->sequences) * a->cached_bytes;
    }
    return bytes;
}

/* The QKV projection of LAD's layers goes first, head by head; that of other layers, and what a chunk of a prompt appends,
 * stays. */
static void split_qkv(struct pass *x)
{
    struct lad_step *s = &x->step;
    int at = 0;
    while (at < s->n_ops && s->op[at].at != x->part[0]->of->projection) at++;
    assert(at < s->n_ops && s->n_ops < DSE_OPS_MAX);
    struct lad_op rest = s->op[at], own = rest;
    const double layers = x->part[0]->pt.layers, share = layers / rest.layers, bytes = appended(x);
    scale_op(&own, share);
    scale_op(&rest, 1 - share);
    own.layers = layers;
    rest.layers -= layers;
    rest.write_bytes = s->op[at].write_bytes - bytes;
    rest.bytes = s->op[at].bytes - bytes;
    own.bytes = own.write_bytes = bytes;
    const bool some = rest.layers > 0 || rest.bytes >= 1;
    if (some) {
        memmove(&s->op[1], &s->op[0], (size_t)s->n_ops * sizeof *s->op);
        s->op[at + 1] = rest;
        s->n_ops++;
    } else {
        memmove(&s->op[1], &s->op[0], (size_t)at * sizeof *s->op);
    }
    s->op[0] = own;
}

/* A part's share of each operator, as one of so many sequences. What spills goes with the first. */
static void share_ops(const struct pass *x, struct part *p, bool is_first)
{
    p->step.n_ops = x->step.n_ops;
    for (int i = 0; i < p->step.n_ops; i++) {
        struct lad_op *o = &p->step.op[i];
        *o = x->step.op[i];
        scale_op(o, p->share / p->step.batch);
        o->weight_bytes *= p->step.batch;
        o->activation_bytes *= is_first ? 1 / p->step.batch : 0;
    }
}

/* ---- what was seen ----------------------------------------------------------------------------------------------------------- */

static void see_ops(struct pass *x, const struct part *p)
{
    for (int i = 0; i < x->step.n_ops; i++) {
        struct lad_op seen = p->step.op[i], *o = &x->step.op[i];
        lad_machine_see_op(&p->machine, i, &seen);
        const double share = o->kind == DSE_OP_COLLECTIVE ? p->share : 1; /* each part does them whole */
        o->time_s += share * seen.time_s;
        o->dram_s += seen.dram_s;
        o->moved_bytes += seen.moved_bytes;
    }
}

/* What is written last is still on the bus when the last layer ends, and weighs where a burst takes microseconds: the step goes on
 * until its bytes can have passed. */
static void wait_for_bytes(struct pass *x)
{
    struct lad_step *s = &x->step;
    double bytes = 0, time_s = 0;
    struct lad_op *longest = &s->op[0];
    for (int i = 0; i < s->n_ops; i++) {
        bytes += s->op[i].moved_bytes;
        time_s += s->op[i].time_s;
        if (s->op[i].kind != DSE_OP_COLLECTIVE && s->op[i].time_s > longest->time_s) longest = &s->op[i];
    }
    for (int i = 0; i < x->parts; i++) {
        const struct lad_attention *a = &x->part[i]->seen;
        bytes += a->stage1_bytes + a->stage4_bytes + a->prefetch_bytes;
        time_s += a->time_s;
    }
    const double late_s = bytes / dse_dram_peak(dse_closed_memory(x->closed)) - time_s;
    if (late_s <= 0) return;
    longest->time_s += late_s;
    longest->dram_s = longest->time_s;
}

static void see(struct pass *x)
{
    for (int i = 0; i < x->parts; i++) {
        struct part *p = x->part[i];
        see_ops(x, p);
        if (p->of) lad_machine_see_attention(&p->machine, &p->seen);
    }
    wait_for_bytes(x);
}

/* Sums of LAD's attention of all lengths that notes are made of. */
static struct lad_attention all_seen(const struct pass *x)
{
    struct lad_attention sum = {0};
    for (int i = 0; i < x->parts; i++) {
        const struct lad_attention *a = &x->part[i]->seen;
        sum.time_s += a->time_s;
        sum.fill_s += a->fill_s;
        sum.stage1_bytes += a->stage1_bytes;
        sum.stage4_bytes += a->stage4_bytes;
        sum.exposed_s[LAD_HBM] += a->exposed_s[LAD_HBM];
    }
    return sum;
}

/* ---- what the equations take ------------------------------------------------------------------------------------------------- */

static void give_op(const struct pass *x, const struct lad_op *o, struct lad_seen_gives *g)
{
    const struct dse_op *op = &x->list.op[o->at];
    const double vpu_s = o->time_s > o->dram_s ? o->time_s : 0;
    const int a = (int)op->attention;
    if (!op->in_attention) {
        g->op.time_s[o->at] += o->time_s;
        g->op.compute_bound_s[o->at] += vpu_s;
        g->op.moved_bytes[o->at] += o->moved_bytes;
    } else if (op->kind == DSE_OP_SCORES) {
        g->group.scores_s[a] = o->time_s;
        g->group.scores_vpu_s[a] = vpu_s;
        g->group.scores_bytes[a] = o->moved_bytes;
    } else if (op->kind == DSE_OP_VALUES) {
        g->group.values_s[a] = o->time_s;
        g->group.values_vpu_s[a] = vpu_s;
        g->group.values_bytes[a] = o->moved_bytes;
    } else {
        g->group.softmax_s[a] = o->time_s;
    }
}

/* Cycles of modules, and the same times what a tile has of them (E35). */
static void give_cycles(const struct pass *x, int i, const struct lad_attention *a, struct lad_seen_gives *g)
{
    g->group.eas[i] = a->eas;
    g->group.apid[i] = a->apid;
    g->group.md[i] = a->md;
    g->group.ac[i] = a->ac;
    g->group.eas_work[i] = a->eas * x->r.vpu_eas;
    g->group.apid_work[i] = a->apid * x->r.apid_width;
    g->group.md_work[i] = a->md * x->r.vpu_md;
    g->group.ac_work[i] = a->ac * x->r.vpu_ac * x->r.vpu_width;
    g->group.cycles[i] = a->longest;
    g->group.hbm_cycles[i] = a->memory_cycles;
    g->group.slot_cycles[i] = a->slot_cycles;
}

static void give_attention(const struct pass *x, const struct part *p, struct lad_seen_gives *g)
{
    const struct lad_attention *a = &p->seen;
    const int i = p->group;
    const double moved = a->stage1_bytes + a->stage4_bytes, hbm_s = a->exposed_s[LAD_HBM];
    g->group.local_s[i] = a->time_s;
    g->group.fill_s[i] = a->fill_s;
    g->group.local_hbm_s[i] = hbm_s;
    g->group.eas_exposed_s[i] = a->exposed_s[LAD_EAS];
    g->group.apid_exposed_s[i] = a->exposed_s[LAD_APID];
    g->group.md_exposed_s[i] = a->exposed_s[LAD_MD];
    g->group.ac_exposed_s[i] = a->exposed_s[LAD_AC];
    g->group.stage1_s[i] = moved > 0 ? hbm_s * a->stage1_bytes / moved : 0;
    g->group.stage4_s[i] = hbm_s - g->group.stage1_s[i];
    g->group.centers_bytes[i] = a->centers_bytes;
    g->group.active_bytes[i] = a->active_bytes;
    g->group.others_bytes[i] = a->others_bytes;
    g->group.prefetch_bytes[i] = a->prefetch_bytes;
    g->group.stage1_bytes[i] = a->stage1_bytes;
    g->group.stage4_bytes[i] = a->stage4_bytes;
    g->group.active_mean[i] = a->active;
    g->group.fetched_mean[i] = a->prefetched;
    g->group.hits[i] = a->hits;
    give_cycles(x, i, a, g);
}

static void report(const struct pass *x, void *metrics, struct dse_breakdown *breakdown)
{
    struct lad_seen_gives *g = dse_sim_alloc(x->sim, 1, sizeof *g);
    for (int i = 0; i < x->step.n_ops; i++) give_op(x, &x->step.op[i], g);
    for (int i = 0; i < x->parts; i++)
        if (x->part[i]->of) give_attention(x, x->part[i], g);
    dse_closed_report(dse_closed_at(x->closed, &lad_seen, &x->list), g, metrics, breakdown);
}

/* ---- simulate
 * ------------------------------------------------------------------------------------------------------------------ */

/* Layers of a part that are simulated: each has its share of the operators of all others beside it. */
static int64_t layers_of(const struct pass *x, const struct part *p)
{
    const int64_t all = stage_layers(x), asked = dse_layers_simulated(dse_closed_events(x->closed), all);
    return (asked * (int64_t)p->pt.layers + all - 1) / all;
}

static bool run_parts(struct pass *x)
{
    const uint64_t seed = (uint64_t)dse_closed_events(x->closed)->seed;
    struct dse_closed_at *heads = dse_closed_at(x->closed, &lad_head, &x->list);
    for (int i = 0; i < x->parts; i++) {
        struct part *p = x->part[i];
        share_ops(x, p, i == 0);
        if (p->of) read_nodes(x, p, heads);
        if (!lad_machine_run(&p->machine, x->sim, &p->pt, &p->step, seed, x->general, layers_of(x, p))) return false;
    }
    return true;
}

bool lad_simulate(struct dse_closed *closed, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    struct pass *x = dse_sim_alloc(sim, 1, sizeof *x);
    x->closed = closed;
    x->sim = sim;
    x->w = dse_closed_workload(closed);
    x->general = dse_workload_unknown(x->w, 0) != NULL;
    x->step.batch = 1;
    dse_sim_seed(sim, (uint64_t)dse_closed_events(closed)->seed);
    time_pass(x);
    add_parts(x);
    if (x->general && x->part[0]->of) split_qkv(x);
    if (!run_parts(x)) return false;
    see(x);
    const struct lad_attention seen = all_seen(x);
    lad_machine_note(&x->part[0]->machine, &seen);
    report(x, metrics, breakdown);
    return true;
}
