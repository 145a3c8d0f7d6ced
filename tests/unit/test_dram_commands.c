/* Every command that the event-level DRAM issues, replayed by a checker that knows only the data sheet: the catalog's times in
 * ns. For every memory, several maps and patterns, and for made-up times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dram_fixture.h"
#include "sim/dram_lad.h"

static struct entries memories;

/* ---- the checker --------------------------------------------------------------------------------------------------------- */

enum { KINDS = DRAM_REF + 1, GROUPS_MAX = 64, CHANNELS_MAX = 512, BUSES_MAX = 256 };

/* Clocks of the last command of a kind to a bank, a group, a channel. */
struct last {
    int64_t clock[KINDS];
};
struct bank {
    struct last last;
    bool open;
    uint32_t row;
};
struct channel {
    struct last last, group[GROUPS_MAX];
    struct bank bank[DRAM_BANKS_MAX];
    int64_t acts[4];
    int64_t data_until;
    uint64_t refreshes;
    int open; /* banks */
    int64_t open_since, open_clocks;
};
struct checker {
    const struct dse_memory *m;
    const struct dram_spec *s;
    struct channel channel[CHANNELS_MAX];
    int64_t row_bus[BUSES_MAX], column_bus[BUSES_MAX]; /* free from */
    uint64_t reads, writes, activates;
    int64_t refresh_gap; /* longest from refresh to refresh of a channel */
    uint64_t refreshes;
};

static void forget(struct last *l)
{
    for (int k = 0; k < KINDS; k++) l->clock[k] = INT32_MIN;
}

static void checker_init(struct checker *c, const struct dse_memory *m, const struct dram_spec *s)
{
    memset(c, 0, sizeof *c);
    c->m = m;
    c->s = s;
    assert_true(s->buses * s->channels <= CHANNELS_MAX && s->buses <= BUSES_MAX && s->groups <= GROUPS_MAX);
    for (int i = 0; i < CHANNELS_MAX; i++) {
        struct channel *ch = &c->channel[i];
        forget(&ch->last);
        for (int g = 0; g < GROUPS_MAX; g++) forget(&ch->group[g]);
        for (int b = 0; b < DRAM_BANKS_MAX; b++) forget(&ch->bank[b].last);
        for (int k = 0; k < 4; k++) ch->acts[k] = INT32_MIN;
    }
}

static bool shorter(const struct checker *c, int64_t from, int64_t to, double ns)
{
    return (double)(to - from) * c->s->clock_ns < ns * 0.985 - 1e-9; /* times of a table are rounded */
}

static void apart(const struct checker *c, const struct last *l, int before, const struct dram_command *k, double ns,
                  const char *what)
{
    /* An activate of several clocks counts from its last. */
    const int late = c->s->act_clocks - 1;
    const int64_t from = l->clock[before] + (before == DRAM_ACT ? late : 0), to = k->clock + (k->kind == DRAM_ACT ? late : 0);
    if (shorter(c, from, to, ns))
        fail_msg("%s: %s of %.3f ns: clocks %lld and %lld", c->m->entry.name, what, ns, (long long)from, (long long)to);
}

static void check_bus(struct checker *c, int64_t bus, const struct dram_command *k)
{
    const bool column = k->kind == DRAM_RD || k->kind == DRAM_WR;
    int64_t *free_from = column && !c->s->one_command_bus ? &c->column_bus[bus] : &c->row_bus[bus];
    assert_true(k->clock >= *free_from);
    *free_from = k->clock + (k->kind == DRAM_ACT ? c->m->detail.activate_clocks : 1);
}

static double burst_ns(const struct checker *c)
{
    return c->s->burst * c->s->clock_ns;
}

