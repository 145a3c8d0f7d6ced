/* `dse --version`, and with --verbose what it was built of and what its numbers rest on. */
#ifndef DSE_CLI_VERSION_H
#define DSE_CLI_VERSION_H

#include <stdbool.h>

void version_print(bool verbose);

#endif
