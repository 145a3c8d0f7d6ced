/* The event level of a step of any LLM: a chip's pass as operators one after another, and LAD's attention over each of its lengths
 * (E47 to E49). What the machine is, is in lad_events.c; here is which step each of them runs, and what becomes of all. */
#include "lad_llms.h"
#include "lad_machine.h"

#include <dse/num.h>
#include <dse/program.h>

#include <assert.h>
#include <string.h>

/* A run of the machine: LAD's attention over one length, with its share of the operators; or all operators, where there is no
 * such. */
struct part {
    struct lad_local local;
    struct dse_llm llm; /* with the layers and heads of the part */
    struct lad_point pt;
    struct lad_step step;
    struct lad_machine machine;
    double share;
};

struct pass {
    const struct lad_point *pt;
    struct dse_sim *sim;
    double batch;
    struct dse_oplist list;
    struct lad_step closed; /* and then as it is seen, with the QKV projection of LAD's layers in front */
    struct lad_params before;
    struct lad_point before_pt;
    struct lad_step before_step;
    struct part *part[DSE_ATTENTIONS_MAX];
    int parts;
};

/* ---- parts ----------------------------------------------------------------------------------------------------------------- */

static struct part *new_part(struct pass *x)
{
    struct part *p = dse_sim_alloc(x->sim, 1, sizeof *p);
    x->part[x->parts++] = p;
    p->llm = *x->pt->llm;
    return p;
}

/* E48. */
static void add_local_parts(struct pass *x)
{
    struct lad_local *before = dse_sim_alloc(x->sim, 1, sizeof *before);
    for (int i = 0; i < x->list.n_attentions; i++) {
        if (!lad_llms_local(&x->before_step, &x->before_pt, &x->list, i, before)) continue;
        struct part *p = new_part(x);
        lad_llms_local(&x->closed, x->pt, &x->list, i, &p->local);
        p->share = p->local.share;
        p->llm.layers = p->local.of->layers;
        p->llm.heads = p->local.of->heads;
        p->llm.kv_heads = p->local.of->kv_heads;
        p->pt = p->local.pt;
        p->pt.llm = &p->llm;
        p->step.batch = (double)p->local.of->sequences;
        p->step.attention = p->local.closed;
        p->step.attention.prefetched = before->closed.prefetched;
    }
}

/* Of a chip. */
static int64_t stage_layers(const struct pass *x)
{
    const int64_t stages = dse_degree(x->pt->p->workload.pipeline_parallel);
    return (x->pt->llm->layers + stages - 1) / stages;
}

static void add_part_of_all(struct pass *x)
{
    struct part *p = new_part(x);
    p->llm.layers = stage_layers(x);
    p->llm.heads = p->llm.kv_heads = 1;
    p->pt = *x->pt;
    p->pt.is_simple = true;
    p->pt.locality_aware = false;
    p->pt.llm = &p->llm;
    p->step.batch = p->share = 1;
}

/* ---- operators ------------------------------------------------------------------------------------------------------------- */

static void scale_op(struct lad_op *o, double by)
{
    o->weight_bytes *= by;
    o->compute_s *= by;
    o->bytes *= by;
    o->write_bytes *= by;
    o->ops *= by;
    o->batch_ops *= by;
}

/* Keys and values that LAD's layers append. */
static double appended(const struct pass *x)
{
    double bytes = 0;
    for (int i = 0; i < x->parts; i++) {
        const struct dse_attention *a = x->part[i]->local.of;
        bytes += (double)(a->layers * a->sequences) * a->cached_bytes;
    }
    return bytes;
}

/* The QKV projection of LAD's layers goes first, head by head; that of other layers, and what a chunk of a prompt appends,
 * stays. */
static void split_qkv(struct pass *x)
{
    struct lad_step *s = &x->closed;
    int at = 0;
    while (at < s->n_ops && s->op[at].at != x->part[0]->local.of->projection) at++;
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
    p->step.n_ops = x->closed.n_ops;
    for (int i = 0; i < p->step.n_ops; i++) {
        struct lad_op *o = &p->step.op[i];
        *o = x->closed.op[i];
        scale_op(o, p->share / p->step.batch);
        o->weight_bytes *= p->step.batch;
        o->activation_bytes *= is_first ? 1 / p->step.batch : 0;
    }
}