static void check_column(struct checker *c, struct channel *ch, struct last *g, struct bank *b, const struct dram_command *k)
{
    const struct dse_dram_timing *t = &c->m->timing;
    const struct dse_dram_detail *d = &c->m->detail;
    const bool write = k->kind == DRAM_WR;
    assert_true(b->open && b->row == k->row && k->column < c->s->columns);
    apart(c, &b->last, DRAM_ACT, k, write ? d->t_rcd_wr_ns : t->t_rcd_ns, "tRCD");
    apart(c, g, (int)k->kind, k, fmax(t->t_ccd_ns, burst_ns(c)), "tCCD_L");
    apart(c, &ch->last, (int)k->kind, k, burst_ns(c), "tCCD_S");
    if (write) {
        apart(c, &ch->last, DRAM_RD, k, (c->s->cl - c->s->cwl) * c->s->clock_ns + burst_ns(c) + d->t_turn_ns, "read to write");
    } else {
        apart(c, &ch->last, DRAM_WR, k, c->s->cwl * c->s->clock_ns + burst_ns(c) + d->t_wtr_s_ns, "tWTR_S");
        apart(c, g, DRAM_WR, k, c->s->cwl * c->s->clock_ns + burst_ns(c) + d->t_wtr_l_ns, "tWTR_L");
    }
    const int64_t data = k->clock + (write ? c->s->cwl : c->s->cl);
    assert_true(data >= ch->data_until); /* one burst at a time on the data bus */
    ch->data_until = data + c->s->burst;
    *(write ? &c->writes : &c->reads) += 1;
}

static void check_activate(struct checker *c, struct channel *ch, struct last *g, struct bank *b, const struct dram_command *k)
{
    const struct dse_dram_timing *t = &c->m->timing;
    assert_true(!b->open && k->row < c->s->rows);
    apart(c, &b->last, DRAM_ACT, k, t->t_ras_ns + t->t_rp_ns, "tRC");
    apart(c, &b->last, DRAM_PRE, k, t->t_rp_ns, "tRP");
    apart(c, &ch->last, DRAM_PRE_ALL, k, t->t_rp_ns, "tRP of all banks");
    apart(c, g, DRAM_ACT, k, c->m->detail.t_rrd_l_ns, "tRRD_L");
    apart(c, &ch->last, DRAM_ACT, k, t->t_rrd_ns, "tRRD_S");
    apart(c, &ch->last, DRAM_REF, k, t->t_rfc_ns, "tRFC");
    if (ch->open++ == 0) ch->open_since = k->clock;
    b->open = true;
    b->row = k->row;
}

/* Four activates of a channel, then a fifth not before tFAW after the first. */
static void check_four(const struct checker *c, struct channel *ch, const struct dram_command *k)
{
    if (shorter(c, ch->acts[0], k->clock, c->m->timing.t_faw_ns)) fail_msg("%s: tFAW", c->m->entry.name);
    memmove(ch->acts, ch->acts + 1, 3 * sizeof *ch->acts);
    ch->acts[3] = k->clock;
}

static void check_precharge(const struct checker *c, struct channel *ch, struct bank *b, const struct dram_command *k)
{
    const struct dse_dram_detail *d = &c->m->detail;
    apart(c, &b->last, DRAM_ACT, k, c->m->timing.t_ras_ns, "tRAS");
    apart(c, &b->last, DRAM_RD, k, c->m->timing.t_rtp_ns, "tRTP");
    apart(c, &b->last, DRAM_WR, k, c->s->cwl * c->s->clock_ns + burst_ns(c) + d->t_wr_ns, "tWR");
    if (--ch->open == 0) ch->open_clocks += k->clock - ch->open_since;
    b->open = false;
}

static void check_refresh(struct checker *c, struct channel *ch, const struct dram_command *k)
{
    for (int i = 0; i < c->s->banks; i++) assert_false(ch->bank[i].open);
    apart(c, &ch->last, DRAM_PRE, k, c->m->timing.t_rp_ns, "tRP before refresh");
    apart(c, &ch->last, DRAM_PRE_ALL, k, c->m->timing.t_rp_ns, "tRP before refresh");
    apart(c, &ch->last, DRAM_REF, k, c->m->timing.t_rfc_ns, "tRFC from refresh to refresh");
    const int64_t gap = k->clock - (ch->refreshes ? ch->last.clock[DRAM_REF] : 0);
    if (gap > c->refresh_gap) c->refresh_gap = gap;
    ch->refreshes++;
    c->refreshes++;
}

