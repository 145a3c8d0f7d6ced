#include "cli/catalog_files.h"

#include "store/run_catalog.h"

#include <string.h>

struct catalog *open_catalog(const struct invocation *in)
{
    struct catalog *c = catalog_open(in->diags);
    bool ok = c != NULL;
    for (size_t i = 0; c && i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, "catalog") == 0) ok = catalog_add_any(c, in->options[i].argument, in->diags) && ok;
    if (ok) return c;
    catalog_free(c);
    return NULL;
}
