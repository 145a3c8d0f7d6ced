/* Bounds of area, power and energy (E14, E15, E28 to E30) over a box. */
#include "veda_bound.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

typedef struct dse_interval iv;

static const double last_digits = 1e-14; /* more than those of a few operations */
static const double supply_rounding = 4e-12;

/* ---- the chip ------------------------------------------------------------------------------------------------------------ */

/* One end of the box, as veda_power_at sees it. */
struct power_end {
    struct veda_params p;
    struct veda_point pt;
    struct veda_chip chip;
};

static double end_of(iv v, bool least)
{
    const double x = least ? v.lo : v.hi;
    return isinf(x) ? (double)NAN : x; /* what the table does not give */
}

static void power_end(const struct veda_params *p, const struct dse_sram_bound *sram, const struct dse_supply_bound *supply,
                      bool least, struct power_end *ret)
{
    *ret = (struct power_end){.p = *p};
    ret->pt = (struct veda_point){.p = &ret->p, .devices = (double)p->devices, .clock_hz = p->clock_ghz * DSE_GIGA};
    veda_array_init(&ret->pt.array, p);
    veda_modules_at(p, &ret->chip);
    ret->chip.buffer = (struct dse_sram){.area_mm2 = end_of(sram->area_mm2, least),
                                         .leakage_mw = end_of(sram->leakage_mw, least),
                                         .read_pj = end_of(sram->read_pj, least),
                                         .write_pj = (double)NAN,
                                         .dynamic_mw = end_of(sram->dynamic_mw, least),
                                         .access_ns = (double)NAN};
    veda_buffer_at(p, &ret->chip);
    ret->chip.supply = (struct dse_supply){.energy = least ? supply->energy.lo : supply->energy.hi,
                                           .clock_tree = least ? supply->clock_tree.lo : supply->clock_tree.hi,
                                           .leakage = least ? supply->leakage.lo : supply->leakage.hi};
}

/* Watts grow with everything there is more of; what an operation takes falls with the PEs, which share the schedule, and with the
 * width of a word of the buffer. */
static void power_of_end(const struct veda_params *sizes, const struct veda_params *other, const struct dse_sram_bound *sram,
                         const struct dse_supply_bound *supply, bool least, struct power_end *ret, struct veda_power *ret_power)
{
    struct veda_params p = *sizes;
    struct veda_power of_work;
    struct power_end e;
    p.sram_word_bits = other->sram_word_bits;
    power_end(&p, sram, supply, least, ret);
    veda_power_at(&ret->pt, &ret->chip, ret_power);
    if (ret_power->constant) return;
    p.pe_rows = other->pe_rows;
    p.pe_columns = other->pe_columns;
    p.pe_copies = other->pe_copies;
    power_end(&p, sram, supply, least, &e);
    veda_power_at(&e.pt, &e.chip, &of_work);
    ret_power->mac_j = of_work.mac_j;
    ret_power->mac_buffer_j = of_work.mac_buffer_j;
    ret_power->sfu_op_j = of_work.sfu_op_j;
    ret_power->vote_j = of_work.vote_j;
    ret_power->byte_interface_j = of_work.byte_interface_j;
}

/* Of a chip at the least end, which has the least watts of what goes with the clock a cycle; what does not, leakage, is least a
 * cycle at the fastest clock (that of a supply grows with the clock, by less). */
static void draws_of(struct power_end *least, double fastest_hz, struct veda_draws *ret)
{
    struct veda_power all, rest;
    struct veda_chip without = least->chip;
    const double hz = least->pt.clock_hz;
    least->pt.devices = 1;
    veda_power_at(&least->pt, &least->chip, &all);
    without.total_w -= without.power_w[VEDA_PE_ARRAY];
    without.table_w[VEDA_PE_ARRAY] = 0;
    veda_power_at(&least->pt, &without, &rest);
    ret->pes = least->pt.array.pes;
    ret->device_w = all.watts;
    if (all.constant) { /* all but the leakage of the buffer goes with the clock */
        const struct dse_sram *s = &least->chip.buffer;
        const double leakage_w = isnan(s->leakage_mw) ? 0 : s->leakage_mw / DSE_MW_PER_W * least->chip.memory.energy;
        ret->pe_cycle_j = (all.watts - rest.watts) / hz / ret->pes;
        ret->device_cycle_j = (all.watts - leakage_w) / hz + leakage_w / fastest_hz;
        return;
    }
    ret->pe_cycle_j = ((all.leakage_w - rest.leakage_w) / fastest_hz + (all.clock_w - rest.clock_w) / hz) / ret->pes;
    ret->device_cycle_j = all.leakage_w / fastest_hz + all.clock_w / hz;
}

