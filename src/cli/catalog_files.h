/* The catalog of a command, and the files of --catalog. */
#ifndef DSE_CLI_CATALOG_FILES_H
#define DSE_CLI_CATALOG_FILES_H

#include "command/command.h"
#include "config/catalog.h"

/* The catalog, with the user's own files and every --catalog FILE added. NULL with errors. */
struct catalog *open_catalog(const struct invocation *in);
/* The option --catalog, shared by the commands that have it. */
#define OPTION_CATALOG \
    { \
        'c', "catalog", "FILE", "add catalog entries of your own from a TOML file, or those of a sweep from its database" \
    }

#endif