static void on_command(void *object, int64_t bus, const struct dram_command *k)
{
    struct checker *c = object;
    const int bank = k->bank % c->s->banks;
    struct channel *ch = &c->channel[bus * c->s->channels + k->channel];
    struct bank *b = &ch->bank[bank];
    struct last *g = &ch->group[bank / c->s->group_banks];
    assert_int_equal(k->bank / c->s->banks, k->channel);
    check_bus(c, bus, k);
    switch (k->kind) {
    case DRAM_ACT:
        check_activate(c, ch, g, b, k);
        check_four(c, ch, k);
        c->activates++;
        break;
    case DRAM_RD:
    case DRAM_WR: check_column(c, ch, g, b, k); break;
    case DRAM_PRE:
        assert_true(b->open);
        check_precharge(c, ch, b, k);
        break;
    case DRAM_PRE_ALL:
        for (int i = 0; i < c->s->banks; i++)
            if (ch->bank[i].open) check_precharge(c, ch, &ch->bank[i], k);
        break;
    case DRAM_REF: check_refresh(c, ch, k); break;
    }
    b->last.clock[k->kind] = g->clock[k->kind] = ch->last.clock[k->kind] = k->clock;
}

/* ---- runs ---------------------------------------------------------------------------------------------------------------- */

static const char *const patterns[] = {
    "random,size=256,count=1500",
    "random,size=64,count=3000,write=0.4",
    "random,size=4096,count=150,write=0.5,seed=3",
    "random,size=32,count=3000,footprint=64KiB,write=0.5",
    "copy,size=512,count=800,offset=131072",
    "stride,size=64,stride=65536,count=800",
    "sequential,size=256KiB,count=2,write=0.5",
    "lad,context=256,heads=2,interleave=2",
    "lad,context=128,heads=2,interleave=1,barriers=1",
    "random,size=128,count=800,interval_ns=11.7,arrival=poisson,write=0.3",
};

/* Every burst asked for was moved once, or answered, merged or swallowed. Writes that were acknowledged may still be queued. */
static void check_conservation(const struct checker *c, const struct dram_result *r, uint64_t reads_asked)
{
    const struct dram_tally *t = &r->tally;
    assert_true(c->reads == t->reads && c->writes == t->writes && c->activates == t->activates);
    assert_true(t->hits + t->misses == t->reads + t->writes);
    assert_true(t->reads + t->forwarded + t->merged == reads_asked);
    assert_true(r->latency.n == reads_asked && r->total.n == reads_asked);
    const uint64_t writes_asked = r->bursts - reads_asked, written = t->writes + t->coalesced;
    if (c->s->controller == DSE_DRAM_BANK_QUEUES)
        assert_true(written <= writes_asked &&
                    writes_asked - written <= (uint64_t)c->s->buses * (uint64_t)(c->s->writes + c->s->banks * c->s->bank_queue));
    else
        assert_true(written == writes_asked);
}

static void near(double got, double want)
{
    assert_true(fabs(got - want) <= 1e-9 * fabs(want));
}

/* Energy by command is that of the commands that went, each at what it costs by the currents (Micron TN-46-03: V mA ns = pJ, less
 * the standby that is counted all the time), and standby by whether a bank was open; nothing is left over. Without currents there
 * is none. */
