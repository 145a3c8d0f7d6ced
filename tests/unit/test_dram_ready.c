/* Every time of the data sheet is kept to the clock: a command goes when it may, and not a clock before. Each time in turn is
 * made so long that nothing but it holds its command up; then the shortest distance between the two commands is that time, and
 * when the time grows by a clock, so does the distance. For each controller, with command buses of their own and shared, with
 * activates of one clock and of two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "dram_fixture.h"

/* ---- a memory whose clock is 1 ns, in which no time but the one in question is long -------------------------------------- */

static struct dse_memory make_memory(int32_t controller, int64_t command_buses, int64_t activate_clocks)
{
    const bool bank_queues = controller == DSE_DRAM_BANK_QUEUES;
    struct dse_memory m = {.channels = 1,
                           .channel_gbs = 32,
                           .burst_bytes = 64,
                           .capacity_gib = 1,
                           .timing = {.interleave_bytes = 128,
                                      .row_bytes = 1024,
                                      .banks = 8,
                                      .bank_groups = 2,
                                      .queue_depth = bank_queues ? 64 : 24,
                                      .t_rcd_ns = 3,
                                      .t_rp_ns = 3,
                                      .t_ras_ns = 5,
                                      .t_rtp_ns = 1,
                                      .t_ccd_ns = 2,
                                      .t_rrd_ns = 1,
                                      .t_faw_ns = 4,
                                      .t_rfc_ns = 30,
                                      .t_refi_ns = 700},
                           .detail = {.controller = controller,
                                      .bus_channels = 1,
                                      .command_buses = command_buses,
                                      .burst_clocks = 2,
                                      .activate_clocks = activate_clocks,
                                      .bank_queue_depth = bank_queues ? 4 : 0,
                                      .t_cl_ns = 4,
                                      .t_cwl_ns = 3,
                                      .t_rcd_wr_ns = 3,
                                      .t_rrd_l_ns = 1,
                                      .t_wr_ns = 1,
                                      .t_wtr_s_ns = 1,
                                      .t_wtr_l_ns = 1,
                                      .t_turn_ns = 1}};
    m.timing.row_command_ns = (double)(activate_clocks + 1);
    m.entry.name = "made-up";
    return m;
}

/* ---- what goes over the command bus -------------------------------------------------------------------------------------- */

enum { COMMANDS_MAX = 100000 };
struct log {
    struct dram_command command[COMMANDS_MAX];
    size_t n;
};

static void on_command(void *object, int64_t bus, const struct dram_command *c)
{
    struct log *l = object;
    assert_true(bus == 0 && l->n < COMMANDS_MAX);
    l->command[l->n++] = *c;
}

static int64_t run_logged(const struct dse_memory *m, const char *pattern, bool refresh, struct log *l, struct dram_spec *s,
                          double *ret_latency)
{
    struct dram_result *r = xcalloc(1, sizeof *r);
    struct dram_map map;
    const struct dse_dram d = fixture_dram(m);
    char *why = dram_spec_init(s, &d, refresh);
    if (why) fail_msg("%s", why);
    assert_true(fabs(s->clock_ns - 1) < 1e-12);
    dram_map_default(&map, s);
    l->n = 0;
    fixture_run(&(struct dram_setup){.spec = s, .map = &map, .on_command = on_command, .on_command_object = l}, pattern, r);
    const int64_t clocks = r->clocks;
    if (ret_latency) *ret_latency = dram_latency_mean(&r->latency);
    free(r);
    return clocks;
}

/* ---- rules --------------------------------------------------------------------------------------------------------------- */

enum {
    ACT = 1 << DRAM_ACT,
    PRE = 1 << DRAM_PRE,
    PRE_ALL = 1 << DRAM_PRE_ALL,
    RD = 1 << DRAM_RD,
    WR = 1 << DRAM_WR,
    REF = 1 << DRAM_REF
};
enum scope { BANK, GROUP, CHANNEL };
/* What the distance is beyond the time itself. */
enum beyond { NOTHING, WRITE_DATA, TURN_ROUND };

