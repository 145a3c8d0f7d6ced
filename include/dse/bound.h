/* Bounds of the hardware that models share: over a box of parameters, as dse_model.bound gets it (model.h), the intervals of what
 * chip.h, hw.h, power.h and cost.h compute at a point.
 *
 * A function NAME_bound is to NAME what an interval is to a number. Where a whole struct belongs to the box, it takes its `lo` and
 * `hi`: points of it as they are resolved, lo <= hi number by number, and everything else the same. Sound: at every point of the
 * box the result of NAME lies in what is returned, within 1e-12 of it. Where lo and hi are the same, so is the result, but for
 * rounding. What is not known is dse_unbounded, and where NAME has no value at some points the others are meant. Which terms grow
 * and which fall stands beside each function's code. All pure, thread-safe, without allocation. */
#ifndef DSE_BOUND_H
#define DSE_BOUND_H

#include <dse/catalog.h>
#include <dse/chip.h>
#include <dse/cost.h>
#include <dse/hw.h>
#include <dse/interval.h>
#include <dse/model.h>
#include <string.h>

/* ---- what a model writes ------------------------------------------------------------------------------------------------- */

/* The bound of a metric: floor and ceiling. NaN both where nothing is known, or no more than that it is positive. */
static inline void dse_bound_set(double *floor, double *ceiling, struct dse_interval v)
{
    const bool known = v.lo > 0 || v.hi < (double)INFINITY;
    *floor = known ? v.lo : (double)NAN;
    *ceiling = known ? v.hi : (double)NAN;
}

/* Is the box one point? Both ends are copies of points whose bytes were all set. */
static inline bool dse_bound_same(const void *lo, const void *hi, size_t size)
{
    return memcmp(lo, hi, size) == 0;
}
/* Nothing is known of any metric of a model's table: of LLMs, or of several chips, that its bounds do not follow yet. */
void dse_bound_nothing(const struct dse_metric *metrics, void *floor, void *ceiling);

/* The same of a metric that counts (I64), from the interval of what is made whole by cutting. */
static inline void dse_bound_set_i64(int64_t *floor, int64_t *ceiling, struct dse_interval v)
{
    const double most = 0x1p62;
    const bool known = v.lo > -most && v.hi < most;
    *floor = known ? (int64_t)v.lo : INT64_MIN;
    *ceiling = known ? (int64_t)v.hi : INT64_MAX;
}

/* Intervals of numbers of a box, from the ends that it gives. */
static inline struct dse_interval dse_iv_i64(int64_t lo, int64_t hi)
{
    return (struct dse_interval){(double)lo, (double)hi};
}

/* No less than 0: what rounding outward took below. */
static inline struct dse_interval dse_iv_positive(struct dse_interval a)
{
    return (struct dse_interval){dse_max(a.lo, 0), dse_max(a.hi, 0)};
}

/* ---- DRAM ---------------------------------------------------------------------------------------------------------------- */

/* Accesses of infinitely many bytes are parts of long streams, as in hw.h; then access_bytes is the same at both ends. */
struct dse_interval dse_dram_peak_bound(const struct dse_dram *lo, const struct dse_dram *hi);
struct dse_interval dse_dram_stream_rate_bound(const struct dse_dram *lo, const struct dse_dram *hi);
struct dse_interval dse_dram_efficiency_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes);
struct dse_interval dse_dram_stream_seconds_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes);
struct dse_interval dse_dram_moved_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes,
                                         struct dse_interval access_bytes);
struct dse_interval dse_dram_seconds_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes,
                                           struct dse_interval access_bytes);
struct dse_interval dse_dram_joules_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes);

/* ---- SRAM ---------------------------------------------------------------------------------------------------------------- */

/* What the table does not give is dse_unbounded. */
struct dse_sram_bound {
    struct dse_interval area_mm2, leakage_mw, read_pj, write_pj, dynamic_mw, access_ns;
};
/* Of the macros that there are; false: there is none. */
bool dse_sram_bound(const struct dse_sram_table *t, struct dse_interval capacity_mib, struct dse_interval word_bits,
                    struct dse_sram_bound *ret);

/* ---- the chip ------------------------------------------------------------------------------------------------------------ */

