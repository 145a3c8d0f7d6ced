/* DRAM: peak bandwidth, energy, and the law of efficiency by access size.
 *
 * An access of s contiguous bytes at a random place is s' = s rounded up to whole bursts. The address map deals it to the
 * channels in pieces of `interleave_bytes`; pieces that come round to a channel again lie in the row they opened before, once
 * every channel and bank group has had its turn. Per piece of p bytes, with f = p / (bytes taken from a row once opened), f <= 1:
 *
 *     bus       p / channel_gbs
 *     activate  f max(tRRD, tFAW / 4, row_command_ns)
 *     bank      f max(tRAS + tRP, tRCD + (bursts - 1) tCCD + tRTP + tRP) / busy banks
 *
 * Of N banks, K pieces waiting in the controller's queue keep busy = N K / (N + K - g) on average: the exact result for K
 * customers in a closed network of N like servers visited at random (g = 1). The g pieces that one access leaves in a channel lie
 * in different banks by construction; with g = K nothing collides and K banks are busy.
 *
 * Pieces that find their row open (the share 1 - f) wait for no bank, and streams deal them over the bank groups.
 *
 * Where rows and columns share one command bus (command_buses = 1: LPDDR5, DDR4, GDDR6), with c channels on it, a full data bus
 * needs the command bus for u = c / burst_clocks of the time, once a burst (burst_bytes / channel_gbs). What is left between two
 * column commands is one gap of burst (1 - u):
 *
 *     commands  bus u + f row_command_ns
 *     data      bus + f (max(0, row_command_ns - burst) + burst max(0, 2 u - 1))
 *
 * since commands are not divisible: an activate, sent in one go, pushes the next column command back by what does not fit into a
 * gap, and so does the precharge, which takes burst u. (An activate of two clocks between bursts of two clocks, LPDDR5 at 6.4
 * Gb/s: one clock lost a row.)
 *
 * A DRAM has whole clocks: every time above is rounded up to those of the memory's catalog entry (tRC, tRRD, tFAW, ... in nCK, as
 * JEDEC's standards and the event level have it: hw/dram_clocks.h). The clock is the entry's own, whatever bandwidth is asked of
 * it; an entry without burst_clocks has none.
 *
 * The slowest paces the channel; refresh takes tRFC of every tREFI. Long streams reach dram_efficiency, which no access exceeds:
 *
 *     efficiency = s / s' * min(dram_efficiency, (1 - tRFC / tREFI) * bus / max(data, activate, bank, commands))
 */
#include "hw/dram_clocks.h"

#include <dse/bound.h>
#include <dse/num.h>
#include <dse/units.h>

#include <math.h>
#include <stddef.h>

static const char from_memory[] = "entry of memory";

const struct dse_param dse_dram_timing_fields[] = {
    DSE_PARAM_I64_UNIT(struct dse_dram_timing, interleave_bytes, "B", 1, 1048576,
                       "contiguous bytes in a row of one channel before the next channel", from_memory),
    DSE_PARAM_I64_UNIT(struct dse_dram_timing, row_bytes, "B", 1, 1048576, "size of a row of one bank", from_memory),
    DSE_PARAM_I64(struct dse_dram_timing, banks, 1, 1024, "banks of a channel", from_memory),
    DSE_PARAM_I64(struct dse_dram_timing, bank_groups, 1, 64, "bank groups of a channel", from_memory),
    DSE_PARAM_I64(struct dse_dram_timing, queue_depth, 1, 65536, "bursts that the controller queues and reorders per channel",
                  from_memory),
    DSE_PARAM_F64(struct dse_dram_timing, t_rcd_ns, "ns", 0, 1000, "activate to column command", from_memory),
    DSE_PARAM_F64(struct dse_dram_timing, t_rp_ns, "ns", 0, 1000, "precharge to activate", from_memory),
    DSE_PARAM_F64(struct dse_dram_timing, t_ras_ns, "ns", 0, 1000, "activate to precharge", from_memory),
    DSE_PARAM_F64(struct dse_dram_timing, t_rtp_ns, "ns", 0, 1000, "last read to precharge", from_memory),
    DSE_PARAM_F64(struct dse_dram_timing, t_ccd_ns, "ns", 0, 1000, "column to column command in one bank group (tCCD_L)",
                  from_memory),
    DSE_PARAM_F64(struct dse_dram_timing, t_rrd_ns, "ns", 0, 1000, "activate to activate of another bank group (tRRD_S)",
                  from_memory),
    DSE_PARAM_F64(struct dse_dram_timing, t_faw_ns, "ns", 0, 1000, "window of four activates", from_memory),
    DSE_PARAM_F64(struct dse_dram_timing, row_command_ns, "ns", 0, 1000,
                  "row-command bus time of an activate and its precharge, times the channels on the bus", from_memory),
    DSE_PARAM_F64(struct dse_dram_timing, t_rfc_ns, "ns", 0, 10000, "refresh of all banks; 0: refreshes are hidden", from_memory),
    DSE_PARAM_F64(struct dse_dram_timing, t_refi_ns, "ns", 100, 100000, "refresh interval", from_memory),
    DSE_PARAM_END,
};

