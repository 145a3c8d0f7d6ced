#include "cli/dram_report.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "desc/schema.h"

#include <math.h>
#include <stdlib.h>

/* The limit of the DRAM that is used up. */
enum bound { BOUND_NONE, BOUND_DATA, BOUND_GROUP, BOUND_FAW, BOUND_ROWS, BOUND_BANK };
static const char *const bounds[] = {"none",       "data bus", "bank group (tCCD_L)", "activates (tFAW, tRRD)", "row commands",
                                     "bank (tRC)", NULL};

struct report {
    int64_t requests, bursts;
    double requested_mib, time_us;
    double bandwidth_gbs, peak_gbs, dram_utilization;
    double latency_mean_ns, latency_p50_ns, latency_p99_ns, latency_max_ns, idle_latency_ns, total_mean_ns, total_p99_ns;
    int64_t reads, writes, forwarded, merged, coalesced;
    double row_hit_rate;
    int64_t activates, refreshes;
    double energy_pj_per_bit, power_w, activate_pj_per_bit, column_pj_per_bit, refresh_pj_per_bit, background_pj_per_bit;
    double use_data_bus, use_bank_group, use_four_activates, use_row_commands, use_bank, use_refresh;
    int32_t bound;
    double requests_per_s;
};

#define R struct report
static const struct dse_metric rows[] = {
    DSE_METRIC_F64(R, bandwidth_gbs, "GB/s", DSE_MORE, "bytes asked for over the time", ""),
    DSE_METRIC_F64(R, peak_gbs, "GB/s", DSE_MORE, "of all data buses", ""),
    DSE_METRIC_F64(R, dram_utilization, "", DSE_MORE, "bytes moved by the DRAM over the time, as share of the peak", ""),
    DSE_METRIC_F64(R, latency_mean_ns, "ns", DSE_LESS, "of reads, from the controller's acceptance to the data", ""),
    DSE_METRIC_F64(R, latency_p50_ns, "ns", DSE_LESS, "median of it", ""),
    DSE_METRIC_F64(R, latency_p99_ns, "ns", DSE_LESS, "99 % of reads are not slower", ""),
    DSE_METRIC_F64(R, latency_max_ns, "ns", DSE_LESS, "slowest read", ""),
    DSE_METRIC_F64(R, idle_latency_ns, "ns", DSE_LESS, "of a read without other requests, its bank closed", ""),
    DSE_METRIC_F64(R, total_mean_ns, "ns", DSE_LESS, "of reads, from arrival to the data, including the wait for room in a queue",
                   ""),
    DSE_METRIC_F64(R, total_p99_ns, "ns", DSE_LESS, "99 % of reads are not slower, from arrival", ""),
    DSE_METRIC_F64(R, row_hit_rate, "", DSE_MORE, "bursts that found their row open", ""),
    DSE_METRIC_F64(R, energy_pj_per_bit, "pJ/bit", DSE_LESS, "of the DRAM core by command, for each bit moved; without I/O", ""),
    DSE_METRIC_F64(R, activate_pj_per_bit, "pJ/bit", DSE_LESS, "activates and precharges in it", ""),
    DSE_METRIC_F64(R, column_pj_per_bit, "pJ/bit", DSE_LESS, "reads and writes in it", ""),
    DSE_METRIC_F64(R, refresh_pj_per_bit, "pJ/bit", DSE_LESS, "refreshes in it", ""),
    DSE_METRIC_F64(R, background_pj_per_bit, "pJ/bit", DSE_LESS, "standby in it", ""),
    DSE_METRIC_F64(R, power_w, "W", DSE_LESS, "the same over the time", ""),
    DSE_METRIC_I64(R, requests, DSE_NEITHER, "requests of the trace", ""),
    DSE_METRIC_I64(R, bursts, DSE_NEITHER, "bursts they are made of", ""),
    DSE_METRIC_F64(R, requested_mib, "MiB", DSE_NEITHER, "bytes asked for", ""),
    DSE_METRIC_F64(R, time_us, "us", DSE_LESS, "until all reads have returned and all writes are acknowledged", ""),
    DSE_METRIC_I64(R, reads, DSE_NEITHER, "bursts read from the DRAM", ""),
    DSE_METRIC_I64(R, writes, DSE_NEITHER, "bursts written to it", ""),
    DSE_METRIC_I64(R, forwarded, DSE_NEITHER, "bursts read from a queued write", ""),
    DSE_METRIC_I64(R, merged, DSE_NEITHER, "bursts that shared the read of an equal burst", ""),
    DSE_METRIC_I64(R, coalesced, DSE_NEITHER, "bursts merged into a queued write to the same place", ""),
    DSE_METRIC_I64(R, activates, DSE_NEITHER, "rows opened", ""),
    DSE_METRIC_I64(R, refreshes, DSE_NEITHER, "of all banks of a channel", ""),
    DSE_METRIC_F64(R, use_data_bus, "", DSE_NEITHER, "share of the time in use on the busiest command bus: its data buses", ""),
    DSE_METRIC_F64(R, use_bank_group, "", DSE_NEITHER, "... column commands of one bank group, tCCD_L apart", ""),
    DSE_METRIC_F64(R, use_four_activates, "", DSE_NEITHER, "... activates, four in a tFAW and tRRD apart", ""),
    DSE_METRIC_F64(R, use_row_commands, "", DSE_NEITHER, "... the row-command bus, activates and precharges", ""),
    DSE_METRIC_F64(R, use_bank, "", DSE_NEITHER, "... one bank, an activate every tRC", ""),
    DSE_METRIC_F64(R, use_refresh, "", DSE_NEITHER, "... refreshing, which takes from all of these", ""),
    DSE_METRIC_ENUM(R, bound, bounds, "the resource that is used up (90 % of what refresh leaves), or none", ""),
    DSE_METRIC_F64(R, requests_per_s, "", DSE_MORE, "bursts simulated in a second of CPU time", ""),
    DSE_METRIC_END,
};
#undef R