static bool supply_of(const struct veda_params *lo, const struct veda_params *hi, struct dse_supply_bound *ret)
{
    const iv one = dse_iv_of(1);
    *ret = (struct dse_supply_bound){one, one, one, one, dse_unbounded};
    if (lo->power == DSE_POWER_CONSTANT) return true;
    if (!dse_supply_bound(lo->economics.costs, lo->technology, VEDA_TABLE1_NM, VEDA_PUBLISHED_GHZ,
                          dse_iv(lo->clock_ghz, hi->clock_ghz), ret))
        return false;
    iv *const factors[] = {&ret->energy, &ret->clock_tree, &ret->leakage}; /* known to 1e-12, as volts are */
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++)
        *factors[i] = dse_iv(factors[i]->lo * (1 - supply_rounding), factors[i]->hi * (1 + supply_rounding));
    return true;
}

/* E34: chips that stand alone have no links. False: no die holds them. */
static bool add_links(const struct veda_params *lo, const struct veda_params *hi, struct veda_bound_chip *ret)
{
    const bool least = dse_workload_chips(&lo->workload) > 1, most = dse_workload_chips(&hi->workload) > 1;
    const double reticle = dse_physical(lo->economics.costs, DSE_C_reticle_mm2), most_mm2 = most ? veda_links_mm2(hi) : 0;
    ret->links_mm2 = dse_iv(least ? veda_links_mm2(lo) : 0, most_mm2);
    if (isnan(most_mm2)) {
        ret->links_mm2 = dse_unbounded;
        return true; /* of no point of the box */
    }
    if (most_mm2 <= 0) return true;
    ret->die.area_mm2 = dse_iv_add(ret->die.area_mm2, ret->links_mm2);
    ret->die.area_mm2.hi = dse_min(ret->die.area_mm2.hi, reticle);
    return ret->die.area_mm2.lo <= reticle;
}

bool veda_bound_chip(const struct veda_params *lo, const struct veda_params *hi, struct veda_bound_chip *ret)
{
    struct dse_sram_bound sram;
    struct dse_supply_bound supply;
    struct power_end least, most;
    const iv mib = dse_iv(lo->buffer_kib * DSE_KIB / DSE_MIB, hi->buffer_kib * DSE_KIB / DSE_MIB);
    if (!dse_sram_bound(lo->sram, mib, dse_iv_i64(lo->sram_word_bits, hi->sram_word_bits), &sram)) return false;
    if (!supply_of(lo, hi, &supply)) return false;
    power_of_end(lo, hi, &sram, &supply, true, &least, &ret->least);
    power_of_end(hi, lo, &sram, &supply, false, &most, &ret->most);
    ret->least.dram = &lo->dram;
    ret->most.dram = &hi->dram;
    ret->volts = supply.volts;
    ret->core_mm2 = dse_iv(least.chip.total_mm2, most.chip.total_mm2);
    if (isnan(ret->core_mm2.lo + ret->core_mm2.hi + least.chip.total_w) || isnan(ret->least.watts) ||
        isnan(ret->least.byte_interface_j))
        return false;
    draws_of(&least, hi->clock_ghz * DSE_GIGA, &ret->draws);
    return dse_die_bound(lo->economics.costs, lo->area, ret->core_mm2, dse_iv_of(1), &lo->dram, &hi->dram, lo->technology->node_nm,
                         lo->area == DSE_AREA_DIE, &ret->die) &&
           add_links(lo, hi, ret);
}

/* ---- what is drawn whatever is done -------------------------------------------------------------------------------------- */

void veda_least_add(const struct veda_box *b, const struct veda_part *p, struct veda_least *sum)
{
    const struct veda_draws *d = &b->chip.draws;
    const struct veda_point *fast = &b->end[VEDA_FAST].pt, *slow = &b->end[VEDA_SLOW].pt;
    const double devices = (double)b->lo.devices, ideal = p->macs / fast->array.pes; /* cycles of one device that has them all */
    const double cycles = dse_max(devices * p->cycles, ideal), pe_cycles = dse_max(p->macs, d->pes * cycles);
    const double by_cycles = dse_max(0, d->device_cycle_j - d->pes * d->pe_cycle_j) * cycles + pe_cycles * d->pe_cycle_j;
    const double device_s = dse_max(devices * p->seconds, dse_max(p->all_dram_s, ideal / fast->clock_hz));
    sum->joules += dse_max(d->device_w * device_s, by_cycles);
    sum->device_s += device_s;
    sum->pe_cycles += dse_max(pe_cycles, d->pes * slow->clock_hz * device_s);
}

