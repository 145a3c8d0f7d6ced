/* Energy by activity: Table I taken apart (E28), or as it is printed (E15). */
#include "veda.h"

#include <dse/units.h>

#include <math.h>

/* Table I is taken to be measured with everything at work in every cycle of 1 GHz (A17); the buffer then yields half a row of
 * inputs (A10). */
static const double table1_clock_hz = 1e9, buffer_bytes_per_mac = VEDA_ACTIVATION_BYTES / 2.0;
enum { TABLE1_BUFFER_BYTES = 128 };
static const double table1_hop = 0.37 / 0.19; /* energy of 28 nm over 14, the node nearest to 12 that DeepScaleTool has */

/* The buffer: joules of a byte that is read, and leakage of one chip, at the nominal supply. Where a table has static and dynamic
 * power together, `share` of it leaks. */
static double buffer_byte_joules(const struct veda_params *p, const struct veda_chip *chip, double share, double *ret_leakage_w)
{
    const struct dse_sram *s = &chip->buffer;
    double together = isnan(s->leakage_mw) && !isnan(s->dynamic_mw) ? share : 0;
    double leakage_mw = isnan(s->leakage_mw) ? together * s->dynamic_mw : s->leakage_mw;
    *ret_leakage_w = isnan(leakage_mw) ? 0 : leakage_mw / DSE_MW_PER_W * chip->memory.power;
    if (isnan(s->dynamic_mw)) return s->read_pj * DSE_PICO * DSE_BITS_PER_BYTE / (double)p->sram_word_bits * chip->memory.energy;
    return (1 - together) * s->dynamic_mw / DSE_MW_PER_W * chip->memory.energy / (table1_clock_hz * TABLE1_BUFFER_BYTES);
}

void veda_power_at(const struct veda_point *pt, const struct veda_chip *chip, struct veda_power *ret)
{
    const struct veda_params *p = pt->p;
    *ret = (struct veda_power){.dram = &p->dram, .constant = p->power == DSE_POWER_CONSTANT};
    if (ret->constant) {
        ret->watts = pt->devices * chip->total_w;
        ret->sram_w = pt->devices * chip->power_w[VEDA_BUFFER];
        return;
    }
    const struct dse_costs *book = p->economics.costs;
    const struct dse_supply *s = &chip->supply;
    double share = dse_by_node(book, DSE_C_leakage_share_65nm, VEDA_TABLE1_NM), clock = dse_physical(book, DSE_C_clock_share);
    double buffer_leakage_w, modules_w = 0;
    double byte_j = buffer_byte_joules(p, chip, share, &buffer_leakage_w);
    for (int i = 0; i < VEDA_MODULES; i++) modules_w += chip->table_w[i];
    double dynamic_w = (1 - share) * chip->logic.energy; /* of a watt of Table I, at its clock */
    ret->leakage_w = pt->devices * s->leakage * (share * chip->logic.power * modules_w + buffer_leakage_w);
    ret->clock_w = pt->devices * s->clock_tree * clock * dynamic_w * modules_w * pt->clock_hz / table1_clock_hz;
    ret->watts = ret->leakage_w + ret->clock_w;
    double cycle_j = (1 - clock) * dynamic_w * s->energy / table1_clock_hz;
    ret->mac_j = cycle_j * (chip->table_w[VEDA_PE_ARRAY] + chip->table_w[VEDA_SCHEDULE]) / pt->array.pes;
    ret->sfu_op_j = cycle_j * chip->table_w[VEDA_SFU] / (double)(p->sfu_exp + p->sfu_div);
    ret->vote_j = cycle_j * chip->table_w[VEDA_VOTING_ENGINE] / (double)p->vote_lanes;
    ret->mac_buffer_j = buffer_bytes_per_mac * byte_j * s->energy;
    ret->byte_interface_j = dse_interface_joules(book, p->dram.memory, table1_hop * chip->logic.energy * s->energy);
}

struct dse_joules veda_joules_of(const struct veda_power *e, const struct veda_work *w)
{
    struct dse_joules j = {.dram = dse_dram_joules(e->dram, w->bytes), .links = w->link_joules};
    if (e->constant) {
        j.sram = e->sram_w * w->seconds;
        j.modules = (e->watts - e->sram_w) * w->seconds;
        j.all = j.work = e->watts * w->seconds + j.dram + j.links;
        return j;
    }
    j.leakage = e->leakage_w * w->seconds;
    j.clock = e->clock_w * w->seconds;
    j.modules = e->mac_j * w->macs + e->sfu_op_j * w->sfu_ops + e->vote_j * w->votes;
    j.sram = e->mac_buffer_j * w->macs;
    j.interface = e->byte_interface_j * w->bytes;
    j.work = j.modules + j.sram + j.dram + j.interface + j.links;
    j.all = j.leakage + j.clock + j.work;
    return j;
}

struct veda_work veda_linear_work(const struct veda_linear *l)
{
    return (struct veda_work){.seconds = l->time_s, .macs = l->ops / DSE_OPS_PER_MAC, .bytes = l->bytes};
}

/* E12: a norm before the QKV projection and the FFN of each layer, and before the output head of each sequence. */
struct veda_work veda_norm_work(const struct veda_point *pt, const struct veda_step *s)
{
    double rows = 2 * pt->layers * pt->batch * pt->queries + pt->batch;
    return (struct veda_work){.seconds = s->norm_s, .sfu_ops = rows * (double)pt->llm->hidden};
}

/* E9: an exponential a score for the running sum, an exponential and a division for the weight; or as many of both as there are
 * passes. E10: a score goes into the engine, and (a policy that waits for all of them) out of its FIFO once more. */
struct veda_score_work veda_score_work(const struct veda_point *pt)
{
    double scores = pt->layers * pt->batch * pt->kv_heads * pt->group * pt->positions;
    double votes = !pt->policy->counts ? 0 : pt->policy->drained ? 2 * scores : scores;
    if (pt->p->softmax == VEDA_ELEMENT_SERIAL)
        return (struct veda_score_work){.sums = scores, .weights = 2 * scores, .votes = votes};
    return (struct veda_score_work){.stage = 2 * (double)pt->p->softmax_passes * scores, .votes = votes};
}

struct veda_work veda_attention_work(const struct veda_point *pt, const struct veda_attention *a)
{
    struct veda_score_work s = veda_score_work(pt);
    return (struct veda_work){.seconds = a->time_s,
                              .macs = a->ops / DSE_OPS_PER_MAC + a->widened,
                              .bytes = a->bytes,
                              .sfu_ops = s.sums + s.weights + s.stage,
                              .votes = s.votes};
}

struct veda_work veda_step_work(const struct veda_point *pt, const struct veda_step *s)
{
    struct veda_work w = veda_attention_work(pt, &s->attention);
    w.seconds = s->time_s;
    w.macs = s->ops / DSE_OPS_PER_MAC + s->attention.widened;
    w.bytes = s->bytes;
    w.sfu_ops += veda_norm_work(pt, s).sfu_ops;
    return w;
}
