/* --shard K/N, or auto: the place of this process among many, as SLURM or an MPI launcher tells it in the environment. Nothing of
 * MPI is needed for that, and the processes do not talk to each other. */
#ifndef DSE_CLI_SHARD_H
#define DSE_CLI_SHARD_H

#include "command/command.h"

#include <stdint.h>

struct shard {
    uint64_t shard, shards; /* 1-based; shards 1: all */
};

/* Read the option --shard. False with an error. */
bool shard_parse(const struct invocation *in, struct shard *ret);

#endif