/* ---- what was seen ----------------------------------------------------------------------------------------------------------- */

static void see_ops(struct pass *x, const struct part *p)
{
    for (int i = 0; i < x->closed.n_ops; i++) {
        struct lad_op seen = p->step.op[i], *o = &x->closed.op[i];
        lad_machine_see_op(&p->machine, i, &seen);
        const double share = o->kind == DSE_OP_COLLECTIVE ? p->share : 1; /* each part does them whole */
        o->time_s += share * seen.time_s;
        if (o->kind == DSE_OP_COLLECTIVE) continue;
        o->dram_s += seen.dram_s;
        o->batch_bytes += seen.batch_bytes;
    }
}

static void see(struct pass *x)
{
    struct lad_step *s = &x->closed;
    for (int i = 0; i < s->n_ops; i++) {
        s->op[i].time_s = 0;
        if (s->op[i].kind != DSE_OP_COLLECTIVE) s->op[i].dram_s = s->op[i].batch_bytes = 0;
    }
    s->attention = (struct lad_attention){0};
    for (int i = 0; i < x->parts; i++) {
        const struct part *p = x->part[i];
        struct lad_attention seen;
        see_ops(x, p);
        if (!p->pt.locality_aware) continue;
        lad_machine_see_attention(&p->machine, &seen);
        lad_llms_add_local(s, &seen, p->share);
    }
    lad_step_sum(s, x->pt);
    lad_machine_wait_for_bytes(x->pt, s);
}

/* ---- the step ---------------------------------------------------------------------------------------------------------------- */

/* The pass in closed form, experts as drawn; also with what the published memory reaches. */
static void time_pass(struct pass *x)
{
    const struct lad_params *p = x->pt->p;
    const struct dse_draw draw = dse_draw_of(x->sim, 0, dse_layers_simulated(&p->events, p->workload.llm->layers));
    lad_step_init(&x->closed, x->pt);
    x->batch = lad_batch(x->pt, &x->closed);
    lad_llms_expand(x->pt, x->batch, &draw, &x->list);
    lad_llms_pass(&x->closed, x->pt, x->batch, &x->list);
    lad_machine_before(p, &x->before);
    lad_point_init(&x->before_pt, &x->before);
    lad_step_init(&x->before_step, &x->before_pt);
    lad_llms_pass(&x->before_step, &x->before_pt, x->batch, &x->list);
}

/* Layers of a part that are simulated: each has its share of the operators of all others beside it. */
static int64_t layers_of(const struct pass *x, const struct part *p)
{
    const int64_t all = stage_layers(x), asked = dse_layers_simulated(&x->pt->p->events, all);
    return (asked * p->llm.layers + all - 1) / all;
}

bool lad_llms_simulate(const struct lad_point *pt, struct dse_sim *sim, struct lad_metrics *metrics,
                       struct dse_breakdown *breakdown)
{
    struct pass *x = dse_sim_alloc(sim, 1, sizeof *x);
    x->pt = pt;
    x->sim = sim;
    dse_sim_seed(sim, (uint64_t)pt->p->events.seed);
    time_pass(x);
    if (pt->locality_aware) add_local_parts(x);
    if (x->parts > 0)
        split_qkv(x);
    else
        add_part_of_all(x);
    for (int i = 0; i < x->parts; i++) {
        struct part *p = x->part[i];
        share_ops(x, p, i == 0);
        if (!lad_machine_run(&p->machine, sim, &p->pt, &p->step, true, layers_of(x, p))) return false;
    }
    see(x);
    lad_machine_note(&x->part[0]->machine, &x->closed);
    lad_llms_end(&x->closed, pt);
    lad_report(pt, &x->closed, metrics, breakdown);
    return true;
}
