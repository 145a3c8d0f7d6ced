/* Shared closed-form hardware: DRAM bandwidth and energy, SRAM macros, technology scaling. All pure and thread-safe. */
#ifndef DSE_HW_H
#define DSE_HW_H

#include <dse/catalog.h>
#include <dse/desc.h>
#include <stdbool.h>

/* ---- DRAM ------------------------------------------------------------------------------------------------------------- */

/* Parameters of the DRAM; a model embeds them with DSE_EMBED_REFUSING(..., struct dse_dram, dse_dram_params, dse_dram_refuse).
 * `memory` sets the defaults of all of them but bandwidth_gbs and dram_efficiency. bandwidth_gbs defaults to channels *
 * channel_gbs: a memory brings its bandwidth. Giving bandwidth_gbs asks for as many channels of the memory as that takes, whole
 * command buses of them, each at an equal part of it: none is faster than the memory has them, and the timing is the memory's. It
 * cannot be given together with channels or channel_gbs, which say it otherwise. Closed form and event level both read what
 * dse_dram_resolve makes of it. */
struct dse_dram {
    const struct dse_memory *memory;
    int64_t channels;
    double channel_gbs;
    double bandwidth_gbs;   /* peak of all channels; "auto" before dse_dram_resolve */
    double dram_efficiency; /* share of the peak that long streams reach (refresh, row misses, bus turn-round) */
    double dram_pj_per_bit;
    int64_t burst_bytes;
    double capacity_gib;
    struct dse_dram_timing timing;
};
extern const struct dse_param dse_dram_params[];
/* Those of a model that knows long streams alone: no bursts, no timing, which would move nothing. It embeds them plainly. */
extern const struct dse_param dse_dram_stream_params[];
/* The rows of it that say how a channel keeps time: burst_bytes and those of struct dse_dram_timing. For a model whose closed
 * form reads none of them (dse_model.event_level_only). */
extern const char *const dse_dram_timing_names[];

/* Make bandwidth_gbs = channels * channel_gbs hold: by the bandwidth where it is NaN, else by the channels (see above). Once it
 * holds nothing changes any more. */
void dse_dram_resolve(struct dse_dram *d);
/* Is all of its timing known? A memory may come without: then accesses of any length reach dram_efficiency of the peak, in whole
 * bursts, and there is no event level. */
bool dse_dram_timing_known(const struct dse_dram_timing *t);
/* NULL, or why there is no such DRAM, naming the parameters that do not fit together: rows that are closed before they are open,
 * nothing but refresh, pieces that are no whole bursts. Every model asks in its check(); of what was typed it is bad input
 * (DSE_EMBED_REFUSING). */
const char *dse_dram_check(const struct dse_dram *d);
const char *dse_dram_refuse(const void *dram); /* the same */
/* Share of the peak reached by accesses of `bytes` contiguous bytes at random places, reads or writes, many in flight:
 * dram_efficiency for long streams, less for short ones, by six causes: bursts are moved whole; a row is opened for few bursts
 * (tRRD, tFAW, row-command bus); random accesses meet busy banks (tRC, queue depth); rows and columns share one command bus
 * (where the memory's command_buses is 1); times are whole clocks (of the memory's own rate); refresh. The law stands in
 * src/hw/dram.c. Against two cycle-level simulators it is off by 2.4 % on average and at most 9 %; with 32 entries a channel or
 * less, up to 24 % too low (tests/unit/test_dram.c). Against the event level of every memory: 4.1 % on average, -15 to +12 %
 * (tests/unit/test_dram_physics.c). */
double dse_dram_efficiency(const struct dse_dram *d, double bytes);
/* Bytes a second: the peak, and what long streams reach of it. */
double dse_dram_peak(const struct dse_dram *d);
double dse_dram_stream_rate(const struct dse_dram *d);
/* Seconds of a long stream of so many bytes. */
double dse_dram_stream_seconds(const struct dse_dram *d, double bytes);
/* Bytes on the bus when `bytes` are fetched in accesses of `access_bytes`: every access is rounded up to whole bursts. Here and
 * below an infinite access is a part of a long stream. */
double dse_dram_moved(const struct dse_dram *d, double bytes, double access_bytes);
/* Seconds to move `bytes` at the efficiency of accesses of `access_bytes`. */
double dse_dram_seconds(const struct dse_dram *d, double bytes, double access_bytes);
/* Joules to move `bytes` over the bus (see dse_dram_moved for short accesses). */
double dse_dram_joules(const struct dse_dram *d, double bytes);

/* ---- SRAM ------------------------------------------------------------------------------------------------------------- */

/* One SRAM macro. What its source does not give is NaN: CACTI has no power under LAD's load, a paper's table no energy an access.
 */
struct dse_sram {
    double area_mm2, leakage_mw;
    double read_pj, write_pj; /* an access of one word */
    double dynamic_mw;        /* under the load of the paper the macro comes from */
    double access_ns;
};

/* The macro of `capacity_mib` and `word_bits` by table t (a catalog entry: "cacti-22nm-hp-1rw", "lad-table3", ...): interpolated
 * log-log over capacity and word between the macros it has, exact on them. Returns false outside of them; then *ret is untouched.
 * A table with one word width ignores word_bits. Pure, thread-safe, no allocation. */
bool dse_sram_at(const struct dse_sram_table *t, double capacity_mib, double word_bits, struct dse_sram *ret);
/* Node the table was made for [nm], and the capacities it spans. */
double dse_sram_node_nm(const struct dse_sram_table *t);
void dse_sram_range(const struct dse_sram_table *t, double *ret_min_mib, double *ret_max_mib);

/* ---- technology ------------------------------------------------------------------------------------------------------- */

enum dse_tech_metric { DSE_TECH_AREA, DSE_TECH_SRAM_AREA, DSE_TECH_ENERGY, DSE_TECH_DELAY, DSE_TECH_POWER };

/* X at `to` = X at a node of `from_nm` * the ratio, by the method of `to`. NaN when that method has no such node or no such metric.
 * Where the method has the node at several supplies, the one nearest to the supply of `to` is taken (the higher of two as near). */
double dse_tech_ratio(const struct dse_technology *to, double from_nm, enum dse_tech_metric metric);
/* What to know of an SRAM area that was scaled from a node of from_nm (dse_model.stand): bit cells have shrunk less than logic
 * since 20 nm, so that a method without an sram_area makes them too small below that. NULL: nothing. A string constant. */
const char *dse_tech_sram_beyond(const struct dse_technology *to, double from_nm);
/* The metric at another supply: on the polynomial through all supplies at which its method has the node of `at` (three or four: the
 * methods publish parabolas and cubics). NaN where it has fewer than three. */
double dse_tech_at_supply(const struct dse_technology *at, double vdd_v, enum dse_tech_metric metric);
/* The nodes [nm] that the method of `to` has the metric for, each once, largest first: for messages. Writes at most max, returns
 * how many there are. */
size_t dse_tech_nodes(const struct dse_technology *to, enum dse_tech_metric metric, double *ret_nm, size_t max);

#endif
