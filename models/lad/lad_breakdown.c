/* The breakdown of a step: operator by operator, LAD's attention stage by stage.
 *
 * Times are exposed times: a stage that runs behind another one has none and is "hidden". The parts of depth 0 add up to the step
 * in time, bytes, operations and energy; those of depth 1 add up to the attention above them.
 */
#include "lad.h"

#include <dse/units.h>

struct ctx {
    const struct lad_point *pt;
    struct dse_parts parts;
};

static void add_op(const struct ctx *c, const struct lad_op *o, int depth)
{
    const char *bound = dse_bound_names[o->time_s > o->dram_s ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM];
    dse_parts_add(&c->parts, o->name, depth, bound, o->time_s, o->batch_bytes, o->batch_ops);
}

static void add_stages(const struct ctx *c, const struct lad_step *s)
{
    const struct lad_attention *a = &s->attention;
    const char *dram = dse_bound_names[DSE_BOUND_DRAM], *compute = dse_bound_names[DSE_BOUND_COMPUTE];
    struct lad_macs macs = lad_stage_macs(c->pt, a->active);
    double ops = DSE_OPS_PER_MAC * c->pt->head_samples * s->batch;
    dse_parts_add(&c->parts, "stage1_hbm", 1, dram, a->stage1_s, a->stage1_bytes, 0);
    dse_parts_add(&c->parts, "stage2_eas", 1, compute, a->exposed_s[LAD_EAS], 0, ops * macs.eas);
    dse_parts_add(&c->parts, "stage3_apid", 1, compute, a->exposed_s[LAD_APID], 0, 0);
    dse_parts_add(&c->parts, "stage4_hbm", 1, dram, a->stage4_s, a->stage4_bytes, 0);
    dse_parts_add(&c->parts, "stage5_md", 1, compute, a->exposed_s[LAD_MD], 0, ops * macs.md);
    dse_parts_add(&c->parts, "stage6_ac", 1, compute, a->exposed_s[LAD_AC], 0, ops * macs.ac);
    dse_parts_add(&c->parts, "pipeline_fill", 1, dse_bound_names[DSE_BOUND_LATENCY], a->fill_s, 0, 0);
}

/* Operator 0, the QKV projection, stands before attention. */
static void add_attention(const struct ctx *c, const struct lad_step *s)
{
    const struct lad_attention *a = &s->attention;
    double compute_s = 0;
    for (int i = 0; i < LAD_STAGES; i++)
        if (i != LAD_HBM) compute_s += a->exposed_s[i];
    const char *bound = dse_bound_names[compute_s > a->exposed_s[LAD_HBM] ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM];
    dse_parts_add(&c->parts, "attention", 0, bound, a->time_s, a->stage1_bytes + a->stage4_bytes, DSE_OPS_PER_MAC * a->macs);
    if (c->pt->locality_aware) add_stages(c, s);
    for (int i = 0; i < s->n_ops; i++)
        if (lad_is_attention(&s->op[i])) add_op(c, &s->op[i], 1);
}

void lad_break_down(const struct lad_point *pt, const struct lad_step *s, const struct lad_chip *chip, struct dse_breakdown *out)
{
    struct ctx c = {.pt = pt, .parts = {.breakdown = out, .watts = lad_watts(chip), .dram = &pt->p->dram}};
    for (int i = 0; i < s->n_ops; i++) {
        if (!lad_is_attention(&s->op[i])) add_op(&c, &s->op[i], 0);
        if (i == 0) add_attention(&c, s);
    }
    if (pt->locality_aware)
        dse_parts_add(&c.parts, "prefetch", 0, dse_bound_names[DSE_BOUND_DRAM], 0, s->attention.prefetch_bytes, 0);
}
