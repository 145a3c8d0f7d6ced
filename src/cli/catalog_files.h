/* The catalog of a command, and the files of --catalog. */
#ifndef DSE_CLI_CATALOG_FILES_H
#define DSE_CLI_CATALOG_FILES_H

#include "command/command.h"
#include "config/catalog.h"

/* Add a TOML file of entries, or what the sweep of a database's run has in its own [catalog]: "results/mine.db" of the newest run
 * that is done, "results/mine.db#3" of run 3. So a row of a database can be asked for again by its names. False with errors. */
bool catalog_add_any(struct catalog *c, const char *file, struct diags *diags);

/* The catalog, with the user's own files and every --catalog FILE added. NULL with errors. */
struct catalog *open_catalog(const struct invocation *in);
/* The option --catalog, shared by the commands that have it. */
#define OPTION_CATALOG \
    { \
        'c', "catalog", "FILE", "add catalog entries of your own from a TOML file, or those of a sweep from its database" \
    }

#endif
