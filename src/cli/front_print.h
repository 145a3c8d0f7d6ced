/* The front of a finished run, for people: its best rows, its size and hypervolume. */
#ifndef DSE_CLI_FRONT_PRINT_H
#define DSE_CLI_FRONT_PRINT_H

#include "config/sweep_file.h"

/* Print to standard output what database db holds for this run. */
bool front_print(const struct sweep_file *s, const char *db, int64_t run, struct diags *diags);
/* Path of a figure beside the database: "results/NAME.png". The caller frees it. */
char *figure_path(const char *db, const char *figure, const char *ending);

#endif
