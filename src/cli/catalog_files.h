/* The files of --catalog. */
#ifndef DSE_CLI_CATALOG_FILES_H
#define DSE_CLI_CATALOG_FILES_H

#include "config/catalog.h"

/* Add a TOML file of entries, or what the sweep of a database's run has in its own [catalog]: "results/mine.db" of the newest run
 * that is done, "results/mine.db#3" of run 3. So a row of a database can be asked for again by its names. False with errors. */
bool catalog_add_any(struct catalog *c, const char *file, struct diags *diags);

#endif