static void add_linear(const struct veda_box *b, const struct veda_linear *l, struct veda_least *sum)
{
    const struct veda_end *e = &b->end[VEDA_FAST];
    const bool beside = e->p.softmax == VEDA_ELEMENT_SERIAL; /* E12 */
    const struct veda_part product = {.seconds = beside ? dse_max(l->time_s, l->norm_s) : l->time_s,
                                      .cycles = (beside ? dse_max(l->gemv_s, l->norm_s) : l->gemv_s) * e->pt.clock_hz,
                                      .macs = l->ops / DSE_OPS_PER_MAC,
                                      .all_dram_s = l->bytes * e->pt.stream_s};
    const struct veda_part norm = {.seconds = l->norm_s, .cycles = l->norm_s * e->pt.clock_hz};
    veda_least_add(b, &product, sum);
    if (!beside) veda_least_add(b, &norm, sum);
}

/* `each`: of a token, of what the step does. */
static void add_period(const struct veda_box *b, const struct veda_period *t, double each, struct veda_least *sum)
{
    const struct veda_point *pt = &b->end[VEDA_FAST].pt;
    const struct veda_part p = {.seconds = t->time_s * each,
                                .cycles = dse_max(t->gemv_s, dse_max(t->sfu_s, t->vote_s)) * pt->clock_hz * each,
                                .macs = pt->layers * pt->batch * pt->kv_heads * pt->group * pt->positions * pt->d * each,
                                .all_dram_s = t->bytes * pt->stream_s * each};
    veda_least_add(b, &p, sum);
}

struct veda_least veda_least_of(const struct veda_box *b)
{
    const struct veda_end *e = &b->end[VEDA_FAST];
    const struct veda_attention *a = &e->step.attention;
    const double each = 1 / e->pt.tokens, waits = (a->softmax_s + a->drain_s) * each;
    const struct veda_part softmax = {.seconds = waits, .cycles = waits * e->pt.clock_hz},
                           exchange = {.seconds = e->token.exchange_s};
    struct veda_least sum = {0};
    veda_least_add(b, &softmax, &sum);
    veda_least_add(b, &exchange, &sum);
    add_period(b, &a->scores, each, &sum);
    add_period(b, &a->values, each, &sum);
    for (int i = 0; i < VEDA_LINEARS; i++) add_linear(b, &e->token.linear[i], &sum);
    return sum;
}

/* ---- energy -------------------------------------------------------------------------------------------------------------- */

static struct veda_work work_of(const struct veda_end *e, double seconds, double bytes)
{
    const struct veda_token *k = &e->token;
    return (struct veda_work){.seconds = seconds,
                              .macs = k->ops / DSE_OPS_PER_MAC + k->widened,
                              .bytes = bytes,
                              .sfu_ops = k->sfu_ops,
                              .votes = k->votes};
}

/* A part of a token that moves bytes, of which there are between two numbers: seconds at most are the larger of `other_s` and of
 * the bytes times byte_s. */
struct moved {
    double lo, hi, other_s, byte_s;
};
enum { MOVING = VEDA_LINEARS + 2 };

static struct moved moved_by_linear(const struct veda_end *fast, const struct veda_end *slow, int i)
{
    const struct veda_linear *l = &slow->token.linear[i];
    const bool beside = slow->p.softmax == VEDA_ELEMENT_SERIAL;
    const double share =
        dse_max(l->weights_s / (l->weight_bytes * slow->pt.stream_s), slow->pt.device_kv_heads / slow->pt.kv_heads);
    return (struct moved){.lo = fast->token.linear[i].bytes,
                          .hi = l->bytes,
                          .other_s = beside ? dse_max(l->gemv_s, l->norm_s) : l->gemv_s,
                          .byte_s = share * slow->pt.stream_s};
}