static enum bound bound_of(const struct report *r)
{
    const double used[] = {[BOUND_DATA] = r->use_data_bus,
                           [BOUND_GROUP] = r->use_bank_group,
                           [BOUND_FAW] = r->use_four_activates,
                           [BOUND_ROWS] = r->use_row_commands,
                           [BOUND_BANK] = r->use_bank};
    enum bound best = BOUND_NONE;
    double most = 0.9 * (1 - r->use_refresh);
    for (int i = BOUND_DATA; i <= BOUND_BANK; i++) {
        if (used[i] < most) continue;
        most = used[i];
        best = (enum bound)i;
    }
    return best;
}

static void set_latencies(struct report *r, const struct dram_subject *s)
{
    const struct dram_result *d = s->result;
    const double clock = s->spec->clock_ns;
    r->latency_mean_ns = dram_latency_mean(&d->latency) * clock;
    r->latency_p50_ns = dram_latency_quantile(&d->latency, 0.5) * clock;
    r->latency_p99_ns = dram_latency_quantile(&d->latency, 0.99) * clock;
    r->latency_max_ns = d->latency.n ? (double)d->latency.max * clock : (double)NAN;
    r->total_mean_ns = dram_latency_mean(&d->total) * clock;
    r->total_p99_ns = dram_latency_quantile(&d->total, 0.99) * clock;
    r->idle_latency_ns = dram_spec_idle_ns(s->spec);
}

static void set_energy(struct report *r, const struct dram_result *d, double bits)
{
    r->energy_pj_per_bit = d->energy_pj / bits;
    r->activate_pj_per_bit = d->act_pj / bits;
    r->column_pj_per_bit = (d->rd_pj + d->wr_pj) / bits;
    r->refresh_pj_per_bit = d->ref_pj / bits;
    r->background_pj_per_bit = d->background_pj / bits;
    r->power_w = d->energy_pj / d->time_ns * 1e-3;
}