const char *const dse_dram_controller_names[] = {"row-hits", "first-ready", "bank-queues", NULL};

static const char from_controller[] = "src/sim/dram_spec.h";

const struct dse_param dse_dram_detail_fields[] = {
    DSE_PARAM_ENUM(struct dse_dram_detail, controller, dse_dram_controller_names, "scheduling policy of the memory controller",
                   from_controller),
    DSE_PARAM_I64(struct dse_dram_detail, bus_channels, 1, 16, "channels that share one command bus and one controller",
                  from_controller),
    DSE_PARAM_I64(struct dse_dram_detail, command_buses, 1, 2, "command buses; 2: one for rows, one for columns", from_controller),
    DSE_PARAM_I64(struct dse_dram_detail, burst_clocks, 1, 64, "clocks of a burst on the data bus; sets the clock",
                  from_controller),
    DSE_PARAM_I64(struct dse_dram_detail, activate_clocks, 1, 16, "clocks of an activate on its command bus; a precharge takes one",
                  from_controller),
    DSE_PARAM_I64(struct dse_dram_detail, bank_queue_depth, 1, 256, "controller = bank-queues: commands in the queue of a bank",
                  from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, t_cl_ns, "ns", 0, 1000, "read command to data", from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, t_cwl_ns, "ns", 0, 1000, "write command to data", from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, t_rcd_wr_ns, "ns", 0, 1000, "activate to write", from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, t_rrd_l_ns, "ns", 0, 1000, "activate to activate in one bank group (tRRD_L)",
                  from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, t_wr_ns, "ns", 0, 1000, "end of write data to precharge", from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, t_wtr_s_ns, "ns", 0, 1000, "end of write data to read in another bank group",
                  from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, t_wtr_l_ns, "ns", 0, 1000, "end of write data to read in the same bank group",
                  from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, t_turn_ns, "ns", 0, 1000, "data bus idle between a read and a write", from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, vdd_v, "V", 0, 10, "core supply voltage", from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, idd0_ma, "mA", 0, 100000, "current of one device: an activate and precharge every tRC",
                  from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, idd2n_ma, "mA", 0, 100000, "current of one device: standby, all banks precharged",
                  from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, idd3n_ma, "mA", 0, 100000, "current of one device: standby, a bank active",
                  from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, idd4r_ma, "mA", 0, 100000, "current of one device: reading without pause",
                  from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, idd4w_ma, "mA", 0, 100000, "current of one device: writing without pause",
                  from_controller),
    DSE_PARAM_F64(struct dse_dram_detail, idd5_ma, "mA", 0, 100000, "current of one device: refreshing all banks without pause",
                  from_controller),
    DSE_PARAM_I64(struct dse_dram_detail, channel_devices, 1, 64, "devices that make up a channel", from_controller),
    DSE_PARAM_END,
};

/* Rows that a catalog entry and the parameters it sets the defaults of have in common. */
#define RATE_ROWS(S) \
    DSE_PARAM_I64(S, channels, 1, 65536, "DRAM channels, each with a data bus of its own", from_memory), \
        DSE_PARAM_F64(S, channel_gbs, "GB/s", 0.01, 10000, "peak of one channel", from_memory), \
        DSE_PARAM_F64(S, dram_pj_per_bit, "pJ/bit", 0, 1000, "energy of moving data between DRAM and chip", from_memory)
