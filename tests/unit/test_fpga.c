/* The FPGAs of the catalog agree with each other and with the memories of their packages. */
#include "entries.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct entries fpgas, memories;

static int set_up(void **state)
{
    (void)state;
    entries_read(&fpgas, dse_fpga_fields, "fpgas.toml");
    entries_read(&memories, dse_memory_fields, "memories.toml");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    entries_release(&fpgas);
    entries_release(&memories);
    return 0;
}

static void fpga__entries_are_complete_and_in_range(void **state)
{
    (void)state;
    assert_true(fpgas.n >= 3 && fpgas.complete && fpgas.in_range);
    for (size_t i = 0; i < fpgas.n; i++) {
        const struct dse_fpga *f = (const void *)fpgas.object[i];
        assert_int_equal(f->ffs, 2 * f->luts); /* a CLB of UltraScale+ has eight LUTs and sixteen flip-flops */
    }
}

/* The HBM is in the package: what the FPGA says of it is what the memory of that card says. */
static void fpga__hbm_is_that_of_the_memory_catalog(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"u55c", "hbm2-u55c"}, {"u280", "hbm2-u280"}, {"vcu128", "hbm2-u280"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct dse_fpga *f = entries_find(&fpgas, pairs[i][0]);
        const struct dse_memory *m = entries_find(&memories, pairs[i][1]);
        assert_true(f->bandwidth_gbs == (double)m->channels * m->channel_gbs);
        assert_true(f->capacity_gib == m->capacity_gib);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fpga__entries_are_complete_and_in_range),
        cmocka_unit_test(fpga__hbm_is_that_of_the_memory_catalog),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
