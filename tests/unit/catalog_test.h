/* For tests of the catalog: that of the toy models, and what is complained about. */
#ifndef DSE_TESTS_CATALOG_TEST_H
#define DSE_TESTS_CATALOG_TEST_H

#include "complaints.h"
#include "scratch.h"
#include "toy_model.h"

#include "config/catalog.h"

static struct diags diags;

static inline struct catalog *toy_catalog(void)
{
    struct catalog *c = catalog_new(toy_data_dir(), &diags);
    expect_silence(&diags);
    assert_non_null(c);
    return c;
}

#endif
