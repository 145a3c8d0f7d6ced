/* Exchanges over links at event level (dse/net.h): the closed form where nothing is in the way, and what is in the way. */
#include "links_bed.h"
#include "sim/sim.h"

#include <dse/net.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

enum { DEVICES_MAX = 64 };

struct bed {
    struct dse_sim *sim;
    struct dse_ports *ports[DEVICES_MAX];
    struct dse_net *net;
    dse_ps done[DEVICES_MAX], last;
    uint32_t actor, calls;
};

static void is_done(struct dse_sim *sim, void *object, uint32_t arg)
{
    struct bed *b = object;
    b->done[arg % DEVICES_MAX] = b->last = dse_sim_now(sim);
    b->calls++;
}

static void bed_new(struct bed *b, const struct dse_links *l, uint32_t n)
{
    *b = (struct bed){.sim = sim_new(&(struct sim_options){0})};
    for (uint32_t i = 0; i < n; i++) b->ports[i] = dse_ports_new(b->sim, "device", l);
    b->net = dse_net_new(b->sim, "net", b->ports, n);
    b->actor = dse_sim_actor(b->sim, is_done, b);
}

static void bed_run(struct bed *b)
{
    if (!dse_sim_run(b->sim)) fail_msg("%s", dse_sim_error(b->sim));
}

static void assert_about(double is, double wanted, double relative)
{
    if (!(fabs(is - wanted) <= relative * fabs(wanted) + 1e-9)) fail_msg("%.12g is not %.12g", is, wanted);
}

/* The tolerance is a picosecond a step. */
static void alone__takes_what_the_closed_form_says(void **state)
{
    (void)state;
    static const double counts[] = {2, 3, 4, 8, 16, 24, 64};
    for (int t = 0; t <= DSE_LINK_TORUS_3; t++)
        for (int kind = 0; kind < DSE_COLLECTIVES; kind++)
            for (int way = DSE_ALLREDUCE_BEST; way <= DSE_ALLREDUCE_SWITCH; way++)
                for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
                    for (int all = 0; all < 2; all++) {
                        struct dse_links l = bed_links(t);
                        l.allreduce = way;
                        l.link_reduce_share = t == DSE_LINK_SWITCH ? 0.7 : 0;
                        l.collective_start_us = 3;
                        l.collective_fill_share = way % 2;
                        const struct dse_exchange x = {(enum dse_collective)kind, counts[i], 1, 1 << 20, 1.2};
                        const uint32_t n = all ? (uint32_t)counts[i] : 1;
                        struct dse_exchange_cost cost;
                        struct bed b;
                        dse_exchange_at(&l, &x, &cost);
                        bed_new(&b, &l, n);
                        for (uint32_t d = 0; d < n; d++) dse_net_exchange(b.net, d, &x, b.actor, d);
                        bed_run(&b);
                        assert_int_equal(b.calls, n);
                        for (uint32_t d = 0; d < n; d++) assert_about(dse_s_of_ps(b.done[d]), cost.seconds, 1e-6);
                        assert_about(dse_ports_bytes(b.ports[0]), cost.bytes, 1e-9);
                        sim_free(b.sim);
                    }
}

/* Everybody waits for the last one, whichever way it goes. */
static void late__one_makes_all_late(void **state)
{
    (void)state;
    for (int way = DSE_ALLREDUCE_BEST; way <= DSE_ALLREDUCE_ONE_SHOT; way++) {
        struct dse_links l = bed_links(DSE_LINK_SWITCH);
        l.allreduce = way;
        const struct dse_exchange x = {DSE_ALL_REDUCE, 8, 1, 1 << 16, 1};
        struct bed b;
        bed_new(&b, &l, 8);
        for (uint32_t d = 0; d < 7; d++) dse_net_exchange(b.net, d, &x, b.actor, d);
        bed_run(&b);
        assert_int_equal(b.calls, 0);
        const dse_ps now = dse_sim_now(b.sim);
        dse_net_exchange(b.net, 7, &x, b.actor, 7);
        bed_run(&b);
        assert_int_equal(b.calls, 8);
        const double whole = bed_cost(&l, DSE_ALL_REDUCE, 8, 1 << 16).seconds;
        for (uint32_t d = 0; d < 8; d++) {
            assert_true(b.done[d] > now);
            assert_true(dse_s_of_ps(b.done[d] - now) <= whole * (1 + 1e-9));
        }
        sim_free(b.sim);
    }
}

/* Two nets of one device share its links: together they take as long as their bytes. */
static void links__are_shared(void **state)
{
    (void)state;
    struct dse_links l = bed_links(DSE_LINK_SWITCH);
    l.link_latency_us = 0;
    const double m = 1 << 26;
    const struct dse_exchange x = {DSE_ALL_TO_ALL, 8, 1, m, 1};
    struct bed b;
    bed_new(&b, &l, 1);
    struct dse_net *other = dse_net_new(b.sim, "other", b.ports, 1);
    dse_net_exchange(b.net, 0, &x, b.actor, 0);
    dse_net_exchange(other, 0, &x, b.actor, 1);
    bed_run(&b);
    const double one = bed_cost(&l, DSE_ALL_TO_ALL, 8, m).seconds;
    assert_about(dse_s_of_ps(b.last), 2 * one, 1e-9);
    assert_about(dse_s_of_ps(dse_resource_time(b.sim, dse_ports_resource(b.ports[0], false), DSE_BUSY)), 2 * one, 1e-9);
    sim_free(b.sim);
}

/* One after the other, as they were asked for; and what is nothing takes no time. */
static void exchanges__of_a_net_follow_each_other(void **state)
{
    (void)state;
    const struct dse_links l = bed_links(DSE_LINK_SWITCH);
    const struct dse_exchange x = {DSE_ALL_REDUCE, 4, 1, 1 << 20, 1}, nothing = {DSE_ALL_REDUCE, 1, 1, 1 << 20, 1};
    struct bed b;
    bed_new(&b, &l, 4);
    for (uint32_t k = 0; k < DSE_NET_AHEAD; k++)
        for (uint32_t d = 0; d < 4; d++) dse_net_exchange(b.net, d, k % 2 ? &x : &nothing, b.actor, d);
    bed_run(&b);
    assert_int_equal(b.calls, 4 * DSE_NET_AHEAD);
    assert_about(dse_s_of_ps(b.last), DSE_NET_AHEAD / 2 * bed_cost(&l, DSE_ALL_REDUCE, 4, 1 << 20).seconds, 1e-6);
    for (uint32_t k = 0; k <= DSE_NET_AHEAD; k++) dse_net_exchange(b.net, 0, &x, b.actor, 0);
    assert_false(dse_sim_run(b.sim));
    assert_non_null(strstr(dse_sim_error(b.sim), "more exchanges"));
    sim_free(b.sim);
}

static void groups__of_another_size_are_refused(void **state)
{
    (void)state;
    const struct dse_links l = bed_links(DSE_LINK_SWITCH);
    struct bed b;
    bed_new(&b, &l, 4);
    dse_net_exchange(b.net, 0, &(struct dse_exchange){DSE_ALL_REDUCE, 8, 1, 1024, 1}, b.actor, 0);
    assert_false(dse_sim_run(b.sim));
    assert_non_null(strstr(dse_sim_error(b.sim), "other devices"));
    sim_free(b.sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alone__takes_what_the_closed_form_says),
        cmocka_unit_test(late__one_makes_all_late),
        cmocka_unit_test(links__are_shared),
        cmocka_unit_test(exchanges__of_a_net_follow_each_other),
        cmocka_unit_test(groups__of_another_size_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
