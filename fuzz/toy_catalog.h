/* The catalog of the made-up models, opened once; each input gets it as it was. */
#ifndef DSE_FUZZ_TOY_CATALOG_H
#define DSE_FUZZ_TOY_CATALOG_H

#include "config/catalog_internal.h"
#include "memory_file.h"
#include "toy_model.h"

static inline struct catalog *toy_catalog(void)
{
    static struct catalog *catalog;
    static struct catalog_mark whole;
    if (!catalog) {
        struct diags d;
        diags_init(&d);
        catalog = catalog_new(toy_data_dir(), &d);
        need(catalog != NULL);
        diags_release(&d);
        whole = catalog_mark(catalog);
    }
    catalog_forget(catalog, &whole);
    return catalog;
}

#endif