#define CAPACITY_ROW(S) DSE_PARAM_F64(S, capacity_gib, "GiB", 0.001, 1048576, "capacity of all channels together", from_memory)
#define CHANNEL_ROWS(S) \
    RATE_ROWS(S), DSE_PARAM_I64_UNIT(S, burst_bytes, "B", 1, 4096, "smallest access of a channel", from_memory), CAPACITY_ROW(S), \
        DSE_EMBED_TOGETHER(S, timing, struct dse_dram_timing, dse_dram_timing_fields)

const char *const dse_memory_kind_names[] = {"other",  "hbm2",   "hbm2e",  "hbm3",  "hbm3e", "hbm4",   "ddr4",  "ddr5",
                                             "lpddr4", "lpddr5", "lpddr6", "gddr5", "gddr6", "gddr6x", "gddr7", NULL};
_Static_assert(sizeof dse_memory_kind_names / sizeof *dse_memory_kind_names == DSE_MEMORY_KINDS + 1, "every kind has its word");
const struct dse_param dse_memory_make_fields[] = {
    DSE_PARAM_ENUM(struct dse_memory_make, kind, dse_memory_kind_names, "kind of DRAM, by which its costs are looked up",
                   "docs/explanation/cost.md"),
    DSE_PARAM_END,
};

const struct dse_param dse_memory_fields[] = {
    CHANNEL_ROWS(struct dse_memory),
    DSE_EMBED_OPTIONAL(struct dse_memory, detail, struct dse_dram_detail, dse_dram_detail_fields),
    DSE_EMBED_OPTIONAL(struct dse_memory, make, struct dse_memory_make, dse_memory_make_fields),
    DSE_PARAM_END,
};

static const char *const other_ways_to_say_it[] = {"channels", "channel_gbs", NULL};

#define DRAM_ROWS(S) \
    DSE_PARAM_REF(S, memory, struct dse_memory, DSE_KIND_MEMORY, \
                  "the DRAM subsystem; sets the defaults of the other DRAM parameters", "catalog/memories.toml"), \
        DSE_PARAM_F64_AUTO(S, bandwidth_gbs, "GB/s", 0.01, 1000000, other_ways_to_say_it, \
                           "peak of all channels; sets the number of channels; auto: channels * channel_gbs", from_memory), \
        DSE_PARAM_F64(S, dram_efficiency, "", 0.01, 1, "share of the peak that long streams reach", \
                      "docs/explanation/hardware.md")

const struct dse_param dse_dram_params[] = {
    DRAM_ROWS(struct dse_dram),
    CHANNEL_ROWS(struct dse_dram),
    DSE_PARAM_END,
};

const struct dse_param dse_dram_stream_params[] = {
    DRAM_ROWS(struct dse_dram),
    RATE_ROWS(struct dse_dram),
    CAPACITY_ROW(struct dse_dram),
    DSE_PARAM_END,
};
#undef DRAM_ROWS
#undef CHANNEL_ROWS
#undef CAPACITY_ROW
#undef RATE_ROWS

bool dse_dram_timing_known(const struct dse_dram_timing *t)
{
    return !isnan(t->t_rcd_ns + t->t_rp_ns + t->t_ras_ns + t->t_rtp_ns + t->t_ccd_ns + t->t_rrd_ns + t->t_faw_ns +
                  t->row_command_ns + t->t_rfc_ns + t->t_refi_ns) &&
           t->interleave_bytes > 0 && t->row_bytes > 0 && t->banks > 0 && t->bank_groups > 0 && t->queue_depth > 0;
}

const char *const dse_dram_timing_names[] = {
    "burst_bytes", "interleave_bytes", "row_bytes", "banks",    "bank_groups",    "queue_depth", "t_rcd_ns",  "t_rp_ns", "t_ras_ns",
    "t_rtp_ns",    "t_ccd_ns",         "t_rrd_ns",  "t_faw_ns", "row_command_ns", "t_rfc_ns",    "t_refi_ns", NULL};

/* What no DRAM can be. A burst that takes longer than tCCD is none of it: so does that of a memory below its rate. */
static const char *refuse_timing(const struct dse_dram_timing *t, int64_t burst_bytes)
{
    if (!dse_dram_timing_known(t)) return NULL;
    if (t->interleave_bytes % burst_bytes != 0) return "interleave_bytes is not a multiple of burst_bytes";
    if (t->row_bytes % t->interleave_bytes != 0) return "row_bytes is not a multiple of interleave_bytes";
    if (t->banks % t->bank_groups != 0) return "banks is not a multiple of bank_groups";
    if (t->t_rfc_ns >= t->t_refi_ns) return "t_rfc_ns is not below t_refi_ns: the DRAM would only refresh";
    if (t->t_ras_ns < t->t_rcd_ns) return "t_ras_ns is below t_rcd_ns: a row would be closed before it is open";
    if (t->t_rfc_ns > 0 && t->t_rfc_ns < t->t_ras_ns + t->t_rp_ns)
        return "t_rfc_ns is above 0 and below t_ras_ns + t_rp_ns: a refresh opens and closes a row";
    return NULL;
}

