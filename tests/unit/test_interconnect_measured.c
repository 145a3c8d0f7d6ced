/* Exchanges over NVLink against NCCL on machines that exist (catalog/measured). The law is dse/interconnect.h's with the entries of
 * the catalog and two numbers of the library: the start of NCCL's kernels, as models/flashdecoding has it fitted (E30: 13,200
 * cycles), and chunks that fill a pipeline (a share of 1). Nothing here is fitted to what is compared; E30 was to 42 of the A100's
 * rows. */
#include "config/catalog.h"
#include "dse_config.h"
#include "rows.h"

#include <dse/interconnect.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
    const char *gpu, *link;
    double clock_ghz;
} machines[] = {{"a100-80gb", "nvlink3", 1.41}, {"h100", "nvlink4", 1.83}, {"b200", "nvlink5", 1.965}};
enum { MACHINES = sizeof machines / sizeof *machines };

static struct catalog *catalog;

static int set_up(void **state)
{
    (void)state;
    struct diags diags;
    diags_init(&diags);
    catalog = catalog_new(DSE_SOURCE_DATA, &diags);
    diags_release(&diags);
    return catalog ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    return 0;
}

static struct dse_links links_of(int machine)
{
    const double start_cycles = 13200, cycles_per_us_of_ghz = 1e3;
    const struct dse_interconnect *e = (const void *)catalog_find(catalog, DSE_KIND_INTERCONNECT, machines[machine].link);
    assert_non_null(e);
    return (struct dse_links){.interconnect = e,
                              .link_gbs = e->link_gbs,
                              .link_share = e->link_share,
                              .link_latency_us = e->link_latency_us,
                              .link_pj_per_bit = e->link_pj_per_bit,
                              .linked_devices = e->linked_devices,
                              .link_topology = e->link_topology,
                              .link_reduce_share = e->link_reduce_share,
                              .link_reduce_us = e->link_reduce_us,
                              .outer_interconnect = e,
                              .allreduce = DSE_ALLREDUCE_SWITCH,
                              .collective_start_us = start_cycles / cycles_per_us_of_ghz / machines[machine].clock_ghz,
                              .collective_fill_share = 1};
}

static int machine_of(const char *gpu)
{
    for (int i = 0; i < MACHINES; i++)
        if (strcmp(machines[i].gpu, gpu) == 0) return i;
    return -1;
}

/* Mean error, in percent, of all rows of a collective above 512 KiB; of a machine, or with -1 of all. */
static double mean_error(const struct rows *r, const char *name, enum dse_collective kind, int machine, int *ret_rows)
{
    const double least_bytes = 512 * 1024., percent = 100, us_per_s = 1e6;
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < r->n; i++) {
        const int of = machine_of(rows_string(r, i, "gpu"));
        const double bytes = rows_number(r, i, "message_bytes"), devices = rows_number(r, i, "gpus");
        if (of < 0 || (machine >= 0 && of != machine) || bytes <= least_bytes) continue;
        if (strcmp(rows_string(r, i, "collective"), name) != 0 || strncmp(rows_string(r, i, "library"), "nccl", 4) != 0) continue;
        const struct dse_links l = links_of(of);
        const double us = dse_collective_seconds(&l, kind, devices, bytes) * us_per_s;
        sum += percent * fabs(us / rows_number(r, i, "time_us") - 1);
        n++;
    }
    *ret_rows = n;
    return sum / n;
}