static struct moved moved_by_period(const struct veda_end *fast, const struct veda_end *slow, const struct veda_period *least,
                                    const struct veda_period *most)
{
    const double share = slow->pt.device_kv_heads / slow->pt.kv_heads;
    return (struct moved){.lo = least->bytes / fast->pt.tokens,
                          .hi = most->bytes / slow->pt.tokens,
                          .other_s = dse_max(most->gemv_s, dse_max(most->sfu_s, most->vote_s)) / slow->pt.tokens,
                          .byte_s = share * dse_max(slow->pt.stream_s, slow->pt.row_s / fast->pt.row_factor)};
}

/* Joules over seconds where each part moves as many bytes, of the two numbers it may, as make joules - watts * seconds least. */
static double watts_at(const struct moved parts[MOVING], double joules, double seconds, double byte_j, double watts)
{
    for (int i = 0; i < MOVING; i++) {
        const struct moved *p = &parts[i];
        const double lo_s = dse_max(p->other_s, p->lo * p->byte_s), hi_s = dse_max(p->other_s, p->hi * p->byte_s);
        const bool few = byte_j * p->lo - watts * lo_s <= byte_j * p->hi - watts * hi_s;
        joules += byte_j * (few ? p->lo : p->hi);
        seconds += few ? lo_s : hi_s;
    }
    return joules / seconds;
}

/* The least watts of work: joules are linear in the bytes of each part, seconds at most convex, so that their quotient is least
 * where each part moves the least or the most. Dinkelbach's iteration finds that: watts_at falls, and stays at the least. */
static double least_work_w(const struct veda_box *b, double joules)
{
    enum { STEPS = 8 };
    const struct veda_end *fast = &b->end[VEDA_FAST], *slow = &b->end[VEDA_SLOW];
    const struct veda_attention *least = &fast->step.attention, *most = &slow->step.attention;
    const double byte_j = dse_dram_joules(b->chip.least.dram, 1) + b->chip.least.byte_interface_j;
    double seconds = (most->softmax_s + most->drain_s) / slow->pt.tokens + slow->token.exchange_s, watts = (double)INFINITY;
    struct moved parts[MOVING];
    for (int i = 0; i < VEDA_LINEARS; i++) {
        parts[i] = moved_by_linear(fast, slow, i);
        if (slow->p.softmax == VEDA_STAGE) seconds += slow->token.linear[i].norm_s;
    }
    parts[VEDA_LINEARS] = moved_by_period(fast, slow, &least->scores, &most->scores);
    parts[VEDA_LINEARS + 1] = moved_by_period(fast, slow, &least->values, &most->values);
    for (int i = 0; i < STEPS; i++) {
        const double next = watts_at(parts, joules, seconds, byte_j, i == 0 ? 0 : watts);
        if (next >= watts * (1 - last_digits)) return next * (1 - 2 * last_digits);
        watts = next;
    }
    return 0;
}

static void set_energies(const struct dse_joules *least, const struct dse_joules *most, bool constant, struct veda_metrics *f,
                         struct veda_metrics *c)
{
#define SET(metric, cause) \
    dse_bound_set(&f->metric, &c->metric, dse_iv_scale(dse_iv(least->cause, dse_max(least->cause, most->cause)), DSE_MJ_PER_J))
    SET(energy_dram_mj, dram);
    SET(energy_links_mj, links);
    SET(energy_sram_mj, sram);
    SET(energy_modules_mj, modules);
    f->energy_clock_mj = f->energy_leakage_mj = f->energy_interface_mj = (double)NAN;
    c->energy_clock_mj = c->energy_leakage_mj = c->energy_interface_mj = (double)NAN;
    if (constant) return;
    SET(energy_clock_mj, clock);
    SET(energy_leakage_mj, leakage);
    SET(energy_interface_mj, interface);
#undef SET
}