struct rule {
    const char *name;
    size_t time, also; /* offsets in struct dse_memory; `also` is never shorter than `time`, or grows with it; 0: none */
    unsigned from, to; /* kinds of commands */
    enum scope scope;
    int back; /* the distance is from the back-th command before */
    enum beyond beyond;
    bool refresh;
    const char *pattern;
};

#define TIMING(t) offsetof(struct dse_memory, timing.t)
#define DETAIL(t) offsetof(struct dse_memory, detail.t)
#define CONFLICTS "random,size=64,count=1500,footprint=64KiB"
#define MIXED "random,size=64,count=3000,footprint=64KiB,write=0.5"
#define STREAM "sequential,size=64KiB,count=1"
#define WRITES "random,size=64,count=1500,footprint=64KiB,write=1"

static const struct rule rules[] = {
    {"tRCD of reads", TIMING(t_rcd_ns), 0, ACT, RD, BANK, 1, NOTHING, false, CONFLICTS},
    {"tRCD of writes", DETAIL(t_rcd_wr_ns), 0, ACT, WR, BANK, 1, NOTHING, false, WRITES},
    {"tRP", TIMING(t_rp_ns), 0, PRE, ACT, BANK, 1, NOTHING, false, CONFLICTS},
    {"tRAS", TIMING(t_ras_ns), 0, ACT, PRE, BANK, 1, NOTHING, false, CONFLICTS},
    {"tRTP", TIMING(t_rtp_ns), 0, RD, PRE, BANK, 1, NOTHING, false, CONFLICTS},
    {"tWR", DETAIL(t_wr_ns), 0, WR, PRE, BANK, 1, WRITE_DATA, false, WRITES},
    {"tCCD_L of reads", TIMING(t_ccd_ns), 0, RD, RD, GROUP, 1, NOTHING, false, STREAM},
    {"tCCD_L of writes", TIMING(t_ccd_ns), 0, WR, WR, GROUP, 1, NOTHING, false, STREAM ",write=1"},
    {"tRRD_S", TIMING(t_rrd_ns), DETAIL(t_rrd_l_ns), ACT, ACT, CHANNEL, 1, NOTHING, false, CONFLICTS},
    {"tRRD_L", DETAIL(t_rrd_l_ns), 0, ACT, ACT, GROUP, 1, NOTHING, false, CONFLICTS},
    {"tFAW", TIMING(t_faw_ns), 0, ACT, ACT, CHANNEL, 4, NOTHING, false, CONFLICTS},
    {"tWTR_S", DETAIL(t_wtr_s_ns), DETAIL(t_wtr_l_ns), WR, RD, CHANNEL, 1, WRITE_DATA, false, MIXED},
    {"tWTR_L", DETAIL(t_wtr_l_ns), 0, WR, RD, GROUP, 1, WRITE_DATA, false, MIXED},
    {"turn-round", DETAIL(t_turn_ns), 0, RD, WR, CHANNEL, 1, TURN_ROUND, false, MIXED},
    {"tRFC", TIMING(t_rfc_ns), 0, REF, ACT, CHANNEL, 1, NOTHING, true, CONFLICTS},
    {"tRP before refresh", TIMING(t_rp_ns), 0, PRE | PRE_ALL, REF, CHANNEL, 1, NOTHING, true, CONFLICTS},
};

static double *time_of(struct dse_memory *m, size_t offset)
{
    return (double *)((char *)m + offset);
}

/* The shortest distance from the back-th command of a kind before to one of another kind, in one bank, group or channel. */
static int64_t shortest(const struct log *l, const struct dram_spec *s, const struct rule *r)
{
    int64_t before[DRAM_BANKS_MAX][8], least = INT64_MAX;
    int n[DRAM_BANKS_MAX] = {0};
    for (size_t i = 0; i < l->n; i++) {
        const struct dram_command *c = &l->command[i];
        const int at = r->scope == BANK ? c->bank : r->scope == GROUP ? c->bank / s->group_banks : 0;
        if ((1U << c->kind & r->to) && n[at] >= r->back) {
            const int64_t distance = c->clock - before[at][(n[at] - r->back) % 8];
            if (distance < least) least = distance;
        }
        if (1U << c->kind & r->from) before[at][n[at]++ % 8] = c->clock;
    }
    return least;
}