static void nvlink__is_within_a_fifth_above_half_a_mebibyte(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        enum dse_collective kind;
        double most; /* percent: what docs/explanation/interconnects.md says, rounded up */
    } cases[] = {{"all_reduce", DSE_ALL_REDUCE, 12},
                 {"reduce_scatter", DSE_REDUCE_SCATTER, 18},
                 {"all_gather", DSE_ALL_GATHER, 19},
                 {"alltoall", DSE_ALL_TO_ALL, 20}};
    struct rows r;
    rows_read_csv(&r, DSE_SOURCE_DATA "/catalog/measured/collectives_aiconfigurator.csv");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int n;
        const double all = mean_error(&r, cases[i].name, cases[i].kind, -1, &n);
        print_message("%s: %.1f %% over %d rows;", cases[i].name, all, n);
        for (int m = 0; m < MACHINES; m++)
            print_message(" %s %.1f %%", machines[m].gpu, mean_error(&r, cases[i].name, cases[i].kind, m, &n));
        print_message("\n");
        if (all > cases[i].most) fail_msg("%s: %.1f %%, not %g", cases[i].name, all, cases[i].most);
    }
    rows_release(&r);
}

/* All-reduces of a DGX, PyTorch's own times: those below 1 MiB are the host's. */
static void nvlink__of_another_source_is_within_a_quarter(void **state)
{
    (void)state;
    struct rows r;
    rows_read_csv(&r, DSE_SOURCE_DATA "/catalog/measured/collectives_vidur.csv");
    double sum = 0;
    int n = 0;
    for (size_t i = 0; i < r.n; i++) {
        const char *node = rows_string(&r, i, "node");
        const int machine = strcmp(node, "a100_dgx") == 0 ? 0 : strcmp(node, "h100_dgx") == 0 ? 1 : -1;
        const double bytes = rows_number(&r, i, "message_bytes");
        if (machine < 0 || bytes < (1 << 20) || strcmp(rows_string(&r, i, "collective"), "all_reduce") != 0) continue;
        const struct dse_links l = links_of(machine);
        const double s = dse_collective_seconds(&l, DSE_ALL_REDUCE, rows_number(&r, i, "gpus"), bytes);
        sum += fabs(s * 1e6 / rows_number(&r, i, "time_us") - 1);
        n++;
    }
    print_message("vidur: %.1f %% over %d rows\n", 100 * sum / n, n);
    assert_true(n > 50 && sum / n < 0.25);
    rows_release(&r);
}

/* GA100's links as LLMCompass counts them: 12 PHYs of 1.888 mm2 and 9.2999 mm2 of controllers at 7 nm (photograph: 20.95 and
 * none). */
static void die__has_the_links_of_a_ga100(void **state)
{
    (void)state;
    const struct dse_costs *book = (const void *)catalog_find(catalog, DSE_KIND_COSTS, "public");
    struct dse_links l = links_of(0);
    struct dse_links_die one, two;
    dse_links_die_at(book, &l, 7, &one);
    assert_true(fabs(one.mm2 - (12 * 1.888 + 9.2999)) < 1e-3);
    assert_true(fabs(one.busy_w - 300e9 * 8 * 11e-12) < 1e-9 && one.edge_mm == 0);
    l.link_gbs *= 2;
    dse_links_die_at(book, &l, 7, &two);
    assert_true(fabs(two.mm2 - 2 * one.mm2) < 1e-9);
    l.interconnect = (const void *)catalog_find(catalog, DSE_KIND_INTERCONNECT, "ici-v5e");
    dse_links_die_at(book, &l, 7, &two);
    assert_true(isnan(two.mm2));
    const struct dse_entry *e;
    for (size_t i = 0; (e = catalog_at(catalog, DSE_KIND_INTERCONNECT, i)) != NULL; i++) {
        l.interconnect = (const void *)e;
        l.link_gbs = l.interconnect->link_gbs;
        dse_links_die_at(book, &l, 5, &two);
        assert_true(l.interconnect->phy.link_phy == DSE_LINK_PHY_OTHER ? isnan(two.mm2) : two.mm2 > 0.5 && two.mm2 < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nvlink__is_within_a_fifth_above_half_a_mebibyte),
        cmocka_unit_test(nvlink__of_another_source_is_within_a_quarter),
        cmocka_unit_test(die__has_the_links_of_a_ga100),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
