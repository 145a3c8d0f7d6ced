/* dse sweep --lease FOLDER: a worker among those that share a folder. */
#ifndef DSE_CLI_SWEEP_LEASED_H
#define DSE_CLI_SWEEP_LEASED_H

#include "cli/command.h"
#include "sweep/sweep.h"

/* What all ways to run a sweep take from the command line; `user` is for progress_update. Adds errors. */
struct sweep_options sweep_options_of(const struct invocation *in, void *user);
/* Do not the options that say where a database goes, or which part is done, stand beside this one? False with an error. */
bool sweep_leased_alone(const struct invocation *in, const char *option);
/* Work until all blocks of the folder are done. Returns the exit status. */
int sweep_leased(const struct invocation *in, const struct sweep_file *s, const char *folder);

#endif