static void check_energy(const struct checker *c, const struct dram_result *r)
{
    const struct dse_dram_detail *d = &c->m->detail;
    const struct dram_spec *s = c->s;
    if (isnan(d->vdd_v)) {
        assert_true(isnan(r->energy_pj) && isnan(r->act_pj));
        return;
    }
    const double volts = d->vdd_v * (double)d->channel_devices, channels = (double)(s->buses * s->channels);
    const double ras = (s->act_pre - (s->act_clocks - 1)) * s->clock_ns, rp = s->pre_ref * s->clock_ns;
    const double rfc = (s->ref_act + s->act_clocks - 1) * s->clock_ns, all_ns = (double)r->clocks * s->clock_ns * channels;
    double open_ns = 0;
    for (int i = 0; i < (int)channels; i++) {
        const struct channel *ch = &c->channel[i];
        open_ns += (double)(ch->open_clocks + (ch->open ? r->clocks - ch->open_since : 0)) * s->clock_ns;
    }
    near(r->act_pj, (double)c->activates * volts * (d->idd0_ma * (ras + rp) - d->idd3n_ma * ras - d->idd2n_ma * rp));
    near(r->rd_pj, (double)c->reads * volts * (d->idd4r_ma - d->idd3n_ma) * burst_ns(c));
    near(r->wr_pj, (double)c->writes * volts * (d->idd4w_ma - d->idd3n_ma) * burst_ns(c));
    near(r->ref_pj, (double)c->refreshes * volts * (d->idd5_ma - d->idd3n_ma) * rfc);
    near(r->background_pj, volts * (d->idd3n_ma * open_ns + d->idd2n_ma * (all_ns - open_ns)));
    near(r->energy_pj, r->act_pj + r->rd_pj + r->wr_pj + r->ref_pj + r->background_pj);
    assert_true(r->act_pj >= 0 && r->background_pj > 0 && open_ns <= all_ns);
}

static uint64_t count_reads(const char *pattern, const struct dram_spec *s)
{
    struct diags diags;
    diags_init(&diags);
    struct dram_pattern *p = dram_pattern_new(pattern, dram_spec_peak_gbs(s), "pattern", &diags);
    struct dram_request q;
    uint64_t n = 0, burst = (uint64_t)s->burst_bytes;
    while (dram_pattern_source(p)->next(dram_pattern_source(p), &q, &diags))
        if (q.kind == DRAM_READ) n += (q.address + q.bytes - 1) / burst - q.address / burst + 1;
    dram_pattern_free(p);
    diags_release(&diags);
    return n;
}

/* No bus carries more than its peak, less what refreshes take away (of those that fell due). */
static void check_peak(const struct checker *c, const struct dram_result *r)
{
    const double bursts = (double)(r->tally.reads + r->tally.writes) / ((double)c->s->buses * c->s->channels);
    const double stolen = c->s->refi ? floor((double)r->clocks / (double)c->s->refi) * c->s->ref_act : 0;
    assert_true(bursts * c->s->burst <= (double)r->clocks - stolen + 2.0 * c->s->ref_act);
}

static void run_checked(const struct dse_memory *m, const char *map_text, const char *pattern, enum dram_front front)
{
    static struct checker c;
    struct dram_result *r = xcalloc(1, sizeof *r);
    struct dram_spec s;
    struct dram_map map;
    const struct dse_dram d = fixture_dram(m);
    char *why = dram_spec_init(&s, &d, true);
    if (why) fail_msg("%s: %s", m->entry.name, why);
    struct diags diags;
    diags_init(&diags);
    if (map_text)
        assert_true(dram_map_parse(&map, &s, map_text, "map", &diags));
    else
        dram_map_default(&map, &s);
    checker_init(&c, m, &s);
    const struct dram_setup setup = {.spec = &s, .map = &map, .front = front, .on_command = on_command, .on_command_object = &c};
    fixture_run(&setup, pattern, r);
    check_conservation(&c, r, count_reads(pattern, &s));
    check_peak(&c, r);
    check_energy(&c, r);
    if (s.refi) {
        const double overdue = (double)c.refresh_gap - (double)s.refi;
        assert_true(overdue <= 8.0 * (double)s.refi); /* a refresh may be put off, not left out */
        assert_true(r->tally.refreshes + (uint64_t)(s.buses * s.channels) >=
                    (uint64_t)(r->clocks / s.refi) * (uint64_t)(s.buses * s.channels));
    }
    diags_release(&diags);
    free(r);
}

static void commands__keep_every_time_of_every_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < memories.n; i++) {
        struct dse_memory m = *(const struct dse_memory *)entries_find(&memories, memories.name[i]);
        m.entry.name = memories.name[i];
        for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++)
            run_checked(&m, NULL, patterns[k], k % 2 ? DRAM_IN_ORDER : DRAM_PER_CHANNEL);
    }
}

