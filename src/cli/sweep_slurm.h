/* dse sweep --slurm: workers of a folder of leases as a job array, and a job after it that puts their rows together. */
#ifndef DSE_CLI_SWEEP_SLURM_H
#define DSE_CLI_SWEEP_SLURM_H

#include "command/command.h"
#include "config/sweep_file.h"

/* Write the scripts and submit them, or with --dry-run print them. Returns the exit status. */
int sweep_slurm(const struct invocation *in, const struct sweep_file *s);

#endif