struct dse_supply_bound {
    struct dse_interval volts, energy, clock_tree, leakage;
    struct dse_interval leakage_a_ghz; /* leakage over the clock: that of a cycle */
};
/* Of the clocks that the node reaches; false: it reaches none of them. */
bool dse_supply_bound(const struct dse_costs *book, const struct dse_technology *node, double published_nm, double published_ghz,
                      struct dse_interval clock_ghz, struct dse_supply_bound *ret);

struct dse_die_bound {
    struct dse_interval core_mm2, noc_mm2, phy_mm2, area_mm2, units;
};
/* Of the dies that dse_die_check accepts, so that the area ends at a reticle's where interfaces are counted; false: it accepts
 * none. `accepted` false: of all dies, as for a model that does not ask. */
bool dse_die_bound(const struct dse_costs *book, int32_t area, struct dse_interval core_mm2, struct dse_interval tiles,
                   const struct dse_dram *lo, const struct dse_dram *hi, double node_nm, bool accepted, struct dse_die_bound *ret);

struct dse_interval dse_interface_joules_bound(const struct dse_costs *book, const struct dse_memory *memory,
                                               struct dse_interval hop);

/* ---- attention ----------------------------------------------------------------------------------------------------------- */

struct dse_locality_bound {
    struct dse_interval centers, large, active, updates, hit_ratio;
};
/* Of contexts within the range of the profile. */
void dse_profile_bound(const struct dse_profile *p, struct dse_interval context, struct dse_locality_bound *ret);
/* The same of a recording, and the spread of its heads. */
void dse_recording_bound(const struct dse_recording *r, struct dse_interval context, struct dse_locality_bound *ret,
                         struct dse_interval *ret_active_cv);

/* ---- what it costs ------------------------------------------------------------------------------------------------------- */

struct dse_priced_bound {
    struct dse_interval die_usd, design_usd, system_usd, usd_per_mtoken, embodied_kgco2, gco2_per_mtoken;
};
/* The bills of both ends have economics of their own: those of lo and hi. Electricity goes with the energy of a token, of which
 * more is known than of watts over tokens a second. */
void dse_bill_bound(const struct dse_bill *lo, const struct dse_bill *hi, struct dse_interval watts,
                    struct dse_interval tokens_per_s, struct dse_interval joules_a_token, struct dse_priced_bound *ret);

/* ---- what was measured --------------------------------------------------------------------------------------------------- */

struct dse_retained_bound {
    struct dse_interval mass, error;
};
/* Of the contexts and ratios of the box that were measured. A cache is a whole number of positions, so that the smallest ratio
 * measured is asked for by a little less: where ratio.lo is below it, ratios are known up to `rounded`. False: none was
 * measured. */
bool dse_retention_bound(const struct dse_retention *r, const char *policy, struct dse_interval context, struct dse_interval ratio,
                         double rounded, struct dse_retained_bound *ret);

/* ---- the common metrics -------------------------------------------------------------------------------------------------- */

/* struct dse_totals in intervals. What is known of a token, or of a ratio, is often less than what follows from the sums of a step
 * (a batch in numerator and denominator): a model gives both, and the narrower counts. Begin with dse_totals_unknown. */
struct dse_totals_bound {
    struct dse_interval tokens, seconds, attention_s, joules, bytes, ops; /* of a step */
    struct dse_interval token_s, token_joules, token_bytes, token_ops;    /* of a token */
    struct dse_interval watts, compute_utilization, dram_utilization;     /* averages */
    struct dse_interval peak_ops, peak_bytes;                             /* a second */
    struct dse_interval area_mm2;
    const struct dse_bill *bill_lo, *bill_hi; /* NULL: none */
};
static inline struct dse_totals_bound dse_totals_unknown(void)
{
    const struct dse_interval u = dse_unbounded;
    return (struct dse_totals_bound){u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, u, NULL, NULL};
}
/* Narrow each total by what the others say of it. */
void dse_totals_narrow(struct dse_totals_bound *t);
/* dse_common_of in intervals: of totals that dse_totals_narrow has seen. */
void dse_common_bound(const struct dse_totals_bound *t, struct dse_common *floor, struct dse_common *ceiling);

#endif