static void commands__keep_them_under_other_maps(void **state)
{
    (void)state;
    static const char *const maps[] = {"co ch pc bg ba ro", "ch pc bg ba co ro", "bg co1 ch ba pc co ro", "ro co ba bg pc ch",
                                       "ba ch co2 bg pc co ro"};
    static const char *const names[] = {"hbm2-5cube", "hbm2-dramsim3", "ddr4-3200-2ch", "gddr6-14gbps-256bit"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct dse_memory m = *(const struct dse_memory *)entries_find(&memories, names[i]);
        m.entry.name = names[i];
        for (size_t k = 0; k < sizeof maps / sizeof *maps; k++)
            for (size_t j = 0; j < sizeof patterns / sizeof *patterns; j += 3)
                run_checked(&m, maps[k], patterns[(j + k) % 10], DRAM_PER_CHANNEL);
    }
}

/* Times that no memory has, short queues, few banks: the order of commands changes, the rules do not. */
static void commands__keep_times_that_are_made_up(void **state)
{
    (void)state;
    uint64_t seed = 12345;
    const char *const names[] = {"hbm2-ramulator2", "hbm2-dramsim3", "lpddr5-6400-16ch"};
    for (int round = 0; round < 60; round++) {
        struct dse_memory m = *(const struct dse_memory *)entries_find(&memories, names[round % 3]);
        m.entry.name = names[round % 3];
        double *times[] = {&m.timing.t_rcd_ns,   &m.timing.t_rp_ns,     &m.timing.t_ras_ns,   &m.timing.t_rtp_ns,
                           &m.timing.t_ccd_ns,   &m.timing.t_rrd_ns,    &m.timing.t_faw_ns,   &m.detail.t_cl_ns,
                           &m.detail.t_cwl_ns,   &m.detail.t_rcd_wr_ns, &m.detail.t_rrd_l_ns, &m.detail.t_wr_ns,
                           &m.detail.t_wtr_s_ns, &m.detail.t_wtr_l_ns,  &m.detail.t_turn_ns,  &m.timing.t_rfc_ns};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++)
            *times[k] = (double)(dram_splitmix(&seed) % 60) * (dram_splitmix(&seed) % 3 ? 0.5 : 1.7);
        m.timing.t_ras_ns = fmax(m.timing.t_ras_ns, m.timing.t_rcd_ns); /* what a catalog would refuse is not made up */
        if (m.timing.t_rfc_ns > 0) m.timing.t_rfc_ns = fmax(m.timing.t_rfc_ns, m.timing.t_ras_ns + m.timing.t_rp_ns);
        m.timing.t_refi_ns = 450 + (double)(dram_splitmix(&seed) % 4000);
        m.channels = 4;
        m.capacity_gib = 4;
        m.timing.bank_groups = INT64_C(1) << dram_splitmix(&seed) % 3;
        m.timing.banks = m.timing.bank_groups * (INT64_C(1) << dram_splitmix(&seed) % 3);
        m.timing.queue_depth = 1 + (int64_t)(dram_splitmix(&seed) % 40);
        m.detail.activate_clocks = 1 + (int64_t)(dram_splitmix(&seed) % 3);
        if (m.detail.controller == DSE_DRAM_BANK_QUEUES) {
            m.detail.bank_queue_depth = 1 + (int64_t)(dram_splitmix(&seed) % 8);
            m.timing.queue_depth += m.timing.banks * m.detail.bank_queue_depth;
        } else {
            m.detail.controller = dram_splitmix(&seed) % 2 ? DSE_DRAM_ROW_HITS : DSE_DRAM_FIRST_READY;
        }
        if (m.timing.t_rfc_ns >= m.timing.t_refi_ns / 2) m.timing.t_rfc_ns = m.timing.t_refi_ns / 2;
        for (size_t k = 0; k < 3; k++)
            run_checked(&m, NULL, patterns[dram_splitmix(&seed) % 10], dram_splitmix(&seed) % 2 ? DRAM_IN_ORDER : DRAM_PER_CHANNEL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands__keep_every_time_of_every_memory),
        cmocka_unit_test(commands__keep_them_under_other_maps),
        cmocka_unit_test(commands__keep_times_that_are_made_up),
    };
    entries_read(&memories, dse_memory_fields, "memories.toml");
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    entries_release(&memories);
    return failed;
}
