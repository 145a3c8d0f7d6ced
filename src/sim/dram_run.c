#include "sim/dram_run.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Runs that are put into inboxes before the buses are driven: enough to keep each busy, few enough for the cache. */
enum { BLOCK = 16384 };

const char *const dram_front_names[] = {"per-channel", "in-order", NULL};

struct hook {
    const struct dram_setup *setup;
    int64_t bus;
};

struct runner {
    const struct dram_setup *setup;
    const struct dram_spec *spec;
    const struct dram_map *map;
    struct dram_bus **bus;
    struct hook *hooks;
    int64_t now;  /* in-order: clock in which the last burst entered; per-channel: 0 */
    int64_t from; /* clock from which bursts may enter: that of the last barrier */
    size_t put;   /* runs since the buses were driven, or progress was told of */
    struct dram_result *result;
};

static void pass_on(void *object, const struct dram_command *c)
{
    const struct hook *h = object;
    h->setup->on_command(h->setup->on_command_object, h->bus, c);
}

static void drive_all(struct runner *r, int64_t until, enum dram_stop stop)
{
    for (int64_t i = 0; i < r->spec->buses; i++) dram_bus_drive(r->bus[i], until, stop);
    r->put = 0;
}

/* The clock by which all of what was issued is done. */
static int64_t last_done(const struct runner *r)
{
    int64_t last = 0;
    for (int64_t i = 0; i < r->spec->buses; i++)
        if (r->bus[i]->last_done > last) last = r->bus[i]->last_done;
    return last;
}

static void barrier(struct runner *r)
{
    drive_all(r, DRAM_NEVER, DRAM_WHEN_IDLE);
    r->from = r->now = r->result->bursts ? last_done(r) + 1 : 0;
}

/* n bursts of one row, in pieces that an entry takes. */
static void put_row(struct runner *r, struct dram_place p, unsigned n, bool write, int64_t arrival, int64_t from)
{
    struct dram_bus *b = r->bus[p.bus];
    bool in_order = r->setup->front == DRAM_IN_ORDER;
    for (unsigned k; n > 0; n -= k, p.column = (uint16_t)(p.column + k)) {
        k = n < DRAM_RUN_MAX ? n : DRAM_RUN_MAX;
        struct dram_run run = {.arrival = arrival,
                               .from = in_order && from < r->now ? r->now : from,
                               .row = p.row,
                               .column = p.column,
                               .n = (uint16_t)k,
                               .bank = p.bank,
                               .write = write};
        dram_bus_put(b, &run);
        if (in_order) {
            dram_bus_drive(b, DRAM_NEVER, DRAM_WHEN_EMPTY);
            r->now = b->now;
        }
        if (++r->put >= BLOCK) {
            if (!in_order) drive_all(r, DRAM_NEVER, DRAM_WHEN_EMPTY);
            if (r->setup->progress) r->setup->progress(r->setup->progress_object, r->result->bursts);
            r->put = 0;
        }
    }
}

static bool is_stopped(const struct runner *r)
{
    return r->setup->stop && *r->setup->stop;
}

static void put_request(struct runner *r, const struct dram_request *q)
{
    const struct dram_map *m = r->map;
    uint64_t first = q->address / m->burst_bytes, last = (q->address + q->bytes - 1) / m->burst_bytes, lead = (uint64_t)m->lead;
    /* It is there in the first whole clock; that it waited for it counts, too. */
    int64_t arrival = (int64_t)floor(q->arrival_ns / r->spec->clock_ns), from = (int64_t)ceil(q->arrival_ns / r->spec->clock_ns);
    if (arrival < r->from) arrival = r->from;
    if (from < r->from) from = r->from;
    r->result->requests++;
    uint64_t at = first;
    while (at <= last && !is_stopped(r)) {
        uint64_t n = lead - at % lead;
        if (n > last - at + 1) n = last - at + 1;
        r->result->bursts += n;
        put_row(r, dram_map_place(m, at), (unsigned)n, q->kind == DRAM_WRITE, arrival, from);
        at += n;
    }
    r->result->bytes += at > last ? q->bytes : (at - first) * m->burst_bytes;
}

/* ---- the sum ------------------------------------------------------------------------------------------------------------- */

static void add_tally(struct dram_tally *sum, const struct dram_tally *t)
{
    sum->reads += t->reads;
    sum->writes += t->writes;
    sum->forwarded += t->forwarded;
    sum->merged += t->merged;
    sum->coalesced += t->coalesced;
    sum->hits += t->hits;
    sum->misses += t->misses;
    sum->activates += t->activates;
    sum->precharges += t->precharges;
    sum->refreshes += t->refreshes;
    sum->active_clocks += t->active_clocks;
}