const char *dse_memory_check(const struct dse_memory *memory)
{
    const struct dse_dram_timing *t = &memory->timing;
    const struct dse_dram_detail *k = &memory->detail; /* NaN where the entry leaves it out */
    const char *why = refuse_timing(t, memory->burst_bytes);
    if (why) return why;
    if (t->t_ras_ns < k->t_rcd_wr_ns) return "t_ras_ns is below t_rcd_wr_ns: a row would be closed before it is open";
    if (k->t_rrd_l_ns < t->t_rrd_ns) return "t_rrd_l_ns is below t_rrd_ns: the same bank group cannot be faster than another";
    if (k->t_wtr_l_ns < k->t_wtr_s_ns) return "t_wtr_l_ns is below t_wtr_s_ns: the same bank group cannot be faster than another";
    if (k->idd4r_ma < k->idd3n_ma) return "idd4r_ma is below idd3n_ma: reading would give energy";
    if (k->idd4w_ma < k->idd3n_ma) return "idd4w_ma is below idd3n_ma: writing would give energy";
    if (k->idd5_ma < k->idd3n_ma) return "idd5_ma is below idd3n_ma: refreshing would give energy";
    return NULL;
}

const char *dse_dram_check(const struct dse_dram *d)
{
    return refuse_timing(&d->timing, d->burst_bytes);
}

const char *dse_dram_refuse(const void *dram)
{
    return dse_dram_check(dram);
}

void dse_dram_resolve(struct dse_dram *d)
{
    const double rounding = 1e-12, all = (double)d->channels * d->channel_gbs;
    if (isnan(d->bandwidth_gbs)) d->bandwidth_gbs = all;
    if (fabs(d->bandwidth_gbs - all) <= rounding * all) return;
    const double bus = d->memory && d->memory->detail.bus_channels > 1 ? (double)d->memory->detail.bus_channels : 1;
    const double buses = ceil(d->bandwidth_gbs / (bus * d->channel_gbs) * (1 - rounding));
    d->channels = (int64_t)(bus * buses);
    d->channel_gbs = d->bandwidth_gbs / (double)d->channels;
}

/* bytes rounded up to whole bursts. */
static double to_bursts(double bytes, double burst)
{
    return ceil(bytes / burst) * burst;
}

/* Nanoseconds of a command clock of the entry; 0 when it has none. */
static double entry_clock_ns(const struct dse_memory *m)
{
    if (!m || m->detail.burst_clocks == 0) return 0;
    return (double)m->burst_bytes / (m->channel_gbs * (double)m->detail.burst_clocks);
}

/* A time as the memory keeps it. */
static double kept_ns(double ns, double clock_ns)
{
    return clock_ns > 0 ? dram_clocks(ns, clock_ns) * clock_ns : ns;
}

/* How long a piece takes on a command bus that rows and columns share, or makes its data take; 0 where they do not share one. See
 * the top of this file. */
static double shared_bus_ns(const struct dse_dram *d, double bus, double f, double row_command_ns)
{
    const struct dse_dram_detail *k = d->memory ? &d->memory->detail : NULL;
    if (!k || k->command_buses != 1 || k->burst_clocks == 0) return 0;
    double share = (double)k->bus_channels / (double)k->burst_clocks, burst = (double)d->burst_bytes / d->channel_gbs;
    double pushed = dse_max(0, row_command_ns - burst) + burst * dse_max(0, 2 * share - 1);
    return dse_max(bus * share + f * row_command_ns, bus + f * pushed);
}

/* Share of the time the data bus of a channel is busy when accesses of `bytes` (whole bursts) at random places pace it; the law
 * at the top of this file. */