/* What the rule says, from the times in ns; an activate counts from its last clock. */
static int64_t expected(const struct dse_memory *m, const struct rule *r, int64_t time)
{
    const struct dse_dram_detail *k = &m->detail;
    const int64_t late = k->activate_clocks - 1;
    if (r->from == ACT) time += late;
    if (r->to == ACT) time -= late;
    if (r->beyond == WRITE_DATA) time += (int64_t)k->t_cwl_ns + k->burst_clocks;
    if (r->beyond == TURN_ROUND) time += (int64_t)k->t_cl_ns + k->burst_clocks - (int64_t)k->t_cwl_ns;
    return time;
}

static const int32_t controllers[] = {DSE_DRAM_ROW_HITS, DSE_DRAM_FIRST_READY, DSE_DRAM_BANK_QUEUES};

/* Each of the kinds of machines: its memory, and what it is called. */
static struct dse_memory machine(int i, char name[64])
{
    const int32_t controller = controllers[i % 3];
    const int64_t buses = 1 + i / 3 % 2, activate = 1 + i / 6 % 2;
    snprintf(name, 64, "%s, %lld command bus(es), activates of %lld", dse_dram_controller_names[controller], (long long)buses,
             (long long)activate);
    return make_memory(controller, buses, activate);
}
enum { MACHINES = 12 };

static struct log log_;

static void commands__go_in_the_clock_they_may_and_not_before(void **state)
{
    (void)state;
    char name[64];
    for (int i = 0; i < MACHINES; i++)
        for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
            for (int64_t time = 23; time <= 24; time++) {
                const struct rule *r = &rules[k];
                struct dse_memory m = machine(i, name);
                struct dram_spec s;
                *time_of(&m, r->time) = (double)time;
                if (r->also) *time_of(&m, r->also) = (double)time;
                m.timing.t_ras_ns = fmax(m.timing.t_ras_ns, m.timing.t_rcd_ns);
                run_logged(&m, r->pattern, r->refresh, &log_, &s, NULL);
                const int64_t least = shortest(&log_, &s, r), want = expected(&m, r, time);
                if (least != want)
                    fail_msg("%s: %s of %lld ns: the shortest distance is %lld clocks, not %lld", name, r->name, (long long)time,
                             (long long)least, (long long)want);
            }
}

/* tRC is tRAS and tRP together, tCCD_S a burst on the data bus: times that follow from others. */
static void commands__keep_the_row_cycle_and_the_burst(void **state)
{
    (void)state;
    static const struct rule row_cycle = {"tRC", 0, 0, ACT, ACT, BANK, 1, NOTHING, false, CONFLICTS},
                             reads = {"tCCD_S", 0, 0, RD, RD, CHANNEL, 1, NOTHING, false, STREAM},
                             writes = {"tCCD_S", 0, 0, WR, WR, CHANNEL, 1, NOTHING, false, STREAM ",write=1"};
    char name[64];
    for (int i = 0; i < MACHINES; i++) {
        struct dram_spec s;
        for (int more = 0; more < 2; more++) {
            struct dse_memory m = machine(i, name);
            m.timing.t_ras_ns = 20 + more;
            m.timing.t_rfc_ns = 100;
            m.timing.t_rp_ns = 15;
            run_logged(&m, CONFLICTS, false, &log_, &s, NULL);
            assert_int_equal(shortest(&log_, &s, &row_cycle), 35 + more);
        }
        for (int64_t burst = 2; burst <= 8; burst *= 2) {
            struct dse_memory m = machine(i, name);
            m.detail.burst_clocks = burst;
            m.channel_gbs = 64.0 / (double)burst; /* a clock of 1 ns */
            run_logged(&m, reads.pattern, false, &log_, &s, NULL);
            assert_int_equal(shortest(&log_, &s, &reads), burst);
            run_logged(&m, writes.pattern, false, &log_, &s, NULL);
            assert_int_equal(shortest(&log_, &s, &writes), burst);
        }
    }
}

