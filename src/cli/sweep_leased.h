/* dse sweep --lease FOLDER: a worker among those that share a folder. */
#ifndef DSE_CLI_SWEEP_LEASED_H
#define DSE_CLI_SWEEP_LEASED_H

#include "command/command.h"
#include "sweep/sweep.h"

/* What all ways to run a sweep take from the command line; `user` is for progress_update. Adds errors. */
struct sweep_options sweep_options_of(const struct invocation *in, void *user);
/* Does none of the options stand there that do not go with --lease and --slurm? False with an error. */
bool sweep_leased_alone(const struct invocation *in);
/* Work until all blocks of the folder are done. Returns the exit status. */
int sweep_leased(const struct invocation *in, const struct sweep_file *s, const char *folder);

#endif