static struct report make_report(const struct dram_subject *s)
{
    const struct dram_result *d = s->result;
    const struct dram_tally *t = &d->tally;
    const double moved = (double)(t->reads + t->writes) * (double)s->spec->burst_bytes, peak = dram_spec_peak_gbs(s->spec);
    struct report r = {.requests = (int64_t)d->requests,
                       .bursts = (int64_t)d->bursts,
                       .requested_mib = (double)d->bytes / 0x1p20,
                       .time_us = d->time_ns * 1e-3,
                       .bandwidth_gbs = (double)d->bytes / d->time_ns,
                       .peak_gbs = peak,
                       .dram_utilization = moved / d->time_ns / peak,
                       .reads = (int64_t)t->reads,
                       .writes = (int64_t)t->writes,
                       .forwarded = (int64_t)t->forwarded,
                       .merged = (int64_t)t->merged,
                       .coalesced = (int64_t)t->coalesced,
                       .row_hit_rate = (double)t->hits / (double)(t->hits + t->misses),
                       .activates = (int64_t)t->activates,
                       .refreshes = (int64_t)t->refreshes,
                       .use_data_bus = d->limits.data_bus,
                       .use_bank_group = d->limits.bank_group,
                       .use_four_activates = d->limits.four_activates,
                       .use_row_commands = d->limits.row_commands,
                       .use_bank = d->limits.bank,
                       .use_refresh = d->limits.refresh,
                       .requests_per_s = s->cpu_s > 0 ? (double)d->bursts / s->cpu_s : (double)NAN};
    set_latencies(&r, s);
    set_energy(&r, d, 8 * moved);
    r.bound = (int32_t)bound_of(&r);
    return r;
}

static void put(struct output *o, const struct field *f, const struct report *r, bool people)
{
    const struct value v = field_get(f, r);
    char buf[TEXT_NUMBER_MAX];
    if (f->type == DSE_TYPE_ENUM)
        output_text(o, f->choices[v.choice]);
    else if (f->type == DSE_TYPE_I64)
        output_i64(o, v.i64);
    else if (people && isfinite(v.f64))
        output_text(o, text_short_number(buf, v.f64));
    else
        output_f64(o, v.f64);
}

/* Print a line for each number. */
static bool print_table(const struct schema *schema, const struct report *r)
{
    struct output *o = output_new(stdout, OUTPUT_TABLE, (const char *const[]){"NAME", "VALUE", "UNIT", "WHAT"}, 4);
    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        if (f->type == DSE_TYPE_F64 && isnan(field_number(f, r))) continue; /* not known of this memory, or of these requests */
        output_text(o, f->name);
        put(o, f, r, true);
        output_text(o, f->unit);
        output_text(o, f->doc);
    }
    return output_end(o);
}

/* Print one row, which begins with what was run. */
static bool print_row(const struct schema *schema, const struct report *r, const struct dram_subject *s, enum output_format format)
{
    const struct {
        const char *name, *value;
    } given[] = {{"memory", s->memory}, {"mapping", s->mapping}, {"frontend", s->front}, {"refresh", s->refresh}};
    enum { GIVEN = sizeof given / sizeof *given };
    const char **names = xcalloc(GIVEN + schema->n, sizeof *names);
    for (size_t i = 0; i < GIVEN; i++) names[i] = given[i].name;
    for (size_t i = 0; i < schema->n; i++) names[GIVEN + i] = schema->fields[i].name;
    struct output *o = output_new(stdout, format, names, GIVEN + schema->n);
    free(names);
    for (size_t i = 0; i < GIVEN; i++) output_text(o, given[i].value);
    for (size_t i = 0; i < schema->n; i++) put(o, &schema->fields[i], r, false);
    return output_end(o);
}

bool dram_report(const struct dram_subject *s, enum output_format format)
{
    const struct report r = make_report(s);
    struct schema schema;
    schema_init_metrics(&schema, rows, NULL);
    const bool ok = format == OUTPUT_TABLE ? print_table(&schema, &r) : print_row(&schema, &r, s, format);
    schema_release(&schema);
    return ok;
}