/* A command bus carries one command at a time: an activate for its clocks, any other for one. */
static void commands__take_their_clocks_on_the_command_bus(void **state)
{
    (void)state;
    char name[64];
    for (int i = 0; i < MACHINES; i++)
        for (int refresh = 0; refresh < 2; refresh++) {
            struct dse_memory m = machine(i, name);
            struct dram_spec s;
            m.timing.t_rrd_ns = m.detail.t_rrd_l_ns = m.timing.t_faw_ns = 0;
            m.timing.t_rfc_ns = 100;
            run_logged(&m, MIXED, refresh, &log_, &s, NULL);
            int64_t least[DRAM_REF + 1]; /* clocks from a command of a kind to the next on its bus */
            for (int k = 0; k <= DRAM_REF; k++) least[k] = INT64_MAX;
            const struct dram_command *before[2] = {NULL};
            for (size_t k = 0; k < log_.n; k++) {
                const struct dram_command *c = &log_.command[k];
                const bool column = c->kind == DRAM_RD || c->kind == DRAM_WR;
                const struct dram_command **last = &before[column && m.detail.command_buses == 2];
                if (*last && c->clock - (*last)->clock < least[(*last)->kind]) least[(*last)->kind] = c->clock - (*last)->clock;
                *last = c;
            }
            assert_int_equal(least[DRAM_ACT], m.detail.activate_clocks);
            assert_int_equal(least[DRAM_PRE], 1);
            if (m.detail.command_buses == 1) assert_true(least[DRAM_RD] == 1 && least[DRAM_WR] == 1);
        }
}

/* Data come tCL behind a read; a lone read takes its activate, tRCD, tCL and the burst. A write's have gone tCWL and a burst
 * behind it: that is in tWR above, and in when the port calls its actor (test_dram_port.c). */
static void reads__come_back_after_tcl(void **state)
{
    (void)state;
    char name[64];
    for (int i = 0; i < MACHINES; i++)
        for (int64_t cl = 7; cl <= 8; cl++) {
            struct dse_memory m = machine(i, name);
            struct dram_spec s;
            double latency;
            m.detail.t_cl_ns = (double)cl;
            const int64_t clocks = run_logged(&m, "random,size=64,count=1,footprint=64KiB", false, &log_, &s, &latency);
            assert_int_equal(log_.n, 2);
            assert_true(log_.command[0].kind == DRAM_ACT && log_.command[1].kind == DRAM_RD);
            assert_int_equal(log_.command[1].clock - log_.command[0].clock, 3 + m.detail.activate_clocks - 1);
            assert_int_equal(clocks - 1, log_.command[1].clock + cl + m.detail.burst_clocks);
            assert_true(fabs(latency - dram_spec_idle_ns(&s)) <= 1 + 1e-9);
        }
}

/* With little to do a channel refreshes every tREFI: later by what the row that is open takes to close, and that does not add up.
 */
static void refreshes__come_every_trefi(void **state)
{
    (void)state;
    char name[64];
    for (int i = 0; i < MACHINES; i++)
        for (int64_t refi = 700; refi <= 701; refi++) {
            struct dse_memory m = machine(i, name);
            struct dram_spec s;
            m.timing.t_refi_ns = (double)refi;
            m.timing.t_rfc_ns = 60;
            const int64_t clocks =
                run_logged(&m, "random,size=64,count=200,footprint=64KiB,interval_ns=523", true, &log_, &s, NULL);
            int64_t refreshes = 0, last = 0;
            for (size_t k = 0; k < log_.n; k++) {
                if (log_.command[k].kind != DRAM_REF) continue;
                if (refreshes) assert_true(llabs(log_.command[k].clock - last - refi) <= 40);
                last = log_.command[k].clock;
                refreshes++;
                assert_true(llabs(last - refreshes * refi) <= 40);
            }
            assert_true(refreshes == (clocks - 1) / refi || refreshes + 1 == clocks / refi);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(commands__go_in_the_clock_they_may_and_not_before),
        cmocka_unit_test(commands__keep_the_row_cycle_and_the_burst),
        cmocka_unit_test(commands__take_their_clocks_on_the_command_bus),
        cmocka_unit_test(reads__come_back_after_tcl),
        cmocka_unit_test(refreshes__come_every_trefi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
