/* What a database brings to a catalog: entries that the sweep of a run has of its own. */
#ifndef DSE_STORE_RUN_CATALOG_H
#define DSE_STORE_RUN_CATALOG_H

#include "config/catalog.h"

/* Add a TOML file of entries, or what the sweep of a database's run has in its own [catalog]: "results/mine.db" of the newest run
 * that is done, "results/mine.db#3" of run 3. So a row of a database can be asked for again by its names. False with errors. */
bool catalog_add_any(struct catalog *c, const char *file, struct diags *diags);

#endif
