#include "graph/primitive.h"

#include <dse/bound.h>
#include <dse/fixed.h>
#include <dse/linear_exp.h>
#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <string.h>

const struct group_row group_rows[GROUPS] = {
    [GROUP_WORKLOAD] = {"workload", sizeof(struct dse_workload), dse_workload_params, NULL},
    [GROUP_REQUEST] = {"request", sizeof(struct dse_request), dse_request_params, NULL},
    [GROUP_MEMORY] = {"memory", sizeof(struct dse_dram), dse_dram_params, dse_dram_refuse},
    [GROUP_CACHE] = {"cache", sizeof(struct dse_cache), dse_cache_params, NULL},
    [GROUP_ECONOMICS] = {"economics", sizeof(struct dse_economics), dse_economics_params, NULL},
    [GROUP_LINKS] = {"links", sizeof(struct dse_links), dse_links_params, NULL},
    [GROUP_LOCALITY] = {"locality", sizeof(struct dse_local), dse_local_params, NULL},
    [GROUP_EVENTS] = {"events", sizeof(struct dse_events), dse_events_params, NULL},
    [GROUP_SAMPLING] = {"sampling", sizeof(struct dse_sampling), dse_sampling_params, NULL},
};

static const void *group_at(const struct group_places *g, enum group which, const void *params)
{
    return g->has[which] ? (const char *)params + g->offset[which] : NULL;
}

struct groups groups_of(const struct group_places *g, const void *params)
{
    return (struct groups){
        .params = params,
        .workload = group_at(g, GROUP_WORKLOAD, params),
        .request = group_at(g, GROUP_REQUEST, params),
        .memory = group_at(g, GROUP_MEMORY, params),
        .cache = group_at(g, GROUP_CACHE, params),
        .economics = group_at(g, GROUP_ECONOMICS, params),
        .links = group_at(g, GROUP_LINKS, params),
        .local = group_at(g, GROUP_LOCALITY, params),
    };
}

struct groups groups_of_step(const struct group_places *g, const void *params, struct dse_workload *ret_step)
{
    struct groups ret = groups_of(g, params);
    if (!ret.workload || !ret.request || ret.workload->phase != DSE_DECODE || ret.request->generate == 0) return ret;
    *ret_step = *ret.workload;
    ret_step->context = mean_context(ret.request);
    ret.workload = ret_step;
    return ret;
}

bool groups_has(const struct group_places *g, unsigned groups)
{
    for (int i = 0; i < GROUPS; i++)
        if (groups >> i & 1 && !g->has[i] && i != GROUP_REQUEST) return false;
    return true;
}

unsigned groups_same(const struct groups *a, const struct groups *b, unsigned groups)
{
    const void *const of_a[GROUPS] = {a->workload, a->request, a->memory, a->cache, a->economics, a->links, a->local};
    const void *const of_b[GROUPS] = {b->workload, b->request, b->memory, b->cache, b->economics, b->links, b->local};
    unsigned ret = 0;
    for (int i = 0; i < GROUPS; i++)
        if (groups >> i & 1 && (!of_a[i] || memcmp(of_a[i], of_b[i], group_rows[i].size) == 0)) ret |= 1u << i;
    return ret;
}

/* Shorthands of this file: a point's answers and a box's. */
#define POINT(name) static void name(const struct groups *g, const double *a, double *ret)
#define BOX(name) static void name(const struct groups_box *g, const struct graph_range *a, struct graph_range *ret)
#define NO_ARGUMENTS (void)a

/* The interval of an argument. Where it may be no number, the numbers alone are meant. */
static struct dse_interval iv(struct graph_range a)
{
    return range_is_nothing(a) ? dse_unbounded : dse_iv(a.lo, a.hi);
}

static struct graph_range hull(double x, double y)
{
    return isnan(x) || isnan(y) ? range_unknown : (struct graph_range){dse_min(x, y), dse_max(x, y), false, false};
}

/* ---- the workload ----------------------------------------------------------------------------------------------------------- */

POINT(tokens)
{
    NO_ARGUMENTS;
    ret[0] = dse_workload_tokens(g->workload);
}

BOX(tokens_box)
{
    NO_ARGUMENTS;
    ret[0] = range_iv(dse_workload_part_tokens(g->part));
}

POINT(chips)
{
    NO_ARGUMENTS;
    ret[0] = (double)dse_workload_chips(g->workload);
}

BOX(chips_box)
{
    NO_ARGUMENTS;
    ret[0] = hull((double)dse_workload_chips(&g->part->lo), (double)dse_workload_chips(&g->part->hi));
}

POINT(passes)
{
    NO_ARGUMENTS;
    ret[0] = (double)dse_workload_passes(g->workload);
}

BOX(passes_box)
{
    NO_ARGUMENTS;
    ret[0] = hull((double)dse_workload_passes(&g->part->least), (double)dse_workload_passes(&g->part->most));
}

POINT(widest)
{
    NO_ARGUMENTS;
    ret[0] = dse_workload_weight_bits(g->workload).widest / DSE_BITS_PER_BYTE;
}

BOX(widest_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(dse_workload_weight_bits(&g->part->lo).widest / DSE_BITS_PER_BYTE,
                  dse_workload_weight_bits(&g->part->hi).widest / DSE_BITS_PER_BYTE);
}

POINT(tables)
{
    NO_ARGUMENTS;
    ret[0] = dse_workload_table_bytes(g->workload);
}

BOX(tables_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(dse_workload_table_bytes(&g->part->least), dse_workload_table_bytes(&g->part->most));
}

POINT(footprint)
{
    NO_ARGUMENTS;
    ret[0] = dse_workload_footprint(g->workload);
}

BOX(footprint_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(dse_workload_footprint(&g->part->least), dse_workload_footprint(&g->part->most));
}

/* The width of numbers makes it no other one. */
enum { PLAIN = DSE_CAN_SCALES | DSE_CAN_ACTIVATIONS | DSE_CAN_FORMATS };

POINT(plain)
{
    NO_ARGUMENTS;
    ret[0] = !dse_workload_unknown(g->workload, PLAIN);
    ret[1] = dse_llm_is_plain(g->workload->llm);
}

/* Nothing that makes it another one comes and goes between the ends of a part. */
BOX(plain_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(!dse_workload_unknown(&g->part->lo, PLAIN), !dse_workload_unknown(&g->part->hi, PLAIN));
    ret[1] = range_of(dse_llm_is_plain(g->part->lo.llm));
}

POINT(row)
{
    NO_ARGUMENTS;
    ret[0] = dse_kv_row_bytes(g->workload);
}

BOX(row_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(dse_kv_row_bytes(&g->part->lo), dse_kv_row_bytes(&g->part->hi));
}

static const double positions_most = 1e15; /* more are no number of positions */

static double footprint_with(const struct dse_workload *with, double positions)
{
    struct dse_workload w = *with;
    w.context = (int64_t)(positions >= 0 && positions < positions_most ? positions : positions_most);
    return dse_workload_footprint(&w);
}

POINT(footprint_at)
{
    ret[0] = footprint_with(g->workload, a[0]);
}

/* It grows with the positions; what is no number, and what is below 0, counts as the most. */
BOX(footprint_at_box)
{
    const bool odd = a[0].none || !(a[0].lo >= 0);
    ret[0] =
        hull(footprint_with(&g->part->least, odd ? 0 : a[0].lo), footprint_with(&g->part->most, odd ? (double)INFINITY : a[0].hi));
}

/* Rows of a step that choose among the routed experts. */
static bool is_rows(double rows)
{
    return rows >= 0 && rows <= positions_most;
}