static double paced_share(const struct dse_dram *d, double bytes)
{
    const struct dse_dram_timing *t = &d->timing;
    double channels = (double)d->channels, banks = (double)t->banks, burst = (double)d->burst_bytes;
    double clock_ns = entry_clock_ns(d->memory);
    double piece = dse_min(bytes, (double)t->interleave_bytes);
    double pieces = bytes / piece;
    double rows = dse_min(pieces, channels * (double)t->bank_groups);
    double opened = dse_max(piece, dse_min((double)t->row_bytes, bytes / rows));
    double f = piece / opened; /* rows opened a piece */

    double waiting = dse_max(1, (double)t->queue_depth * burst / piece);
    double regular = dse_max(1, dse_min(pieces / channels, dse_min(waiting, banks)));
    double busy = banks * waiting / (banks + waiting - regular);

    double bus = piece / d->channel_gbs;
    double row_command = kept_ns(t->row_command_ns, clock_ns);
    double activate = f * dse_max(kept_ns(t->t_rrd_ns, clock_ns), dse_max(kept_ns(t->t_faw_ns, clock_ns) / 4, row_command));
    double rp = kept_ns(t->t_rp_ns, clock_ns), column = kept_ns(t->t_ccd_ns, clock_ns);
    double served = kept_ns(t->t_rcd_ns, clock_ns) + (piece / burst - 1) * column + kept_ns(t->t_rtp_ns, clock_ns) + rp;
    double bank = f * dse_max(kept_ns(t->t_ras_ns, clock_ns) + rp, served) / busy;
    double shared = shared_bus_ns(d, bus, f, row_command);
    return bus / dse_max(dse_max(bus, shared), dse_max(activate, bank));
}

double dse_dram_efficiency(const struct dse_dram *d, double bytes)
{
    if (isinf(bytes)) return d->dram_efficiency;
    double moved = to_bursts(bytes, (double)d->burst_bytes);
    if (!dse_dram_timing_known(&d->timing)) return bytes / moved * d->dram_efficiency;
    double awake = 1 - d->timing.t_rfc_ns / d->timing.t_refi_ns;
    return bytes / moved * dse_min(d->dram_efficiency, awake * paced_share(d, moved));
}

double dse_dram_peak(const struct dse_dram *d)
{
    return d->bandwidth_gbs * DSE_GIGA;
}

double dse_dram_stream_rate(const struct dse_dram *d)
{
    return dse_dram_peak(d) * d->dram_efficiency;
}

double dse_dram_stream_seconds(const struct dse_dram *d, double bytes)
{
    return bytes / dse_dram_stream_rate(d);
}

double dse_dram_moved(const struct dse_dram *d, double bytes, double access_bytes)
{
    if (isinf(access_bytes)) return bytes;
    return bytes * (to_bursts(access_bytes, (double)d->burst_bytes) / access_bytes);
}

double dse_dram_seconds(const struct dse_dram *d, double bytes, double access_bytes)
{
    return bytes / (dse_dram_peak(d) * dse_dram_efficiency(d, access_bytes));
}

double dse_dram_joules(const struct dse_dram *d, double bytes)
{
    return bytes * DSE_BITS_PER_BYTE * d->dram_pj_per_bit * DSE_PICO;
}

/* ---- bounds -------------------------------------------------------------------------------------------------------------- */

struct dse_interval dse_dram_peak_bound(const struct dse_dram *lo, const struct dse_dram *hi)
{
    return dse_iv(dse_dram_peak(lo), dse_dram_peak(hi));
}

struct dse_interval dse_dram_stream_rate_bound(const struct dse_dram *lo, const struct dse_dram *hi)
{
    return dse_iv(dse_dram_stream_rate(lo), dse_dram_stream_rate(hi));
}

static bool same_times(const struct dse_dram_timing *a, const struct dse_dram_timing *b)
{
    return a->t_rcd_ns == b->t_rcd_ns && a->t_rp_ns == b->t_rp_ns && a->t_ras_ns == b->t_ras_ns && a->t_rtp_ns == b->t_rtp_ns &&
           a->t_ccd_ns == b->t_ccd_ns && a->t_rrd_ns == b->t_rrd_ns && a->t_faw_ns == b->t_faw_ns &&
           a->row_command_ns == b->row_command_ns && a->t_rfc_ns == b->t_rfc_ns && a->t_refi_ns == b->t_refi_ns;
}

