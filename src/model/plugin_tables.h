/* The tables of a foreign model, before anything else reads them: a row that lies, or a list without an end, is not followed. */
#ifndef DSE_MODEL_PLUGIN_TABLES_H
#define DSE_MODEL_PLUGIN_TABLES_H

#include "base/diag.h"

#include <dse/model.h>

/* Are the texts of the model there and short, its rows inside their structs, its ranges and choices such, its lists closed and of
 * names that are there? False, with an error that names the file. It crashes where a pointer points nowhere (plugin_try.h). */
bool plugin_tables_check(const char *file, const struct dse_model *m, struct diags *diags);

#endif
