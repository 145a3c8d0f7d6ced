#include "sim/dram_spec.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "hw/dram_clocks.h"

#include <dse/dram_port.h>
#include <math.h>
#include <stdlib.h>

static int clocks(double ns, double clock_ns)
{
    return (int)dram_clocks(ns, clock_ns);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

/* The names of what the entry lacks, or NULL; the caller frees. */
static char *missing(const struct dse_dram_detail *k)
{
    const struct {
        const char *name;
        double value;
    } needed[] = {{"t_cl_ns", k->t_cl_ns},
                  {"t_cwl_ns", k->t_cwl_ns},
                  {"t_rcd_wr_ns", k->t_rcd_wr_ns},
                  {"t_rrd_l_ns", k->t_rrd_l_ns},
                  {"t_wr_ns", k->t_wr_ns},
                  {"t_wtr_s_ns", k->t_wtr_s_ns},
                  {"t_wtr_l_ns", k->t_wtr_l_ns},
                  {"t_turn_ns", k->t_turn_ns},
                  {"bus_channels", k->bus_channels ? 1 : (double)NAN},
                  {"command_buses", k->command_buses ? 1 : (double)NAN},
                  {"burst_clocks", k->burst_clocks ? 1 : (double)NAN},
                  {"activate_clocks", k->activate_clocks ? 1 : (double)NAN},
                  {"bank_queue_depth", k->bank_queue_depth || k->controller != DSE_DRAM_BANK_QUEUES ? 1 : (double)NAN}};
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (isnan(needed[i].value)) text_addf(&t, "%s%s", t.n ? ", " : "", needed[i].name);
    if (t.n) return text_detach(&t);
    text_release(&t);
    return NULL;
}

static double rows_of(const struct dse_dram *d)
{
    return d->capacity_gib * 0x1p30 / ((double)d->channels * (double)d->timing.banks * (double)d->timing.row_bytes);
}

/* Why the organisation cannot be simulated, or NULL. */
static const char *misfit(const struct dse_dram *d)
{
    const struct dse_dram_timing *t = &d->timing;
    const struct dse_dram_detail *k = &d->memory->detail;
    const bool bank_queues = k->controller == DSE_DRAM_BANK_QUEUES;
    const char *why = dse_dram_check(d);
    if (why) return why;
    if (d->channels > DRAM_ALL_CHANNELS_MAX)
        return "more than 16384 channels at event level: bandwidth_gbs is too large for channel_gbs";
    if (d->channels % k->bus_channels != 0) return "channels is not a multiple of the memory's bus_channels";
    if (k->bus_channels > DRAM_CHANNELS_MAX || t->banks * k->bus_channels > DRAM_BANKS_MAX)
        return "more than 64 banks on a command bus (banks times the memory's bus_channels) at event level";
    if (t->row_bytes % d->burst_bytes != 0) return "row_bytes is not a multiple of burst_bytes";
    if (t->row_bytes / d->burst_bytes > INT16_MAX) return "a row of more than 32767 bursts at event level";
    if ((double)d->burst_bytes / d->channel_gbs / (double)k->burst_clocks < 1e-3) /* the time's unit; and no time is 2^31 clocks */
        return "channel_gbs makes a command clock of less than a picosecond at event level";
    if (!(rows_of(d) >= 1)) return "capacity_gib is less than a row of every bank";
    if (rows_of(d) > INT32_MAX) return "capacity_gib makes more than 2^31 rows a bank at event level";
    if (t->queue_depth * k->bus_channels > DRAM_QUEUE_MAX)
        return "more than 4096 bursts queued for a command bus (queue_depth times the memory's bus_channels) at event level";
    if (bank_queues && k->bus_channels != 1)
        return "controller bank-queues drives one channel a command bus: bus_channels must be 1";
    if (bank_queues && t->queue_depth <= t->banks * k->bank_queue_depth)
        return "queue_depth is not above banks * bank_queue_depth: nothing is left in front of the banks' queues";
    return NULL;
}

static const char no_timing[] =
    "the event level needs DRAM timing, which the memory's catalog entry lacks (docs/reference/catalog.md)";

const char *dse_dram_port_check(const struct dse_dram *dram)
{
    if (!dse_dram_timing_known(&dram->timing)) return no_timing;
    char *lacks = missing(&dram->memory->detail);
    if (!lacks) return misfit(dram);
    free(lacks);
    return "the memory's catalog entry lacks what the event level needs (docs/how-to/dram-traces.md)";
}

static void set_organisation(struct dram_spec *s, const struct dse_dram *d, const struct dse_dram_detail *k)
{
    const struct dse_dram_timing *t = &d->timing;
    s->controller = k->controller;
    s->channels = (int)k->bus_channels;
    s->buses = d->channels / k->bus_channels;
    s->banks = (int)t->banks;
    s->groups = (int)t->bank_groups;
    s->group_banks = s->banks / s->groups;
    s->columns = (int)(t->row_bytes / d->burst_bytes);
    s->rows = (int64_t)rows_of(d);
    s->burst_bytes = d->burst_bytes;
    s->interleave = (int)(t->interleave_bytes / d->burst_bytes);
    s->one_command_bus = k->command_buses == 1;
}

/* Clocks of an activate on its bus: row_command_ns is what an activate and a precharge (one clock) of all channels of the bus take.
 */
static int activate_clocks(const struct dram_spec *s, const struct dse_dram *d, const struct dse_dram_detail *k)
{
    if (s->controller == DSE_DRAM_BANK_QUEUES) return (int)k->activate_clocks; /* one command of rows and one of columns a clock */
    int both = (int)lround(d->timing.row_command_ns / s->channels / s->clock_ns);
    return larger((int)k->activate_clocks, both - 1);
}

static void set_timing(struct dram_spec *s, const struct dse_dram *d, const struct dse_dram_detail *k, bool refresh)
{
    const struct dse_dram_timing *t = &d->timing;
    double c = s->clock_ns = (double)d->burst_bytes / d->channel_gbs / (double)k->burst_clocks;
    s->act_clocks = activate_clocks(s, d, k);
    int late = s->act_clocks - 1;
    s->burst = (int)k->burst_clocks;
    s->ccd_l = larger(s->burst, clocks(t->t_ccd_ns, c));
    s->cl = clocks(k->t_cl_ns, c);
    s->cwl = clocks(k->t_cwl_ns, c);
    s->act_rd = larger(1, clocks(t->t_rcd_ns, c)) + late;
    s->act_wr = larger(1, clocks(k->t_rcd_wr_ns, c)) + late;
    s->act_pre = larger(1, clocks(t->t_ras_ns, c)) + late;
    s->act_ref = clocks(t->t_ras_ns, c) + clocks(t->t_rp_ns, c) + late;
    s->rrd_s = larger(s->act_clocks, clocks(t->t_rrd_ns, c));
    s->rrd_l = larger(s->rrd_s, clocks(k->t_rrd_l_ns, c));
    s->faw = clocks(t->t_faw_ns, c);
    s->rd_pre = larger(1, clocks(t->t_rtp_ns, c));
    s->wr_pre = s->cwl + s->burst + clocks(k->t_wr_ns, c);
    s->pre_act = larger(1, clocks(t->t_rp_ns, c) - late);
    s->pre_ref = larger(1, clocks(t->t_rp_ns, c));
    s->rd_wr = larger(s->burst, s->cl + s->burst + clocks(k->t_turn_ns, c) - s->cwl);
    s->wr_rd_s = s->cwl + s->burst + clocks(k->t_wtr_s_ns, c);
    s->wr_rd_l = larger(s->wr_rd_s, s->cwl + s->burst + clocks(k->t_wtr_l_ns, c));
    s->ref_act = larger(1, clocks(t->t_rfc_ns, c) - late);
    s->refi = refresh && t->t_rfc_ns > 0 ? clocks(t->t_refi_ns, c) : 0;
    s->rfc_ns = t->t_rfc_ns;
    s->refi_ns = s->refi ? t->t_refi_ns : 0;
    s->faw_ns = t->t_faw_ns;
}

static void set_queues(struct dram_spec *s, const struct dse_dram *d, const struct dse_dram_detail *k)
{
    s->bank_queue = k->controller == DSE_DRAM_BANK_QUEUES ? (int)k->bank_queue_depth : 0;
    s->reads = (int)d->timing.queue_depth * s->channels - s->banks * s->bank_queue;
    s->writes = s->reads;
    /* Writing starts above 80 % and ends below 20 %: the shares are floats in Ramulator 2. */
    s->write_high = (int)floorf(0.8F * (float)s->writes);
    s->write_low = (int)ceilf(0.2F * (float)s->writes);
}

/* Set the energies from the currents of the data sheet, as DRAMsim3 does (Micron TN-46-03): V * mA * ns = pJ. */
static void set_energy(struct dram_spec *s, const struct dse_dram_detail *k)
{
    double volts = k->vdd_v * (k->channel_devices ? (double)k->channel_devices : 1), c = s->clock_ns;
    double rc = (double)(s->act_ref - s->act_clocks + 1), rp = (double)s->pre_ref, ras = rc - rp;
    s->act_pj = volts * (k->idd0_ma * rc - (k->idd3n_ma * ras + k->idd2n_ma * rp)) * c;
    s->rd_pj = volts * (k->idd4r_ma - k->idd3n_ma) * s->burst * c;
    s->wr_pj = volts * (k->idd4w_ma - k->idd3n_ma) * s->burst * c;
    s->ref_pj = volts * (k->idd5_ma - k->idd3n_ma) * (s->ref_act + s->act_clocks - 1) * c;
    s->active_mw = volts * k->idd3n_ma;
    s->idle_mw = volts * k->idd2n_ma;
}

char *dram_spec_init(struct dram_spec *s, const struct dse_dram *d, bool refresh)
{
    const struct dse_dram_detail *k = &d->memory->detail;
    *s = (struct dram_spec){0};
    if (!dse_dram_timing_known(&d->timing)) return xstrdup(no_timing);
    char *lacks = missing(k);
    if (lacks) {
        char *why = xasprintf("memory %s has no %s: the event level needs them", d->memory->entry.name, lacks);
        free(lacks);
        return why;
    }
    const char *why = misfit(d);
    if (why) return xstrdup(why);
    set_organisation(s, d, k);
    set_timing(s, d, k, refresh);
    set_queues(s, d, k);
    set_energy(s, k);
    return NULL;
}

double dram_spec_idle_ns(const struct dram_spec *s)
{
    return (1 + s->act_rd + s->cl + s->burst) * s->clock_ns;
}

double dram_spec_peak_gbs(const struct dram_spec *s)
{
    return (double)s->buses * s->channels * (double)s->burst_bytes / (s->burst * s->clock_ns);
}