/* Whole numbers of experts, of which a token chooses no more than there are. */
static bool is_choice(double routed, double chosen)
{
    return routed >= 0 && routed <= positions_most && chosen >= 0 && chosen <= routed && routed == floor(routed) &&
           chosen == floor(chosen);
}

POINT(experts)
{
    const bool known = is_rows(a[0]) && is_choice(a[1], a[2]);
    ret[0] = known ? dse_experts_at_work(g->workload, (struct dse_choice){(int64_t)a[1], (int64_t)a[2]}, a[0]) : (double)NAN;
}

static bool is_one(const struct graph_range *r)
{
    return !r->none && r->lo == r->hi;
}

/* They grow with the rows. Loads of a power law of which the exponent varies are not known to do one thing. */
BOX(experts_box)
{
    const bool alike = g->part->lo.routing_exponent == g->part->hi.routing_exponent || g->part->lo.routing != DSE_ROUTING_POWER_LAW;
    ret[0] = range_unknown;
    const bool fixed = is_one(&a[1]) && is_one(&a[2]) && is_choice(a[1].lo, a[2].lo);
    if (!alike || !fixed || a[0].none || !is_rows(a[0].lo) || !is_rows(a[0].hi)) return;
    const struct dse_choice choice = {(int64_t)a[1].lo, (int64_t)a[2].lo};
    ret[0] = hull(dse_experts_at_work(&g->part->lo, choice, a[0].lo), dse_experts_at_work(&g->part->hi, choice, a[0].hi));
}

/* ---- the memory ------------------------------------------------------------------------------------------------------------- */

POINT(peak)
{
    NO_ARGUMENTS;
    ret[0] = dse_dram_peak(g->memory);
}

BOX(peak_box)
{
    NO_ARGUMENTS;
    ret[0] = range_iv(dse_dram_peak_bound(g->lo.memory, g->hi.memory));
}

POINT(rate)
{
    NO_ARGUMENTS;
    ret[0] = dse_dram_stream_rate(g->memory);
}

BOX(rate_box)
{
    NO_ARGUMENTS;
    ret[0] = range_iv(dse_dram_stream_rate_bound(g->lo.memory, g->hi.memory));
}

POINT(stream)
{
    NO_ARGUMENTS;
    ret[0] = dse_dram_stream_seconds(g->memory, 1);
}

BOX(stream_box)
{
    NO_ARGUMENTS;
    ret[0] = range_iv(dse_dram_stream_seconds_bound(g->lo.memory, g->hi.memory, dse_iv_of(1)));
}

POINT(capacity)
{
    NO_ARGUMENTS;
    ret[0] = g->memory->capacity_gib * DSE_GIB;
}

BOX(capacity_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(g->lo.memory->capacity_gib * DSE_GIB, g->hi.memory->capacity_gib * DSE_GIB);
}

POINT(energy)
{
    NO_ARGUMENTS;
    ret[0] = dse_dram_joules(g->memory, 1);
}

BOX(energy_box)
{
    NO_ARGUMENTS;
    ret[0] = range_iv(dse_dram_joules_bound(g->lo.memory, g->hi.memory, dse_iv_of(1)));
}

/* Bytes in accesses of so many: no others are moved. */
static bool is_access(const double *a)
{
    return a[0] >= 0 && a[1] > 0 && a[1] < (double)INFINITY;
}

POINT(seconds)
{
    ret[0] = is_access(a) ? dse_dram_seconds(g->memory, a[0], a[1]) : (double)NAN;
}

/* Are they arguments of which the forms of dse/bound.h know something? */
static bool positive(struct graph_range a)
{
    return !a.none && a.lo >= 0;
}

BOX(seconds_box)
{
    const bool known = positive(a[0]) && positive(a[1]) && a[1].lo > 0 && a[1].hi < (double)INFINITY;
    ret[0] = known ? range_iv(dse_dram_seconds_bound(g->lo.memory, g->hi.memory, iv(a[0]), iv(a[1]))) : range_unknown;
}

POINT(moved)
{
    ret[0] = is_access(a) ? dse_dram_moved(g->memory, a[0], a[1]) : (double)NAN;
}

BOX(moved_box)
{
    const bool known = positive(a[0]) && positive(a[1]) && a[1].lo > 0 && a[1].hi < (double)INFINITY;
    ret[0] = known ? range_iv(dse_dram_moved_bound(g->lo.memory, g->hi.memory, iv(a[0]), iv(a[1]))) : range_unknown;
}

/* ---- the cache --------------------------------------------------------------------------------------------------------------- */

POINT(widening)
{
    NO_ARGUMENTS;
    ret[0] = dse_cache_widening(g->workload);
}

BOX(widening_box)
{
    NO_ARGUMENTS;
    ret[0] = hull(dse_cache_widening(&g->part->lo), dse_cache_widening(&g->part->hi));
}

POINT(target)
{
    ret[0] = a[0] >= 0 && a[0] <= positions_most ? dse_cache_target(g->cache, a[0]) : (double)NAN;
}

/* By the ratio, by the length, or both: each grows with what it is of. */
BOX(target_box)
{
    struct dse_cache lo = *g->lo.cache, hi = *g->hi.cache;
    const bool by_ratio = lo.cache_length == 0, by_length = hi.cache_length > 0;
    ret[0] = range_unknown;
    if (!positive(a[0]) || a[0].hi > positions_most) return;
    struct graph_range r = range_nothing;
    if (by_length) {
        lo.cache_length = dse_max_i64(1, lo.cache_length);
        r = hull(dse_cache_target(&lo, a[0].lo), dse_cache_target(&hi, a[0].hi));
    }
    if (by_ratio) {
        lo.cache_length = hi.cache_length = 0;
        const struct graph_range ratio = hull(dse_cache_target(&lo, a[0].lo), dse_cache_target(&hi, a[0].hi));
        r = (struct graph_range){dse_min(r.lo, ratio.lo), dse_max(r.hi, ratio.hi), ratio.none, false};
    }
    r.none = false;
    ret[0] = r;
}

static struct dse_cache_step step_at(const struct dse_cache *c, const struct dse_workload *w)
{
    struct dse_cache_step ret;
    dse_cache_step_at(c, w, &ret);
    return ret;
}

POINT(cache_step)
{
    NO_ARGUMENTS;
    const struct dse_cache_step s = step_at(g->cache, g->workload);
    ret[0] = s.read;
    ret[1] = s.pairs;
    ret[2] = s.pages;
    ret[3] = dse_cache_moved(&s);
    ret[4] = dse_cache_footprint(&s, g->workload);
    ret[5] = s.held;
    ret[6] = s.besides_bytes;
}

/* All of it grows from one end of dse_cache_ends to the other. */
BOX(cache_step_box)
{
    NO_ARGUMENTS;
    struct dse_cache few = *g->lo.cache, many = *g->hi.cache;
    const struct dse_workload *least = &g->part->least, *most = &g->part->most;
    struct dse_interval target;
    const bool some = dse_cache_ends(&few, &many, least, dse_iv((double)least->context, (double)most->context), &target);
    for (int i = 0; i < 7; i++) ret[i] = range_nothing;
    if (!some) return;
    const struct dse_cache_step lo = step_at(&few, least), hi = step_at(&many, most);
    ret[0] = hull(lo.read, hi.read);
    ret[1] = hull(lo.pairs, hi.pairs);
    ret[2] = hull(lo.pages, hi.pages);
    ret[3] = hull(dse_cache_moved(&lo), dse_cache_moved(&hi));
    ret[4] = hull(dse_cache_footprint(&lo, least), dse_cache_footprint(&hi, most));
    ret[5] = hull(lo.held, hi.held);
    ret[6] = hull(lo.besides_bytes, hi.besides_bytes);
}

