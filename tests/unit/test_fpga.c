/* The FPGAs of the catalog agree with each other and with the memories of their packages. */
#include "model_points.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void fpga__entries_are_of_one_architecture(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct dse_entry *e; (e = catalog_at(catalog, DSE_KIND_FPGA, n)) != NULL; n++) {
        const struct dse_fpga *f = (const struct dse_fpga *)e;
        assert_int_equal(f->ffs, 2 * f->luts); /* a CLB of UltraScale+ has eight LUTs and sixteen flip-flops */
    }
    assert_true(n >= 3);
}

/* The HBM is in the package: what the FPGA says of it is what the memory of that card says. */
static void fpga__hbm_is_that_of_the_memory_catalog(void **state)
{
    (void)state;
    static const char *const pairs[][2] = {{"u55c", "hbm2-u55c"}, {"u280", "hbm2-u280"}, {"vcu128", "hbm2-u280"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct dse_fpga *f = (const struct dse_fpga *)catalog_find(catalog, DSE_KIND_FPGA, pairs[i][0]);
        const struct dse_memory *m = (const struct dse_memory *)catalog_find(catalog, DSE_KIND_MEMORY, pairs[i][1]);
        assert_true(f && m);
        assert_true(f->bandwidth_gbs == (double)m->channels * m->channel_gbs);
        assert_true(f->capacity_gib == m->capacity_gib);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fpga__entries_are_of_one_architecture),
        cmocka_unit_test(fpga__hbm_is_that_of_the_memory_catalog),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
