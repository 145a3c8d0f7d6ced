/* All-reduces of the flashdecoding model (E15, E30): what no machine can be faster than, and what each setting of a link moves. */
#include "flashdecoding_test.h"

/* Of `collective` over so many devices (E44); an all-reduce is that of a step. */
static double seconds_of(const char *settings, const char *collective, double devices, double bytes)
{
    struct point p = point(settings);
    choose(&p, "collective", collective);
    set(&p, "tensor_parallel", devices);
    set(&p, "collective_bytes", bytes);
    return equation(&p, "collective_us") / DSE_US_PER_S;
}

static double seconds(const char *settings, double devices, double bytes)
{
    return seconds_of(settings, "all-reduce", devices, bytes);
}

static const char *const ways[] = {"collectives=ring", "collectives=nccl", "collectives=one-shot",
                                   "collectives=nccl gpu=h100 link_gbs=450", "collectives=one-shot gpu=l40s"};
enum { WAYS = sizeof ways / sizeof *ways };

/* Every byte of a device is added to by others and sent back: 2 (D - 1) / D of them pass its link, or with switches that add each
 * byte passes once each way. */
static void allreduce__is_never_faster_than_the_link(void **state)
{
    (void)state;
    for (int i = 0; i < WAYS; i++) {
        const struct point p = point(ways[i]);
        for (double devices = 2; devices <= 8; devices *= 2)
            for (double bytes = 1024; bytes < 1e9; bytes *= 3)
                assert_true(seconds(ways[i], devices, bytes) > bytes / (get(&p, "link_gbs") * DSE_GIGA));
    }
}

static void allreduce__grows_with_its_bytes(void **state)
{
    (void)state;
    for (int i = 0; i < WAYS; i++)
        for (double devices = 2; devices <= 8; devices *= 2)
            for (double bytes = 1024, before = 0; bytes < 1e9; bytes *= 1.3) {
                const double now = seconds(ways[i], devices, bytes);
                assert_true(now >= before);
                before = now;
            }
}

/* 480 GB/s of bus bandwidth on eight H100 with multicast (NVIDIA), less than a link's 450 GB/s without. */
static void switches__add_for_more_than_two(void **state)
{
    (void)state;
    const double bytes = 8e9, bus = 2. * 7 / 8 * bytes / DSE_GIGA;
    assert_in_range(bus / seconds("collectives=nccl gpu=h100 link_gbs=450", 8, bytes), 440, 480);
    assert_in_range(bus / seconds("collectives=nccl gpu=h100 link_gbs=450 multicast_share=0", 8, bytes), 340, 371);
    assert_near(seconds("collectives=nccl gpu=h100 link_gbs=450", 2, bytes),
                seconds("collectives=nccl gpu=h100 link_gbs=450 multicast_share=0", 2, bytes), 0);
}

static void boards__without_links_share_the_host(void **state)
{
    (void)state;
    const double bytes = 1 << 25;
    assert_true(seconds("collectives=nccl linked_devices=2", 8, bytes) > 10 * seconds("collectives=nccl", 8, bytes));
    assert_near(seconds("collectives=nccl linked_devices=1", 2, bytes), seconds("collectives=nccl", 2, bytes), 0);
    assert_true(seconds("collectives=nccl linked_devices=1", 8, bytes) > seconds("collectives=nccl linked_devices=2", 8, bytes));
    assert_true(seconds("collectives=nccl linked_devices=1 host_path_gbs=32", 8, bytes) <
                seconds("collectives=nccl linked_devices=1", 8, bytes));
    /* An engine's own kernel reads from all others, which they cannot. */
    assert_near(seconds("collectives=one-shot linked_devices=1", 8, 65536), seconds("collectives=nccl linked_devices=1", 8, 65536),
                0);
}

static void own_kernel__is_for_small_messages(void **state)
{
    (void)state;
    assert_true(seconds("collectives=one-shot", 8, 65536) < 0.5 * seconds("collectives=nccl", 8, 65536));
    assert_near(seconds("collectives=one-shot", 8, 1 << 24), seconds("collectives=nccl", 8, 1 << 24), 0);
}