static void larger(double *max, double v)
{
    if (v > *max) *max = v;
}

/* What a bus used of what it has in `clocks`. With two channels on a bus the shares of data and tFAW are means of the two. */
static void add_limits(struct dram_limits *l, const struct dram_spec *s, const struct dram_tally *t, double clocks)
{
    const double channels = s->channels;
    larger(&l->data_bus, (double)(t->reads + t->writes) * s->burst / channels / clocks);
    larger(&l->bank_group, (double)t->group_columns * s->ccd_l / clocks);
    larger(&l->four_activates, (double)t->activates * fmax(s->faw / 4.0, s->rrd_s) / channels / clocks);
    larger(&l->row_commands, ((double)t->activates * s->act_clocks + (double)t->precharges) / clocks);
    larger(&l->bank, (double)t->bank_activates * (s->act_pre + s->pre_act) / clocks);
    larger(&l->refresh, (double)t->refreshes * s->ref_act / channels / clocks);
}

static void add_energy(struct dram_result *r, const struct dram_spec *s)
{
    const struct dram_tally *t = &r->tally;
    double open_ns = (double)t->active_clocks * s->clock_ns, all_ns = r->time_ns * (double)s->buses * s->channels;
    r->act_pj = s->act_pj * (double)t->activates;
    r->rd_pj = s->rd_pj * (double)t->reads;
    r->wr_pj = s->wr_pj * (double)t->writes;
    r->ref_pj = s->ref_pj * (double)t->refreshes;
    r->background_pj = s->active_mw * open_ns + s->idle_mw * (all_ns - open_ns);
    r->energy_pj = r->act_pj + r->rd_pj + r->wr_pj + r->ref_pj + r->background_pj;
}

static void finish(struct runner *r)
{
    drive_all(r, DRAM_NEVER, DRAM_WHEN_IDLE);
    struct dram_result *result = r->result;
    result->clocks = result->bursts ? last_done(r) + 1 : 0;
    result->time_ns = (double)result->clocks * r->spec->clock_ns;
    drive_all(r, result->clocks - 1, DRAM_AT_CLOCK);
    for (int64_t i = 0; i < r->spec->buses; i++) {
        dram_bus_close(r->bus[i], result->clocks);
        add_tally(&result->tally, &r->bus[i]->tally);
        if (result->clocks) add_limits(&result->limits, r->spec, &r->bus[i]->tally, (double)result->clocks);
    }
    add_energy(result, r->spec);
}

static bool check(const struct runner *r, const struct dram_request *q, struct diags *diags)
{
    if (q->address < r->map->capacity && q->bytes <= r->map->capacity - q->address) return true;
    return diags_input(diags, (struct srcloc){0}, NULL, NULL, "%llu bytes at address %llx: the memory ends at %llx",
                       (unsigned long long)q->bytes, (unsigned long long)q->address, (unsigned long long)r->map->capacity);
}

bool dram_run(const struct dram_setup *setup, struct dram_source *source, struct dram_result *ret, struct diags *diags)
{
    memset(ret, 0, sizeof *ret);
    struct runner r = {.setup = setup, .spec = setup->spec, .map = setup->map, .result = ret};
    size_t n = (size_t)setup->spec->buses, errors = diags->errors;
    r.bus = xcalloc(n, sizeof *r.bus);
    r.hooks = xcalloc(n, sizeof *r.hooks);
    for (size_t i = 0; i < n; i++) {
        struct dram_bus *b = r.bus[i] = dram_bus_new(setup->spec, NULL);
        b->latency = &ret->latency;
        b->total = &ret->total;
        r.hooks[i] = (struct hook){setup, (int64_t)i};
        if (setup->on_command) b->on_command = pass_on;
        b->on_command_object = &r.hooks[i];
    }
    struct dram_request q;
    while (!is_stopped(&r) && source->next(source, &q, diags) && (q.kind == DRAM_BARRIER || check(&r, &q, diags))) {
        if (q.kind == DRAM_BARRIER)
            barrier(&r);
        else
            put_request(&r, &q);
    }
    bool ok = diags->errors == errors;
    if (ok) finish(&r);
    for (size_t i = 0; i < n; i++) dram_bus_free(r.bus[i]);
    free(r.hooks);
    free(r.bus);
    return ok;
}
