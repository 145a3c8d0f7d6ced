/* The breakdown of a step: operator by operator, LAD's attention stage by stage.
 *
 * Times are exposed times: a stage that runs behind another one has none and is "hidden". The parts of depth 0 add up to the step
 * in time, bytes, operations and energy; those of depth 1 add up to the attention above them.
 */
#include "lad.h"

#include <dse/units.h>

struct ctx {
    const struct lad_point *pt;
    const struct lad_power *power;
    struct dse_breakdown *out;
};

/* A part by the time that it is exposed for and the work that it does. Leakage and clock are parts of their own: they run whatever
 * is done. With power = "constant" everything does. */
static void add(const struct ctx *c, const char *name, int depth, const char *bound, double ops, const struct lad_work *work)
{
    struct dse_joules j = lad_joules_of(c->power, work);
    dse_breakdown_merge(c->out, dse_part_of(name, depth, bound, work->seconds, j.work, work->bytes, ops));
}

static void add_op(const struct ctx *c, const struct lad_op *o, int depth)
{
    const char *bound = dse_bound_names[o->time_s > o->dram_s ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM];
    struct lad_work work = lad_op_work(o);
    add(c, o->name, depth, bound, o->batch_ops, &work);
}

static void add_stages(const struct ctx *c, const struct lad_step *s)
{
    const struct lad_attention *a = &s->attention;
    const char *dram = dse_bound_names[DSE_BOUND_DRAM], *compute = dse_bound_names[DSE_BOUND_COMPUTE];
    struct lad_macs macs = lad_stage_macs(c->pt, a->active);
    double samples = c->pt->head_samples * s->batch, eas = samples * macs.eas, md = samples * macs.md, ac = samples * macs.ac;
    struct lad_stages all = lad_attention_work(c->pt, s).stages;
    const struct {
        const char *name, *bound;
        double macs;
        struct lad_work work;
    } stages[] = {
        {"stage1_hbm", dram, 0, {.seconds = a->stage1_s, .bytes = a->stage1_bytes}},
        {"stage2_eas", compute, eas, {.seconds = a->exposed_s[LAD_EAS], .macs = eas, .stages.eas = all.eas}},
        {"stage3_apid", compute, 0, {.seconds = a->exposed_s[LAD_APID], .stages.apid = all.apid}},
        {"stage4_hbm", dram, 0, {.seconds = a->stage4_s, .bytes = a->stage4_bytes - s->exact_bytes}},
        {"stage5_md", compute, md, {.seconds = a->exposed_s[LAD_MD], .macs = md, .stages.md = all.md}},
        {"stage6_ac", compute, ac, {.seconds = a->exposed_s[LAD_AC], .macs = ac, .stages.ac = all.ac}},
        {"pipeline_fill", dse_bound_names[DSE_BOUND_LATENCY], 0, {.seconds = a->fill_s}},
    };
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        add(c, stages[i].name, 1, stages[i].bound, DSE_OPS_PER_MAC * stages[i].macs, &stages[i].work);
}

/* Operator 0, the QKV projection, stands before attention. */
static void add_attention(const struct ctx *c, const struct lad_step *s)
{
    const struct lad_attention *a = &s->attention;
    double compute_s = 0;
    for (int i = 0; i < LAD_STAGES; i++)
        if (i != LAD_HBM) compute_s += a->exposed_s[i];
    const char *bound = dse_bound_names[compute_s > a->exposed_s[LAD_HBM] ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM];
    struct lad_work work = lad_attention_work(c->pt, s);
    add(c, "attention", 0, bound, DSE_OPS_PER_MAC * a->macs, &work);
    if (c->pt->locality_aware) add_stages(c, s);
    for (int i = 0; i < s->n_ops; i++)
        if (lad_is_attention(&s->op[i])) add_op(c, &s->op[i], 1);
}

/* E45, E46. */
static void add_communication(const struct ctx *c, const struct lad_step *s)
{
    const char *latency = dse_bound_names[DSE_BOUND_LATENCY];
    const struct lad_work sum = {.seconds = s->communication_s, .link_joules = s->link_joules}, bubble = {.seconds = s->bubble_s};
    if (s->communication_s > 0) add(c, "communication", 0, latency, 0, &sum);
    for (int i = 0; i < s->n_ops; i++) {
        const struct lad_work own = lad_op_work(&s->op[i]);
        if (s->op[i].kind == DSE_OP_COLLECTIVE && s->communication_s > 0) add(c, s->op[i].name, 1, latency, 0, &own);
    }
    if (s->bubble_s > 0) add(c, "bubble", 0, latency, 0, &bubble);
}

void lad_break_down(const struct lad_point *pt, const struct lad_step *s, const struct lad_power *power, struct dse_breakdown *out)
{
    struct ctx c = {.pt = pt, .power = power, .out = out};
    for (int i = 0; i < s->n_ops; i++) {
        if (!lad_is_attention(&s->op[i]) && s->op[i].kind != DSE_OP_COLLECTIVE) add_op(&c, &s->op[i], 0);
        if (i == 0) add_attention(&c, s);
    }
    add_communication(&c, s);
    struct lad_work prefetch = {.bytes = s->attention.prefetch_bytes};
    if (pt->locality_aware) add(&c, "prefetch", 0, dse_bound_names[DSE_BOUND_DRAM], 0, &prefetch);
    struct lad_work step = lad_step_work(pt, s);
    struct dse_joules j = lad_joules_of(power, &step);
    dse_breakdown_joules(out, &j, pt->p->power);
}