static void allreduce__waits_for_its_launch(void **state)
{
    (void)state;
    assert_near(seconds("collectives=nccl launch_us=100", 2, 1024), 100e-6, 1e-12);
    assert_true(seconds("collectives=ring launch_us=100", 2, 1024) < 10e-6); /* E15 has none */
}

/* What stays in a server is E30's; what leaves it is a reduce-scatter inside, an all-reduce of parts over the network, and an
 * all-gather inside, in one start. */
static void network__is_for_what_leaves_the_server(void **state)
{
    (void)state;
    static const char h100[] = "collectives=nccl gpu=h100 outer_interconnect=infiniband-400g",
                      slow[] = "collectives=nccl gpu=h100 outer_interconnect=ethernet-100g",
                      joined[] = "collectives=nccl gpu=h100 linked_devices=72 system_devices=72";
    static const char *const collectives[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};
    const struct point p = point(h100);
    const double bytes = 1 << 26, part = bytes / 8, inside = 450e9 * 0.824, outside = 50e9 * 0.96;
    const double start_s = get(&p, "nccl_start_cycles") / (board_of(&p)->clock_ghz * DSE_GIGA);
    const double w = start_s + 14 * get(&p, "link_latency_us") * 1e-6 + 2 * 2.7e-6, v = 14. / 8 * bytes / inside + part / outside;
    assert_near(seconds(h100, 16, bytes), w + v + sqrt(w * v), 1e-12);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++) {
        const double network = seconds_of(h100, collectives[i], 16, bytes);
        assert_true(seconds_of(joined, collectives[i], 16, bytes) < network &&
                    network < seconds_of(slow, collectives[i], 16, bytes));
    }
}

/* Two all-reduces of all rows in each of 80 layers. */
static void network__takes_energy_of_its_own(void **state)
{
    (void)state;
    const struct point p =
        point("collectives=nccl gpu=h100 outer_interconnect=infiniband-400g llm=llama2-70b batch=8 tensor_parallel=16");
    const double bytes = 8. * 8192 * 2, part = bytes / 8,
                 each_j = 8e-12 * (14. / 8 * bytes * get(&p, "link_pj_per_bit") + part * 56);
    assert_near(estimated(&p).energy_links_mj, 16. * 2 * 80 * each_j * 1e3 / 8, 1e-12);
}

/* Boards without links leave their server with what the host has for each. */
static void network__starts_at_the_host_of_boards_without_links(void **state)
{
    (void)state;
    const double bytes = 1 << 26, l40s = seconds("collectives=nccl gpu=l40s", 16, bytes);
    assert_true(l40s > 14. / 8 * bytes / (16e9 / 8));
    assert_true(seconds("collectives=nccl gpu=l40s host_path_gbs=64", 16, bytes) < l40s);
}

static void links__join_no_more_than_there_is(void **state)
{
    (void)state;
    struct point p = point("gpu=h100 linked_devices=8");
    assert_null(refusal(&p));
    p = point("gpu=h100 llm=llama3.1-8b tensor_parallel=8 data_parallel=4 outer_interconnect=xsr-113g");
    assert_string_equal(refusal(&p), "more devices than system_devices and outer_interconnect can join");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allreduce__is_never_faster_than_the_link),
        cmocka_unit_test(allreduce__grows_with_its_bytes),
        cmocka_unit_test(switches__add_for_more_than_two),
        cmocka_unit_test(boards__without_links_share_the_host),
        cmocka_unit_test(own_kernel__is_for_small_messages),
        cmocka_unit_test(allreduce__waits_for_its_launch),
        cmocka_unit_test(network__is_for_what_leaves_the_server),
        cmocka_unit_test(network__takes_energy_of_its_own),
        cmocka_unit_test(network__starts_at_the_host_of_boards_without_links),
        cmocka_unit_test(links__join_no_more_than_there_is),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