/* Do accesses of the same bytes reach the same? */
static bool same_law(const struct dse_dram *lo, const struct dse_dram *hi)
{
    const struct dse_dram_timing *a = &lo->timing, *b = &hi->timing;
    return lo->channels == hi->channels && lo->channel_gbs == hi->channel_gbs && lo->burst_bytes == hi->burst_bytes &&
           lo->dram_efficiency == hi->dram_efficiency && a->interleave_bytes == b->interleave_bytes &&
           a->row_bytes == b->row_bytes && a->banks == b->banks && a->bank_groups == b->bank_groups &&
           a->queue_depth == b->queue_depth && same_times(a, b);
}

static struct dse_interval kept_bound(double lo_ns, double hi_ns, double clock_ns)
{
    return dse_widened(kept_ns(lo_ns, clock_ns), kept_ns(hi_ns, clock_ns), 4);
}

/* Banks that are busy: N K / (N + K - g) grows in all three, as long as g is at most N and K. */
static struct dse_interval busy_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval piece,
                                      struct dse_interval pieces)
{
    const struct dse_interval banks = dse_iv_i64(lo->timing.banks, hi->timing.banks);
    const struct dse_interval queue =
        dse_iv((double)lo->timing.queue_depth * (double)lo->burst_bytes, (double)hi->timing.queue_depth * (double)hi->burst_bytes);
    const struct dse_interval waiting = dse_iv_max(dse_iv_of(1), dse_iv_div(queue, piece));
    const struct dse_interval in_turn = dse_iv_div(pieces, dse_iv_i64(lo->channels, hi->channels));
    const struct dse_interval regular = dse_iv_max(dse_iv_of(1), dse_iv_min(in_turn, dse_iv_min(waiting, banks)));
    return dse_widened(banks.lo * waiting.lo / (banks.lo + waiting.lo - regular.lo),
                       banks.hi * waiting.hi / (banks.hi + waiting.hi - regular.hi), 4);
}

/* shared_bus_ns over the bus's own time. rate: of a channel; pace: that over the bytes of an opened row. */
static struct dse_interval shared_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval row_command,
                                        struct dse_interval rate, struct dse_interval opened)
{
    const struct dse_dram_detail *k = lo->memory ? &lo->memory->detail : NULL;
    if (!k || k->command_buses != 1 || k->burst_clocks == 0) return dse_iv_of(0);
    const double share = (double)k->bus_channels / (double)k->burst_clocks, over = dse_max(0, 2 * share - 1);
    const struct dse_interval burst = dse_iv_i64(lo->burst_bytes, hi->burst_bytes), moved = dse_iv_mul(row_command, rate);
    const struct dse_interval pushed =
        dse_iv_add(dse_iv_positive(dse_iv_sub(moved, burst)), dse_iv_scale(burst, over)); /* bytes' time of the bus */
    return dse_iv_max(dse_iv_add(dse_iv_of(share), dse_iv_div(moved, opened)),
                      dse_iv_add(dse_iv_of(1), dse_iv_div(pushed, opened)));
}

/* Time that the slowest takes for a piece, over that of the data bus: the law at the top of this file, with the bytes of an opened
 * row, min(row, max(piece, bytes / (channels groups))), for piece / f. */