static void quality_of(const struct dse_cache_steps *steps, double *ret)
{
    struct dse_kept kept;
    dse_cache_quality(steps, &kept);
    ret[0] = kept.mass;
    ret[1] = kept.error;
    ret[2] = kept.error_sd;
}

/* What is known of the output: NaN where nobody says. */
POINT(quality)
{
    NO_ARGUMENTS;
    const struct dse_cache_steps steps = dse_cache_steps_of(g->cache, g->workload, g->request);
    quality_of(&steps, ret);
}

/* Steps of attention in fixed point, where a[0] is not 0. *ret_arithmetic outlives them. */
static struct dse_cache_steps inexact_steps(const struct groups *g, const double *a, struct dse_arithmetic *ret_arithmetic)
{
    struct dse_cache_steps ret = dse_cache_steps_of(g->cache, g->workload, g->request);
    *ret_arithmetic = dse_fixed_point(a[1], a[2], a[3]);
    if (a[0] != 0) ret.arithmetic = ret_arithmetic;
    return ret;
}

POINT(inexact)
{
    struct dse_arithmetic arithmetic;
    const struct dse_cache_steps steps = inexact_steps(g, a, &arithmetic);
    quality_of(&steps, ret);
}

/* Points without a number may lie among the others. */
static struct graph_range some_of(struct dse_interval v)
{
    return (struct graph_range){v.lo, v.hi, true, false};
}

/* Steps of a generation and single ones are not told apart inside a box. */
static bool are_alike(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi)
{
    return (lo->generate > 0) == (hi->generate > 0);
}

static void bound_quality(const struct groups_box *g, const struct dse_cache_steps *lo, const struct dse_cache_steps *hi,
                          struct graph_range *ret)
{
    struct dse_interval target;
    struct dse_kept_bound b;
    for (int i = 0; i < 3; i++) ret[i] = range_unknown;
    const struct dse_interval seen = {dse_min(lo->before, hi->before), dse_max(lo->before, hi->before)};
    if (!are_alike(lo, hi) || !dse_cache_target_bound(g->lo.cache, g->hi.cache, g->lo.workload, seen, &target)) return;
    dse_cache_quality_bound(lo, hi, target, &b);
    ret[0] = some_of(b.mass);
    ret[1] = some_of(b.error);
    ret[2] = some_of(b.error_sd);
}

BOX(quality_box)
{
    NO_ARGUMENTS;
    const struct dse_cache_steps lo = dse_cache_steps_of(g->lo.cache, g->lo.workload, g->lo.request),
                                 hi = dse_cache_steps_of(g->hi.cache, g->hi.workload, g->hi.request);
    bound_quality(g, &lo, &hi, ret);
}

/* The ends of what [arithmetic] says. False: they differ in whether it counts, or are not known. */
static bool inexact_ends(const struct graph_range *a, double *lo, double *hi)
{
    bool ok = !a[0].none && a[0].lo == a[0].hi;
    for (int i = 0; i < 4; i++) {
        lo[i] = a[i].lo;
        hi[i] = a[i].hi;
        ok = ok && !a[i].none;
    }
    return ok;
}

BOX(inexact_box)
{
    double less[4], more[4];
    struct dse_arithmetic of_less, of_more;
    for (int i = 0; i < 3; i++) ret[i] = range_unknown;
    if (!inexact_ends(a, less, more)) return;
    const struct dse_cache_steps lo = inexact_steps(&g->lo, less, &of_less), hi = inexact_steps(&g->hi, more, &of_more);
    bound_quality(g, &lo, &hi, ret);
}

static void score_of(const struct dse_cache_steps *steps, double *ret)
{
    struct dse_score s;
    dse_cache_score(steps, &s);
    ret[0] = s.task_score;
    ret[1] = s.task_loss;
}

POINT(score)
{
    NO_ARGUMENTS;
    const struct dse_cache_steps steps = dse_cache_steps_of(g->cache, g->workload, g->request);
    score_of(&steps, ret);
}

POINT(inexact_score)
{
    struct dse_arithmetic arithmetic;
    const struct dse_cache_steps steps = inexact_steps(g, a, &arithmetic);
    score_of(&steps, ret);
}

static void bound_score(const struct dse_cache_steps *lo, const struct dse_cache_steps *hi, struct graph_range *ret)
{
    struct dse_interval score, loss;
    ret[0] = ret[1] = range_unknown;
    if (!are_alike(lo, hi)) return;
    dse_cache_score_bound(lo, hi, &score, &loss);
    ret[0] = some_of(score);
    ret[1] = some_of(loss);
}

BOX(score_box)
{
    NO_ARGUMENTS;
    const struct dse_cache_steps lo = dse_cache_steps_of(g->lo.cache, g->lo.workload, g->lo.request),
                                 hi = dse_cache_steps_of(g->hi.cache, g->hi.workload, g->hi.request);
    bound_score(&lo, &hi, ret);
}

BOX(inexact_score_box)
{
    double less[4], more[4];
    struct dse_arithmetic of_less, of_more;
    ret[0] = ret[1] = range_unknown;
    if (!inexact_ends(a, less, more)) return;
    const struct dse_cache_steps lo = inexact_steps(&g->lo, less, &of_less), hi = inexact_steps(&g->hi, more, &of_more);
    bound_score(&lo, &hi, ret);
}

/* ---- nodes ------------------------------------------------------------------------------------------------------------------ */

static const void *entry_at(const struct groups *g, double place)
{
    return *(const void *const *)(const void *)((const char *)g->params + (size_t)place);
}

double nm_of_metres(double metres)
{
    const double nm = 1e9, digits = 1e6;
    return rint(metres * nm * digits) / digits;
}

static double ratio(const struct dse_technology *to, double metres, enum dse_tech_metric metric)
{
    return to->node_nm == nm_of_metres(metres) ? 1 : dse_tech_ratio(to, nm_of_metres(metres), metric);
}

POINT(technology)
{
    const struct dse_technology *t = entry_at(g, a[0]);
    ret[0] = ratio(t, a[1], DSE_TECH_AREA);
    ret[1] = ratio(t, a[1], DSE_TECH_SRAM_AREA);
    ret[2] = ratio(t, a[1], DSE_TECH_ENERGY);
    ret[3] = ratio(t, a[1], DSE_TECH_POWER);
}

void primitive_at(const struct primitive *p, const struct groups *g, const struct graph_range *a, struct graph_range *ret)
{
    double at[PRIMITIVE_ARGUMENTS_MAX] = {0}, answer[PRIMITIVE_RESULTS_MAX];
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX && p->arguments[i]; i++) at[i] = a[i].lo;
    p->of(g, at, answer);
    for (int i = 0; i < p->n_results; i++) ret[i] = range_of(answer[i]);
}

struct graph_moves primitive_moves(const struct primitive *p, int which, const struct graph_moves *args, uint32_t of_groups)
{
    struct graph_moves ret = moves_any(of_groups);
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX && p->arguments[i]; i++) {
        const char how = p->moves[which] ? p->moves[which][i] : '?';
        if (how != '-' && how != '0') ret.up |= args[i].up, ret.down |= args[i].down;
        if (how != '+' && how != '0') ret.up |= args[i].down, ret.down |= args[i].up;
    }
    return ret;
}