void veda_bound_joules(const struct veda_bound_chip *chip, const struct veda_spent *spent, struct dse_totals_bound *t,
                       struct veda_metrics *f, struct veda_metrics *c)
{
    const bool constant = chip->least.constant;
    const struct dse_joules lo = veda_joules_of(&chip->least, &spent->least), hi = veda_joules_of(&chip->most, &spent->most);
    const double draws = dse_max(spent->drawn, chip->least.watts * t->token_s.lo);
    const double work = constant ? lo.dram + lo.links : lo.work, on_chip = constant ? 0 : lo.modules + lo.sram;
    const double most_on_chip = constant ? 0 : hi.modules + hi.sram;
    const iv chip_joules = dse_iv(draws + on_chip, dse_max(draws, chip->most.watts * t->token_s.hi) + most_on_chip);
    const iv chip_w = dse_iv(chip->least.watts + on_chip / t->token_s.hi, chip->most.watts + most_on_chip / t->token_s.lo);
    t->token_joules = dse_iv_add(dse_iv_of(0), dse_iv(draws + work, dse_max(draws + work, hi.all)));
    t->watts = dse_iv(chip->least.watts + dse_max(work / t->token_s.hi, spent->work_w), (double)INFINITY);
    dse_totals_narrow(t);
    set_energies(&lo, &hi, constant, f, c);
    const iv ops = dse_iv_scale(spent->ops, 1 / DSE_GIGA);
#define SET(metric, v) dse_bound_set(&f->metric, &c->metric, v)
    SET(supply_v, constant ? dse_unbounded : chip->volts);
    SET(tokens_per_j, dse_iv_inv(t->token_joules));
    SET(chip_power_w, dse_iv_both(chip_w, dse_iv_div(chip_joules, t->token_s)));
    SET(chip_gop_per_j, dse_iv_div(ops, chip_joules));
    SET(matmul_gops, dse_iv_div(ops, t->token_s));
#undef SET
}

void veda_bound_energy(const struct veda_box *b, double drawn, struct dse_totals_bound *t, struct veda_metrics *f,
                       struct veda_metrics *c)
{
    const struct veda_bound_chip *chip = &b->chip;
    struct veda_spent spent = {.least = work_of(&b->end[VEDA_FAST], t->token_s.lo, t->token_bytes.lo),
                               .most = work_of(&b->end[VEDA_SLOW], t->token_s.hi, t->token_bytes.hi),
                               .drawn = drawn,
                               .ops = dse_iv(b->end[VEDA_FAST].token.ops, b->end[VEDA_SLOW].token.ops)};
    const struct dse_joules lo = veda_joules_of(&chip->least, &spent.least);
    const double still = chip->least.constant ? 0 : lo.work - lo.dram - lo.interface; /* whatever is moved */
    spent.work_w = least_work_w(b, still);
    veda_bound_joules(chip, &spent, t, f, c);
}

/* ---- what it costs ------------------------------------------------------------------------------------------------------- */

static struct dse_bill bill_of(const struct veda_params *p, int64_t devices, double die_mm2)
{
    return dse_bill_of_chip(&p->economics, (double)devices, die_mm2, p->technology->node_nm, &p->dram);
}

/* Dollars and grams of a million tokens are those of one device and the tokens that it makes of them: more devices make more. */
static void narrow_costs(const struct veda_box *b, const struct veda_least *least, const struct dse_totals_bound *t,
                         struct dse_common *f, struct dse_common *c)
{
    const double fewest = (double)b->lo.devices, most = (double)b->hi.devices;
    const struct dse_bill lo = bill_of(&b->lo, 1, b->chip.die.area_mm2.lo), hi = bill_of(&b->hi, 1, b->chip.die.area_mm2.hi);
    const iv watts = dse_iv(dse_max(b->chip.draws.device_w, t->watts.lo / most), t->watts.hi / fewest);
    const iv each = dse_iv_div(dse_iv_of(1), dse_iv(least->device_s * (1 - 1e-15), t->token_s.hi * most));
    struct dse_priced_bound priced;
    if (fewest >= most) return;
    dse_bill_bound(&lo, &hi, watts, each, t->token_joules, &priced);
    const iv usd = dse_iv_both(dse_iv(f->usd_per_mtoken, c->usd_per_mtoken), priced.usd_per_mtoken);
    const iv grams = dse_iv_both(dse_iv(f->gco2_per_mtoken, c->gco2_per_mtoken), priced.gco2_per_mtoken);
    if (!isnan(f->usd_per_mtoken)) dse_bound_set(&f->usd_per_mtoken, &c->usd_per_mtoken, usd);
    if (!isnan(f->gco2_per_mtoken)) dse_bound_set(&f->gco2_per_mtoken, &c->gco2_per_mtoken, grams);
}

void veda_bound_common(const struct veda_box *b, const struct veda_least *least, struct dse_totals_bound *t, struct dse_common *f,
                       struct dse_common *c)
{
    const struct dse_bill bill_lo = bill_of(&b->lo, b->lo.devices, b->chip.die.area_mm2.lo),
                          bill_hi = bill_of(&b->hi, b->hi.devices, b->chip.die.area_mm2.hi);
    t->bill_lo = &bill_lo;
    t->bill_hi = &bill_hi;
    dse_common_bound(t, f, c);
    narrow_costs(b, least, t, f, c);
}