static struct dse_interval slowest_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes)
{
    const struct dse_dram_timing *a = &lo->timing, *b = &hi->timing;
    const double clock_ns = entry_clock_ns(lo->memory);
    const struct dse_interval interleave = dse_iv_i64(a->interleave_bytes, b->interleave_bytes), one = dse_iv_of(1);
    const struct dse_interval piece = dse_iv_min(bytes, interleave);
    const struct dse_interval pieces = dse_iv_max(one, dse_iv_div(bytes, interleave));
    const struct dse_interval turns =
        dse_iv((double)lo->channels * (double)a->bank_groups, (double)hi->channels * (double)b->bank_groups);
    const struct dse_interval opened =
        dse_iv_min(dse_iv_i64(a->row_bytes, b->row_bytes), dse_iv_max(piece, dse_iv_div(bytes, turns)));
    const struct dse_interval rate = dse_iv(lo->channel_gbs, hi->channel_gbs), pace = dse_iv_div(rate, opened);
    const struct dse_interval row_command = kept_bound(a->row_command_ns, b->row_command_ns, clock_ns);
    const struct dse_interval window = dse_iv_scale(kept_bound(a->t_faw_ns, b->t_faw_ns, clock_ns), 0.25);
    const struct dse_interval activate =
        dse_iv_max(kept_bound(a->t_rrd_ns, b->t_rrd_ns, clock_ns), dse_iv_max(window, row_command));
    const struct dse_interval rp = kept_bound(a->t_rp_ns, b->t_rp_ns, clock_ns);
    const struct dse_interval bursts = dse_iv_div(piece, dse_iv_i64(lo->burst_bytes, hi->burst_bytes));
    const struct dse_interval columns = dse_iv_mul(dse_iv_sub(bursts, one), kept_bound(a->t_ccd_ns, b->t_ccd_ns, clock_ns));
    const struct dse_interval served = dse_iv_add(dse_iv_add(kept_bound(a->t_rcd_ns, b->t_rcd_ns, clock_ns), columns),
                                                  dse_iv_add(kept_bound(a->t_rtp_ns, b->t_rtp_ns, clock_ns), rp));
    const struct dse_interval cycle = dse_iv_add(kept_bound(a->t_ras_ns, b->t_ras_ns, clock_ns), rp);
    const struct dse_interval bank = dse_iv_div(dse_iv_max(cycle, served), busy_bound(lo, hi, piece, pieces));
    const struct dse_interval rows = dse_iv_mul(dse_iv_max(activate, bank), pace);
    return dse_iv_max(dse_iv_max(one, shared_bound(lo, hi, row_command, rate, opened)), rows);
}

/* Bytes on the bus over bytes asked for. */
static struct dse_interval burst_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes)
{
    const struct dse_interval burst = dse_iv_i64(lo->burst_bytes, hi->burst_bytes);
    if (dse_iv_is_point(burst) && dse_iv_is_point(bytes)) return dse_iv_of(to_bursts(bytes.lo, burst.lo) / bytes.lo);
    const struct dse_interval most = dse_iv_add(dse_iv_of(1), dse_iv_div(burst, bytes)); /* a burst more at most */
    const struct dse_interval moved = dse_iv_mul(dse_iv_ceil_div(bytes, burst), burst);
    return dse_iv_both(dse_iv(1, most.hi), dse_iv_div(moved, bytes));
}

struct dse_interval dse_dram_efficiency_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes)
{
    const struct dse_interval limit = dse_iv(lo->dram_efficiency, hi->dram_efficiency);
    if (isinf(bytes.lo)) return limit;
    if (same_law(lo, hi) && dse_iv_is_point(bytes)) return dse_iv_of(dse_dram_efficiency(lo, bytes.lo));
    const struct dse_interval over = burst_bound(lo, hi, bytes);
    const bool known = dse_dram_timing_known(&lo->timing);
    if (known != dse_dram_timing_known(&hi->timing)) return dse_iv(0, dse_iv_div(limit, over).hi);
    if (!known) return dse_iv_div(limit, over);
    const struct dse_dram_timing *a = &lo->timing, *b = &hi->timing;
    const struct dse_interval refresh = dse_iv_div(dse_iv(a->t_rfc_ns, b->t_rfc_ns), dse_iv(a->t_refi_ns, b->t_refi_ns));
    const struct dse_interval awake = dse_iv_positive(dse_iv_sub(dse_iv_of(1), refresh));
    const struct dse_interval paced = dse_iv_div(awake, slowest_bound(lo, hi, dse_iv_mul(bytes, over)));
    return dse_iv_div(dse_iv_min(limit, paced), over);
}

struct dse_interval dse_dram_stream_seconds_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes)
{
    return dse_iv_div(bytes, dse_dram_stream_rate_bound(lo, hi));
}

struct dse_interval dse_dram_moved_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes,
                                         struct dse_interval access_bytes)
{
    if (isinf(access_bytes.lo)) return bytes;
    return dse_iv_mul(bytes, burst_bound(lo, hi, access_bytes));
}

struct dse_interval dse_dram_seconds_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes,
                                           struct dse_interval access_bytes)
{
    return dse_iv_div(bytes, dse_iv_mul(dse_dram_peak_bound(lo, hi), dse_dram_efficiency_bound(lo, hi, access_bytes)));
}

struct dse_interval dse_dram_joules_bound(const struct dse_dram *lo, const struct dse_dram *hi, struct dse_interval bytes)
{
    return dse_iv_scale(dse_iv_mul(bytes, dse_iv(lo->dram_pj_per_bit, hi->dram_pj_per_bit)), DSE_BITS_PER_BYTE * DSE_PICO);
}
