/* dse list formats: what weights are held in. */
#ifndef DSE_CLI_LIST_FORMATS_H
#define DSE_CLI_LIST_FORMATS_H

#include "command/command.h"
#include "command/output.h"
#include "config/catalog.h"

/* A table: one format a line, its classes of weights grouped by their bits; with names in the operands, which exist, a class a
 * line. Not for CSV and JSON, which have every field of every entry, as all lists do. */
void list_formats(const struct invocation *in, const struct catalog *c);

#endif