/* Of what follows from choices, entries and single numbers alone: else nothing is known. */
static void box_of_point(const struct groups_box *g, const struct graph_range *a, const struct primitive *p,
                         struct graph_range *ret)
{
    bool single = true;
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX && p->arguments[i]; i++) single = single && range_is_exact(a[i]);
    for (int i = 0; i < p->n_results; i++) ret[i] = range_unknown;
    if (single) primitive_at(p, &g->lo, a, ret);
}

POINT(sram_beyond)
{
    ret[0] = dse_tech_sram_beyond(entry_at(g, a[0]), nm_of_metres(a[1])) != NULL;
}

POINT(technology_node)
{
    const struct dse_technology *t = entry_at(g, a[0]);
    ret[0] = t->node_nm * 1e-9;
}

POINT(sram_node)
{
    ret[0] = dse_sram_node_nm(entry_at(g, a[0])) * 1e-9;
}

/* ---- SRAM ------------------------------------------------------------------------------------------------------------------- */

/* The macro of a[1] bytes in words of a[2]; its numbers are NaN where the table has none. */
POINT(sram)
{
    struct dse_sram m = {(double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN, (double)NAN};
    if (a[1] > 0 && a[2] > 0) dse_sram_at(entry_at(g, a[0]), a[1] / DSE_MIB, a[2] * DSE_BITS_PER_BYTE, &m);
    ret[0] = m.area_mm2 * 1e-6;
    ret[1] = m.read_pj * DSE_PICO;
    ret[2] = m.leakage_mw / DSE_MW_PER_W;
    ret[3] = m.dynamic_mw / DSE_MW_PER_W;
    ret[4] = m.write_pj * DSE_PICO;
}

/* The least and the largest capacity of the table. */
POINT(sram_range)
{
    double from, to;
    dse_sram_range(entry_at(g, a[0]), &from, &to);
    ret[0] = from * DSE_MIB;
    ret[1] = to * DSE_MIB;
}

/* What a table does not give it gives at no point. `all`: there is a macro at all points. */
static struct graph_range given(struct dse_interval v, double scale, bool all)
{
    if (isinf(v.lo) && isinf(v.hi)) return range_nothing;
    const struct dse_interval scaled = dse_iv_scale(v, scale);
    return (struct graph_range){scaled.lo, scaled.hi, !all, false};
}

BOX(sram_box)
{
    const struct dse_sram_table *t = entry_at(&g->lo, a[0].lo);
    const struct dse_interval mib = {a[1].lo / DSE_MIB, a[1].hi / DSE_MIB},
                              bits = {a[2].lo * DSE_BITS_PER_BYTE, a[2].hi * DSE_BITS_PER_BYTE}; /* powers of two: exact */
    struct dse_sram_bound b;
    double least, most;
    for (int i = 0; i < PRIMITIVE_RESULTS_MAX; i++) ret[i] = range_unknown;
    if (a[1].none || a[2].none || !(a[1].lo > 0) || !(a[2].lo > 0)) return;
    dse_sram_range(t, &least, &most);
    if (!dse_sram_bound(t, mib, bits, &b)) {
        for (int i = 0; i < PRIMITIVE_RESULTS_MAX; i++) ret[i] = range_nothing;
        return;
    }
    struct dse_sram corner;
    const bool all = dse_sram_at(t, mib.lo, bits.lo, &corner) && dse_sram_at(t, mib.hi, bits.hi, &corner);
    ret[0] = given(b.area_mm2, 1e-6, all);
    ret[1] = given(b.read_pj, DSE_PICO, all);
    ret[2] = given(b.leakage_mw, 1 / DSE_MW_PER_W, all);
    ret[3] = given(b.dynamic_mw, 1 / DSE_MW_PER_W, all);
    ret[4] = given(b.write_pj, DSE_PICO, all);
}

/* ---- supply and die --------------------------------------------------------------------------------------------------------- */

static bool is_clock(double hz)
{
    return hz > 0 && hz < 1e18;
}

/* A technology, and the node and the clock that something was published in. */
static bool is_chip(const double *a)
{
    return a[1] > 0 && a[1] < 1 && is_clock(a[2]);
}

/* Of a[0], published in a[1] at a[2], clocked at a[3]; no numbers where that is too fast. */
POINT(supply)
{
    struct dse_supply s;
    const bool ok = is_chip(a) && is_clock(a[3]) &&
                    dse_supply_at(g->economics->costs, entry_at(g, a[0]), nm_of_metres(a[1]), a[2] / DSE_GIGA, a[3] / DSE_GIGA, &s);
    ret[0] = ok ? s.volts : (double)NAN;
    ret[1] = ok ? s.energy : (double)NAN;
    ret[2] = ok ? s.leakage : (double)NAN;
    ret[3] = ok ? s.clock_tree : (double)NAN;
}

static bool is_single(struct graph_range a)
{
    return !a.none && a.lo == a.hi;
}

BOX(supply_box)
{
    struct dse_supply_bound b;
    for (int i = 0; i < PRIMITIVE_RESULTS_MAX; i++) ret[i] = range_unknown;
    const double chip[] = {0, a[1].lo, a[2].lo};
    if (!is_single(a[1]) || !is_single(a[2]) || !is_chip(chip) || a[3].none || !is_clock(a[3].lo) || !is_clock(a[3].hi)) return;
    const struct dse_interval ghz = is_single(a[3]) ? dse_iv_of(a[3].lo / DSE_GIGA) : dse_iv_div(iv(a[3]), dse_iv_of(DSE_GIGA));
    if (!dse_supply_bound(g->lo.economics->costs, entry_at(&g->lo, a[0].lo), nm_of_metres(a[1].lo), a[2].lo / DSE_GIGA, ghz, &b)) {
        for (int i = 0; i < PRIMITIVE_RESULTS_MAX; i++) ret[i] = range_nothing;
        return;
    }
    struct dse_supply fastest;
    const bool all = dse_supply_at(g->lo.economics->costs, entry_at(&g->lo, a[0].lo), nm_of_metres(a[1].lo), a[2].lo / DSE_GIGA,
                                   ghz.hi, &fastest);
    const struct dse_interval numbers[] = {b.volts, b.energy, b.leakage, b.clock_tree};
    for (int i = 0; i < 4; i++) ret[i] = (struct graph_range){numbers[i].lo, numbers[i].hi, !all, false};
}

/* The fastest clock of such a chip; infinite where the node has no law. */
POINT(fastest)
{
    const double any_ghz = 1e9;
    struct dse_supply s;
    ret[0] = (double)NAN;
    if (!is_chip(a)) return;
    const bool all = dse_supply_at(g->economics->costs, entry_at(g, a[0]), nm_of_metres(a[1]), a[2] / DSE_GIGA, any_ghz, &s);
    ret[0] = all ? (double)INFINITY : s.max_ghz * DSE_GIGA;
}

POINT(clock_share)
{
    NO_ARGUMENTS;
    ret[0] = dse_physical(g->economics->costs, DSE_C_clock_share);
}

POINT(leakage_share)
{
    ret[0] = dse_by_node(g->economics->costs, DSE_C_leakage_share_65nm, nm_of_metres(a[0]));
}

POINT(interface_energy)
{
    ret[0] = dse_interface_joules(g->economics->costs, g->memory->memory, a[0]);
}

BOX(interface_box)
{
    const bool known = positive(a[0]) && !isnan(dse_interface_joules(g->lo.economics->costs, g->lo.memory->memory, 0));
    ret[0] = known ? range_iv(dse_interface_joules_bound(g->lo.economics->costs, g->lo.memory->memory, iv(a[0]))) : range_unknown;
}

/* One array of a[0] square metres in the node a[1], with the interfaces of its memory. */
POINT(die)
{
    struct dse_die d;
    dse_die_at(g->economics->costs, DSE_AREA_DIE, a[0] * 1e6, 1, g->memory, nm_of_metres(a[1]), &d);
    ret[0] = d.area_mm2 * 1e-6;
    ret[1] = d.phy_mm2 * 1e-6;
    ret[2] = dse_die_check(g->economics->costs, &d) == NULL;
    ret[3] = d.edge_mm * 1e-3;
    ret[4] = d.edge_there_mm * 1e-3;
}

BOX(die_box)
{
    struct dse_die_bound b, made;
    for (int i = 0; i < 5; i++) ret[i] = range_unknown;
    if (a[0].none || !(a[0].lo >= 0) || !is_single(a[1])) return;
    const struct dse_interval core = dse_iv_scale(iv(a[0]), 1e6);
    const struct dse_costs *book = g->lo.economics->costs;
    const double nm = nm_of_metres(a[1].lo);
    dse_die_bound(book, DSE_AREA_DIE, core, dse_iv_of(1), g->lo.memory, g->hi.memory, nm, false, &b);
    const bool some = dse_die_bound(book, DSE_AREA_DIE, core, dse_iv_of(1), g->lo.memory, g->hi.memory, nm, true, &made);
    struct dse_die smallest, largest;
    dse_die_at(book, DSE_AREA_DIE, core.lo, 1, g->lo.memory, nm, &smallest);
    dse_die_at(book, DSE_AREA_DIE, core.hi, 1, g->hi.memory, nm, &largest);
    const struct dse_interval area = dse_iv_scale(b.area_mm2, 1e-6), phy = dse_iv_scale(b.phy_mm2, 1e-6);
    ret[0] = (struct graph_range){area.lo, area.hi, isinf(area.hi), false};
    ret[1] = (struct graph_range){phy.lo, phy.hi, isinf(phy.hi), false};
    ret[2] = (struct graph_range){some && !dse_die_check(book, &largest), some, false, false};
    ret[3] = hull(smallest.edge_mm * 1e-3, largest.edge_mm * 1e-3);
    ret[4] = hull(smallest.edge_there_mm * 1e-3, largest.edge_there_mm * 1e-3);
}

POINT(reticle)
{
    NO_ARGUMENTS;
    ret[0] = dse_physical(g->economics->costs, DSE_C_reticle_mm2) * 1e-6;
}

/* The network over tiles of a[0] square metres in all, which are a[1]: none over one. */
POINT(network)
{
    const double share = dse_physical(g->economics->costs, DSE_C_noc_area_share);
    ret[0] = a[1] > 1 ? a[0] * share / (1 - share) : 0;
}

BOX(network_box)
{
    const double share = dse_physical(g->lo.economics->costs, DSE_C_noc_area_share);
    ret[0] = range_unknown;
    if (a[0].none || a[1].none || !(a[0].lo >= 0)) return;
    const struct dse_interval all = dse_iv_scale(iv(a[0]), share / (1 - share));
    ret[0] = (struct graph_range){a[1].lo > 1 ? dse_below(all.lo, 4) : 0, a[1].hi > 1 ? dse_above(all.hi, 4) : 0, false, false};
}

/* ---- links ------------------------------------------------------------------------------------------------------------------ */

/* What an exchange may be of, whatever a formula says: a kind, and numbers of devices and bytes that there are. */
static bool is_exchange(const double *a)
{
    const double most = 1e9, bytes = 1e18;
    const bool kind = a[0] >= 0 && a[0] < DSE_COLLECTIVES && a[0] == floor(a[0]);
    return kind && a[1] >= 0 && a[1] <= most && (a[2] >= 1 || a[1] <= 1) && a[2] <= most && a[3] >= 0 && a[3] <= bytes &&
           a[4] >= 0 && a[4] <= most;
}

static struct dse_exchange exchange_of(const double *a)
{
    return (struct dse_exchange){
        .kind = (enum dse_collective)a[0], .devices = a[1], .stride = a[2], .bytes = a[3], .imbalance = a[4]};
}

POINT(exchange)
{
    struct dse_exchange_cost cost;
    ret[0] = ret[1] = (double)NAN;
    if (!is_exchange(a)) return;
    const struct dse_exchange x = exchange_of(a);
    dse_exchange_at(g->links, &x, &cost);
    ret[0] = cost.seconds;
    ret[1] = cost.joules;
}

BOX(exchange_box)
{
    struct dse_exchange_bound b;
    double lo[PRIMITIVE_ARGUMENTS_MAX], hi[PRIMITIVE_ARGUMENTS_MAX];
    ret[0] = ret[1] = range_unknown;
    for (int i = 0; i < PRIMITIVE_ARGUMENTS_MAX; i++) {
        if (!positive(a[i])) return;
        lo[i] = a[i].lo;
        hi[i] = a[i].hi;
    }
    if (lo[0] != hi[0] || !is_exchange(lo) || !is_exchange(hi)) return;
    const struct dse_exchange least = exchange_of(lo), most = exchange_of(hi);
    dse_exchange_bound(g->lo.links, g->hi.links, &least, &most, &b);
    ret[0] = range_iv(b.seconds);
    ret[1] = range_iv(b.joules);
}

static void links_of(const struct groups *g, double metres, double ret[2])
{
    struct dse_links_die d;
    dse_links_die_at(g->economics->costs, g->links, nm_of_metres(metres), &d);
    ret[0] = d.mm2 * 1e-6;
    ret[1] = d.edge_mm * 1e-3;
}

POINT(links_area)
{
    links_of(g, a[0], ret);
}

/* What nobody published is so of both ends: they have one kind of link. */
BOX(links_area_box)
{
    double lo[2], hi[2];
    ret[0] = ret[1] = range_unknown;
    if (!is_single(a[0])) return;
    links_of(&g->lo, a[0].lo, lo);
    links_of(&g->hi, a[0].lo, hi);
    for (int i = 0; i < 2; i++) ret[i] = isnan(lo[i]) && isnan(hi[i]) ? range_nothing : hull(lo[i], hi[i]);
}

/* ---- numbers in fixed point -------------------------------------------------------------------------------------------------- */

static bool is_whole(double x, double least, double most)
{
    return x >= least && x <= most && x == floor(x);
}

/* Of a table of 2^a[0] lines, in a[1] fraction bits: before rounding, and with it. */
POINT(exp2_swept)
{
    enum { BITS_MOST = 24 };
    (void)g;
    const bool ok = is_whole(a[0], 0, BITS_MOST) && is_whole(a[1], a[0], BITS_MOST);
    for (int i = 0; i < 2; i++) ret[i] = ok ? dse_exp2_swept((int64_t)a[0], (int64_t)a[1], i == 1) : (double)NAN;
}

/* In a[0] fraction bits, of the angles of the base a[1] over a[2] elements, after a[3] positions. */
POINT(rotation)
{
    const double bits = 24, elements = 1e5, positions = 1e7;
    (void)g;
    const bool ok = is_whole(a[0], 1, bits) && a[1] > 1 && is_whole(a[2], 0, elements) && is_whole(a[3], 0, positions);
    ret[0] = ok ? dse_rotation_drift((int64_t)a[0], a[1], (int64_t)a[2], (int64_t)a[3]) : (double)NAN;
}

/* ---- LAD's decoding
 * ----------------------------------------------------------------------------------------------------------- */

static struct dse_local_of local_of(const struct groups *g)
{
    return (struct dse_local_of){g->local, g->cache, g->workload};
}

/* Statistics of the mean head at a context: NaN where there are none. */
POINT(local_at)
{
    const struct dse_local_of o = local_of(g);
    struct dse_locality at;
    double cv;
    for (int i = 0; i < 6; i++) ret[i] = (double)NAN;
    if (!(a[0] >= 1 && a[0] <= positions_most) || dse_local_at(&o, a[0], &at, &cv)) return;
    const double numbers[] = {at.centers, at.large, at.active, at.updates, at.hit_ratio, cv};
    memcpy(ret, numbers, sizeof numbers);
}

BOX(local_at_box)
{
    const struct dse_local_of lo = local_of(&g->lo), hi = local_of(&g->hi);
    struct dse_locality_bound b;
    struct dse_interval cv;
    bool all;
    for (int i = 0; i < 6; i++) ret[i] = range_unknown;
    if (!positive(a[0]) || a[0].hi > positions_most) return;
    for (int i = 0; i < 6; i++) ret[i] = range_nothing;
    if (!dse_local_bound(&lo, &hi, iv(a[0]), &b, &cv, &all)) return;
    const struct dse_interval numbers[] = {b.centers, b.large, b.active, b.updates, b.hit_ratio, cv};
    for (int i = 0; i < 6; i++) ret[i] = (struct graph_range){numbers[i].lo, numbers[i].hi, !all, false};
}

POINT(local_works)
{
    NO_ARGUMENTS;
    const struct dse_local_of o = local_of(g);
    ret[0] = dse_local_works(g->local, g->workload);
    ret[1] = !dse_local_unlike(&o);
}

BOX(local_works_box)
{
    NO_ARGUMENTS;
    ret[0] = range_of(dse_local_works(g->lo.local, g->lo.workload));
    ret[1] = (struct graph_range){0, 1, false, false};
}

POINT(local_loss)
{
    NO_ARGUMENTS;
    const struct dse_local_of o = local_of(g);
    struct dse_local_loss loss;
    dse_local_quality(&o, &loss);
    const double numbers[] = {loss.error, loss.error_sd, loss.false_negative, loss.task_score, loss.task_loss};
    memcpy(ret, numbers, sizeof numbers);
}

BOX(local_loss_box)
{
    NO_ARGUMENTS;
    const struct dse_local_of lo = local_of(&g->lo), hi = local_of(&g->hi);
    struct dse_interval b[5];
    dse_local_quality_bound(&lo, &hi, dse_iv_i64(g->lo.workload->context, g->hi.workload->context), b);
    for (int i = 0; i < 5; i++) ret[i] = some_of(b[i]);
}

enum { HEADS_MOST = 4096 };

static bool is_shared(double n, double count, double newest, double heads)
{
    return n >= 1 && n <= positions_most && count >= 0 && newest >= 0 && heads >= 0 && heads <= HEADS_MOST && heads == floor(heads);
}

/* Of a[0] positions, a[1] a head, which are all of them at most, a[2] newest and a[3] heads. */
POINT(shared)
{
    (void)g;
    const bool ok = is_shared(a[0], a[1], a[2], a[3]);
    ret[0] = ok ? dse_local_shared(a[0], dse_min(a[1], a[0]), a[2], (int64_t)a[3]) : (double)NAN;
}

BOX(shared_box)
{
    (void)g;
    bool none = false;
    for (int i = 0; i < 4; i++) none = none || a[i].none;
    ret[0] = range_unknown;
    if (!is_one(&a[3]) || range_is_nothing(a[0]) || range_is_nothing(a[1]) || range_is_nothing(a[2])) return;
    const double count = dse_min(a[1].hi, a[0].hi);
    if (!is_shared(a[0].lo, dse_min(a[1].lo, a[0].lo), a[2].lo, a[3].lo) || !is_shared(a[0].hi, count, a[2].hi, a[3].lo)) return;
    ret[0] = range_iv(dse_local_shared_bound(iv(a[0]), dse_iv(dse_min(a[1].lo, count), count), iv(a[2]), (int64_t)a[3].lo));
    ret[0].none = none;
}

/* Of a[0] intervals, a[1] scores of deviation a[2]. */
POINT(softmax_pieces)
{
    (void)g;
    const bool ok = is_whole(a[0], 2, DSE_PIECES_MAX) && is_whole(a[1], 1, positions_most) && a[2] > 0;
    ret[0] = ok ? dse_softmax_pieces_mse((int64_t)a[0], a[1], a[2]) : (double)NAN;
}

/* ---- tables ----------------------------------------------------------------------------------------------------------------- */

enum {
    OF_WORKLOAD = 1 << GROUP_WORKLOAD,
    OF_MEMORY = 1 << GROUP_MEMORY,
    OF_CACHE = 1 << GROUP_CACHE,
    OF_ECONOMICS = 1 << GROUP_ECONOMICS,
    OF_LINKS = 1 << GROUP_LINKS,
    OF_REQUEST = 1 << GROUP_REQUEST,
    OF_LOCALITY = 1 << GROUP_LOCALITY,
    OF_LOCAL = OF_LOCALITY | OF_WORKLOAD | OF_CACHE
};

enum {
    P_TOKENS,
    P_CHIPS,
    P_PASSES,
    P_WIDEST,
    P_TABLES,
    P_FOOTPRINT,
    P_PLAIN,
    P_ROW,
    P_FOOTPRINT_AT,
    P_PEAK,
    P_RATE,
    P_STREAM,
    P_CAPACITY,
    P_ENERGY,
    P_SECONDS,
    P_MOVED,
    P_WIDENING,
    P_TARGET,
    P_TECHNOLOGY,
    P_TECHNOLOGY_NODE,
    P_SRAM_NODE,
    P_SRAM,
    P_SUPPLY,
    P_CLOCK_SHARE,
    P_LEAKAGE_SHARE,
    P_INTERFACE,
    P_DIE,
    P_FASTEST,
    P_RETICLE,
    P_EXCHANGE,
    P_LINKS_AREA,
    P_QUALITY,
    P_SCORE,
    P_SRAM_BEYOND,
    P_SRAM_RANGE,
    P_CACHE_STEP,
    P_INEXACT,
    P_INEXACT_SCORE,
    P_EXP2_SWEPT,
    P_ROTATION,
    P_EXPERTS,
    P_NETWORK,
    P_LOCAL,
    P_LOCAL_WORKS,
    P_LOCAL_LOSS,
    P_SOFTMAX_PIECES,
    P_SHARED
};

#define CHOSEN(name, which) \
    static void name##_box(const struct groups_box *g, const struct graph_range *a, struct graph_range *ret) \
    { \
        box_of_point(g, a, &primitives[which], ret); \
    }
CHOSEN(technology, P_TECHNOLOGY)
CHOSEN(technology_node, P_TECHNOLOGY_NODE)
CHOSEN(sram_node, P_SRAM_NODE)
CHOSEN(clock_share, P_CLOCK_SHARE)
CHOSEN(leakage_share, P_LEAKAGE_SHARE)
CHOSEN(fastest, P_FASTEST)
CHOSEN(reticle, P_RETICLE)
CHOSEN(sram_beyond, P_SRAM_BEYOND)
CHOSEN(sram_range, P_SRAM_RANGE)
CHOSEN(exp2_swept, P_EXP2_SWEPT)
CHOSEN(rotation, P_ROTATION)
CHOSEN(softmax_pieces, P_SOFTMAX_PIECES)
#undef CHOSEN

const struct primitive primitives[] = {
    [P_TOKENS] = {{NULL}, OF_WORKLOAD, 1, tokens, tokens_box},
    [P_CHIPS] = {{NULL}, OF_WORKLOAD, 1, chips, chips_box},
    [P_PASSES] = {{NULL}, OF_WORKLOAD, 1, passes, passes_box},
    [P_WIDEST] = {{NULL}, OF_WORKLOAD, 1, widest, widest_box},
    [P_TABLES] = {{NULL}, OF_WORKLOAD, 1, tables, tables_box},
    [P_FOOTPRINT] = {{NULL}, OF_WORKLOAD, 1, footprint, footprint_box},
    [P_PLAIN] = {{NULL}, OF_WORKLOAD, 2, plain, plain_box},
    [P_ROW] = {{NULL}, OF_WORKLOAD, 1, row, row_box},
    [P_FOOTPRINT_AT] = {{"1"}, OF_WORKLOAD, 1, footprint_at, footprint_at_box},
    [P_PEAK] = {{NULL}, OF_MEMORY, 1, peak, peak_box},
    [P_RATE] = {{NULL}, OF_MEMORY, 1, rate, rate_box},
    [P_STREAM] = {{NULL}, OF_MEMORY, 1, stream, stream_box},
    [P_CAPACITY] = {{NULL}, OF_MEMORY, 1, capacity, capacity_box},
    [P_ENERGY] = {{NULL}, OF_MEMORY, 1, energy, energy_box},
    [P_SECONDS] = {{"B", "B"}, OF_MEMORY, 1, seconds, seconds_box},
    [P_MOVED] = {{"B", "B"}, OF_MEMORY, 1, moved, moved_box},
    [P_WIDENING] = {{NULL}, OF_WORKLOAD, 1, widening, widening_box},
    [P_TARGET] = {{"1"}, OF_CACHE, 1, target, target_box},
    [P_TECHNOLOGY] = {{"@technologies", "m"}, 0, 4, technology, technology_box},
    [P_TECHNOLOGY_NODE] = {{"@technologies"}, 0, 1, technology_node, technology_node_box},
    [P_SRAM_NODE] = {{"@srams"}, 0, 1, sram_node, sram_node_box},
    [P_SRAM] = {{"@srams", "B", "B"}, 0, 5, sram, sram_box},
    [P_SUPPLY] = {{"@technologies", "m", "Hz", "Hz"}, OF_ECONOMICS, 4, supply, supply_box},
    [P_CLOCK_SHARE] = {{NULL}, OF_ECONOMICS, 1, clock_share, clock_share_box},
    [P_LEAKAGE_SHARE] = {{"m"}, OF_ECONOMICS, 1, leakage_share, leakage_share_box},
    [P_INTERFACE] = {{"1"}, OF_ECONOMICS | OF_MEMORY, 1, interface_energy, interface_box, {"+"}},
    [P_DIE] = {{"m2", "m"}, OF_ECONOMICS | OF_MEMORY, 5, die, die_box, {"+?", "0?", "-?", "0?", "0?"}},
    [P_FASTEST] = {{"@technologies", "m", "Hz"}, OF_ECONOMICS, 1, fastest, fastest_box},
    [P_RETICLE] = {{NULL}, OF_ECONOMICS, 1, reticle, reticle_box},
    [P_EXCHANGE] = {{"1", "1", "1", "B", "1"}, OF_LINKS, 2, exchange, exchange_box},
    [P_LINKS_AREA] = {{"m"}, OF_LINKS | OF_ECONOMICS, 2, links_area, links_area_box},
    [P_QUALITY] = {{NULL}, OF_WORKLOAD | OF_REQUEST | OF_CACHE, 3, quality, quality_box},
    [P_SCORE] = {{NULL}, OF_WORKLOAD | OF_REQUEST | OF_CACHE, 2, score, score_box},
    [P_SRAM_RANGE] = {{"@srams"}, 0, 2, sram_range, sram_range_box},
    [P_EXPERTS] = {{"1", "1", "1"}, OF_WORKLOAD, 1, experts, experts_box},
    [P_SRAM_BEYOND] = {{"@technologies", "m"}, 0, 1, sram_beyond, sram_beyond_box},
    [P_CACHE_STEP] = {{NULL}, OF_WORKLOAD | OF_CACHE, 7, cache_step, cache_step_box},
    [P_INEXACT] = {{"1", "1", "1", "1"}, OF_WORKLOAD | OF_REQUEST | OF_CACHE, 3, inexact, inexact_box},
    [P_INEXACT_SCORE] = {{"1", "1", "1", "1"}, OF_WORKLOAD | OF_REQUEST | OF_CACHE, 2, inexact_score, inexact_score_box},
    [P_EXP2_SWEPT] = {{"1", "1"}, 0, 2, exp2_swept, exp2_swept_box},
    [P_ROTATION] = {{"1", "1", "1", "1"}, 0, 1, rotation, rotation_box},
    [P_NETWORK] = {{"m2", "1"}, OF_ECONOMICS, 1, network, network_box},
    [P_LOCAL] = {{"1"}, OF_LOCAL, 6, local_at, local_at_box},
    [P_LOCAL_WORKS] = {{NULL}, OF_LOCAL, 2, local_works, local_works_box},
    [P_LOCAL_LOSS] = {{NULL}, OF_LOCAL, 5, local_loss, local_loss_box},
    [P_SHARED] = {{"1", "1", "1", "1"}, 0, 1, shared, shared_box},
    [P_SOFTMAX_PIECES] = {{"1", "1", "1"}, 0, 1, softmax_pieces, softmax_pieces_box},
};

const struct answer answers[] = {
    {"workload.tokens", "1", "tokens that a step yields", P_TOKENS, 0},
    {"workload.chips", "1", "chips: the product of the degrees of parallelism", P_CHIPS, 0},
    {"workload.passes", "1", "passes of a step in which a chip works", P_PASSES, 0},
    {"workload.widest_bits", "B", "bits of the widest weights of matrices, scales not included", P_WIDEST, 0},
    {"workload.tables", "B", "tables that no operator has, on the fullest chip: embedding, positions, inputs of layers", P_TABLES,
     0},
    {"workload.footprint", "B", "weights and KV cache in the memory of the fullest chip", P_FOOTPRINT, 0},
    {"workload.is_plain", "1", "1 for a dense LLM with full attention on one chip, without drafts, chunks or unequal contexts",
     P_PLAIN, 0},
    {"workload.is_plain_llm", "1", "1 for an LLM with full attention and dense networks in all layers", P_PLAIN, 1},
    {"workload.row", "B", "a key or a value of one position, layer and head", P_ROW, 0},
    {"memory.peak", "B/s", "peak bandwidth", P_PEAK, 0},
    {"memory.rate", "B/s", "bandwidth that long streams reach", P_RATE, 0},
    {"memory.stream", "s/B", "time per byte of a long stream", P_STREAM, 0},
    {"memory.capacity", "B", "capacity_gib", P_CAPACITY, 0},
    {"memory.energy", "J/B", "energy per byte moved", P_ENERGY, 0},
    {"cache.widening", "1", "operations that dequantize an element of a cache with scales", P_WIDENING, 0},
    {"economics.clock_share", "1", "share of the clock tree in a chip's dynamic power", P_CLOCK_SHARE, 0},
    {"memory_seconds", "s", "time to move `bytes` in accesses of `access` bytes", P_SECONDS, 0},
    {"memory_moved", "B", "bytes on the bus to fetch `bytes` in accesses of `access` bytes", P_MOVED, 0},
    {"footprint", "B", "workload.footprint with `positions` in the cache", P_FOOTPRINT_AT, 0},
    {"cache_target", "1", "positions that stay of `positions`", P_TARGET, 0},
    {"technology_area", "1", "area in the technology over area in a node", P_TECHNOLOGY, 0},
    {"technology_sram_area", "1", "SRAM area in the technology over SRAM area in a node", P_TECHNOLOGY, 1},
    {"technology_energy", "1", "energy of an operation in the technology over energy in a node", P_TECHNOLOGY, 2},
    {"technology_power", "1", "power in the technology over power in a node", P_TECHNOLOGY, 3},
    {"technology_node", "m", "the node of the technology", P_TECHNOLOGY_NODE, 0},
    {"sram_node", "m", "the node of the table", P_SRAM_NODE, 0},
    {"sram_least", "B", "the smallest macro of the table", P_SRAM_RANGE, 0},
    {"sram_most", "B", "the largest macro of the table", P_SRAM_RANGE, 1},
    {"sram_area", "m2", "area of a macro of `bytes`, in words of `word` bytes", P_SRAM, 0},
    {"sram_read", "J", "energy of reading one word of the macro", P_SRAM, 1},
    {"sram_leakage", "W", "leakage of the macro", P_SRAM, 2},
    {"sram_dynamic", "W", "dynamic power of the macro under the load of its paper", P_SRAM, 3},
    {"sram_write", "J", "energy of writing one word of the macro", P_SRAM, 4},
    {"supply_volts", "V", "supply voltage that a clock needs, for a chip published in a node at a clock", P_SUPPLY, 0},
    {"supply_energy", "1", "energy of an operation over energy at the nominal supply", P_SUPPLY, 1},
    {"supply_leakage", "1", "leakage over leakage at the nominal supply", P_SUPPLY, 2},
    {"supply_clock", "1", "energy of a clock edge over energy at the nominal supply", P_SUPPLY, 3},
    {"leakage_share", "1", "share of leakage in the power of a chip in a node", P_LEAKAGE_SHARE, 0},
    {"interface_energy", "J/B", "on-die energy of a byte to or from DRAM; the argument scales a hop of 12 nm", P_INTERFACE, 0},
    {"die_area", "m2", "area of a die: `core` of logic and SRAM, and the memory interfaces", P_DIE, 0},
    {"die_phy", "m2", "area of the die's memory interfaces", P_DIE, 1},
    {"die_fits", "1", "1 if such a die can be made, else 0", P_DIE, 2},
    {"die_edge", "m", "die edge that the memory interfaces take side by side", P_DIE, 3},
    {"die_edge_there", "m", "die edge that there is for them", P_DIE, 4},
    {"economics.reticle", "m2", "the largest die", P_RETICLE, 0},
    {"supply_fastest", "Hz", "the fastest clock of a chip in `technology` that was published in `node` at the clock `published`",
     P_FASTEST, 0},
    {"exchange_seconds", "s", "time of a collective operation", P_EXCHANGE, 0},
    {"exchange_energy", "J", "energy of the bytes that leave one chip in it", P_EXCHANGE, 1},
    {"links_area", "m2", "area of the PHYs and controllers of a chip's links", P_LINKS_AREA, 0},
    {"links_edge", "m", "die edge that they take", P_LINKS_AREA, 1},
    {"die_network", "m2", "area of the network over `tiles` tiles of `core` in all; 0 over one", P_NETWORK, 0},
    {"locality_centers", "1", "directional centers among the keys of the mean head at a context", P_LOCAL, 0},
    {"locality_large", "1", "positions of the mean head whose mode is near 0 at a context", P_LOCAL, 1},
    {"locality_active", "1", "active positions of the mean head at a context, the newest included", P_LOCAL, 2},
    {"locality_updates", "1", "positions of the mean head that change their mode at a context", P_LOCAL, 3},
    {"locality_hits", "1", "share of the active positions that were active in the step before", P_LOCAL, 4},
    {"locality_spread", "1", "active positions over heads at a context: standard deviation over mean", P_LOCAL, 5},
    {"union_share", "1",
     "rows read for `heads` heads of `count` among `n` positions each, `newest` of them the same, over heads * count", P_SHARED, 0},
    {"locality.works", "1", "1 where LAD's decoding works on layers of the step, else 0", P_LOCAL_WORKS, 0},
    {"locality.measured", "1", "1 where the statistics were measured under the settings of the point, else 0", P_LOCAL_WORKS, 1},
    {"locality.attention_error", "1", "relative error of the output of LAD's decoding", P_LOCAL_LOSS, 0},
    {"locality.attention_error_sd", "1", "standard deviation of that error over heads", P_LOCAL_LOSS, 1},
    {"locality.false_negative", "1", "share of the positions that are wrongly taken to be in their mode", P_LOCAL_LOSS, 2},
    {"locality.task_score", "1", "score of LAD's decoding on the task", P_LOCAL_LOSS, 3},
    {"locality.task_loss", "1", "lost share of the LLM's own score", P_LOCAL_LOSS, 4},
    {"softmax_pieces", "1", "mean squared error of softmax over `n` normal scores of `sd` when exp has `intervals` linear pieces",
     P_SOFTMAX_PIECES, 0},
    {"cache.retained_mass", "1", "share of the softmax mass on the positions that are read", P_QUALITY, 0, P_INEXACT},
    {"cache.attention_error", "1", "relative error of the output of attention", P_QUALITY, 1, P_INEXACT},
    {"cache.attention_error_sd", "1", "standard deviation of that error over heads", P_QUALITY, 2, P_INEXACT},
    {"cache.task_score", "1", "score on the task", P_SCORE, 0, P_INEXACT_SCORE},
    {"cache.task_loss", "1", "lost share of the LLM's own score", P_SCORE, 1, P_INEXACT_SCORE},
    {"technology_sram_beyond", "1", "1 where the area of SRAM is scaled as logic is beyond where both shrank alike, else 0",
     P_SRAM_BEYOND, 0},
    {"experts_at_work", "1", "routed experts of a chip that have work when `rows` choose among those of a layer, as a mean",
     P_EXPERTS, 0},
    {"cache.read", "1", "positions of the cache that a decode step reads", P_CACHE_STEP, 0},
    {"cache.counted", "1", "(query, key) positions of a query head that the policy counts", P_CACHE_STEP, 1},
    {"cache.pages", "1", "pages that a step reads the bounds of", P_CACHE_STEP, 2},
    {"cache.moved", "B", "bytes that the policy moves in a step, of a sequence and layer", P_CACHE_STEP, 3},
    {"cache.footprint", "B", "weights and KV cache in memory, with all that the policy keeps", P_CACHE_STEP, 4},
    {"cache.held", "1", "the most positions that the cache ever holds", P_CACHE_STEP, 5},
    {"cache.besides", "B", "bytes that the policy keeps beside keys and values, of a sequence and layer", P_CACHE_STEP, 6},
    {"exp2_swept", "1", "largest relative error of 2^-x by 2^`lut_bits` lines, over all x of `fraction_bits`", P_EXP2_SWEPT, 0},
    {"exp2_rounded", "1", "the same with table, slopes and result in `fraction_bits`", P_EXP2_SWEPT, 1},
    {"rotation_drift", "1", "worst error of rotary angles that are added up in `fraction_bits`, up to a position", P_ROTATION, 0},
    {NULL, NULL, NULL, 0, 0, 0},
};
