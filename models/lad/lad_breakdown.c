/* The breakdown of a step: operator by operator, LAD's attention stage by stage.
 *
 * Times are exposed times: a stage that runs behind another one has none and is "hidden". The parts of depth 0 add up to the step
 * in time, bytes, operations and energy; those of depth 1 add up to the attention above them.
 */
#include "lad.h"

#include <dse/units.h>

static const char hidden[] = "hidden";

struct ctx {
    const struct lad_point *pt;
    double watts; /* of the chip */
    struct dse_breakdown *out;
};

static void add(const struct ctx *c, const char *name, int depth, const char *bound, double seconds, double bytes, double ops)
{
    double joules = c->watts * seconds + dse_dram_joules(&c->pt->p->dram, bytes);
    dse_breakdown_add(c->out, (struct dse_part){.name = name,
                                                .bound = seconds > 0 ? bound : hidden,
                                                .depth = depth,
                                                .time_us = seconds * DSE_US_PER_S,
                                                .dram_bytes = bytes,
                                                .ops = ops,
                                                .energy_mj = joules * DSE_MJ_PER_J});
}

static void add_op(const struct ctx *c, const struct lad_op *o, int depth)
{
    const char *bound = dse_bound_names[o->time_s > o->dram_s ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM];
    add(c, o->name, depth, bound, o->time_s, o->batch_bytes, o->batch_ops);
}

static void add_stages(const struct ctx *c, const struct lad_step *s)
{
    const struct lad_attention *a = &s->attention;
    const char *dram = dse_bound_names[DSE_BOUND_DRAM], *compute = dse_bound_names[DSE_BOUND_COMPUTE];
    struct lad_macs macs = lad_stage_macs(c->pt, a->active);
    double ops = DSE_OPS_PER_MAC * c->pt->head_samples * s->batch;
    add(c, "stage1_hbm", 1, dram, a->stage1_s, a->stage1_bytes, 0);
    add(c, "stage2_eas", 1, compute, a->exposed_s[LAD_EAS], 0, ops * macs.eas);
    add(c, "stage3_apid", 1, compute, a->exposed_s[LAD_APID], 0, 0);
    add(c, "stage4_hbm", 1, dram, a->stage4_s, a->stage4_bytes, 0);
    add(c, "stage5_md", 1, compute, a->exposed_s[LAD_MD], 0, ops * macs.md);
    add(c, "stage6_ac", 1, compute, a->exposed_s[LAD_AC], 0, ops * macs.ac);
    add(c, "pipeline_fill", 1, dse_bound_names[DSE_BOUND_LATENCY], a->fill_s, 0, 0);
}

static bool is_attention(const struct lad_op *o)
{
    return o->kind == DSE_OP_SCORES || o->kind == DSE_OP_VALUES;
}

/* Operator 0, the QKV projection, stands before attention. */
static void add_attention(const struct ctx *c, const struct lad_step *s)
{
    const struct lad_attention *a = &s->attention;
    double compute_s = 0;
    for (int i = 0; i < LAD_STAGES; i++)
        if (i != LAD_HBM) compute_s += a->exposed_s[i];
    const char *bound = dse_bound_names[compute_s > a->exposed_s[LAD_HBM] ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM];
    add(c, "attention", 0, bound, a->time_s, a->stage1_bytes + a->stage4_bytes, DSE_OPS_PER_MAC * a->macs);
    if (c->pt->locality_aware) add_stages(c, s);
    for (int i = 0; i < s->n_ops; i++)
        if (is_attention(&s->op[i])) add_op(c, &s->op[i], 1);
}

void lad_break_down(const struct lad_point *pt, const struct lad_step *s, const struct lad_chip *chip, struct dse_breakdown *out)
{
    struct ctx c = {.pt = pt, .out = out};
    c.watts = chip->dynamic_modules_w + chip->dynamic_sram_w + chip->static_modules_w + chip->static_sram_w;
    for (int i = 0; i < s->n_ops; i++) {
        if (!is_attention(&s->op[i])) add_op(&c, &s->op[i], 0);
        if (i == 0) add_attention(&c, s);
    }
    if (pt->locality_aware) add(&c, "prefetch", 0, hidden, 0, s->attention.prefetch_bytes, 0);
}
