#include "cli/shard.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { SHARDS_MAX = 1000000 };

static bool read_variable(const char *name, int64_t *ret)
{
    const char *s = getenv(name);
    return s && text_parse_i64(s, ret);
}

/* A rank counted from 0 and a size, by two variables. */
static bool read_rank(const char *rank_name, const char *size_name, struct shard *ret)
{
    int64_t rank, size;
    if (!read_variable(rank_name, &rank) || !read_variable(size_name, &size)) return false;
    *ret = (struct shard){(uint64_t)rank + 1, (uint64_t)size};
    return rank >= 0 && rank < size && size <= SHARDS_MAX;
}

/* A job array: ids run from MIN to MAX in steps; SLURM_ARRAY_TASK_COUNT of them. */
static bool read_slurm_array(struct shard *ret)
{
    int64_t id, count, min = 0, step = 1;
    if (!read_variable("SLURM_ARRAY_TASK_ID", &id) || !read_variable("SLURM_ARRAY_TASK_COUNT", &count)) return false;
    read_variable("SLURM_ARRAY_TASK_MIN", &min);
    read_variable("SLURM_ARRAY_TASK_STEP", &step);
    if (step < 1) return false;
    int64_t rank = (id - min) / step;
    *ret = (struct shard){(uint64_t)rank + 1, (uint64_t)count};
    return rank >= 0 && rank < count && count <= SHARDS_MAX;
}

/* The rank that a launcher gives to each process that it starts. A batch script of SLURM has such a rank too, 0 of many, without
 * being started many times: what is in a step was. */
static bool read_launcher(struct shard *ret)
{
    return read_rank("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", ret) || read_rank("PMI_RANK", "PMI_SIZE", ret) ||
           (getenv("SLURM_STEP_ID") && read_rank("SLURM_PROCID", "SLURM_NTASKS", ret));
}

/* A task of a job array may be a launcher again: then each of its processes has a part of the task's. */
static bool read_environment(struct shard *ret)
{
    struct shard array, rank;
    const bool in_array = read_slurm_array(&array), launched = read_launcher(&rank);
    if (in_array && launched)
        *ret = (struct shard){(array.shard - 1) * rank.shards + rank.shard, array.shards * rank.shards};
    else
        *ret = in_array ? array : rank;
    return (in_array || launched) && ret->shards <= SHARDS_MAX;
}

static bool shard_auto(const struct invocation *in, struct shard *ret)
{
    if (read_environment(ret)) return true;
    if (getenv("SLURM_PROCID") && !getenv("SLURM_STEP_ID"))
        usage_error(in, "--shard auto: a batch script of SLURM runs once, whatever tasks its job has: start them with srun, as in"
                        " `srun dse sweep FILE --shard auto`, or make it a job array");
    else
        usage_error(in,
                    "--shard auto: no launcher tells which part is this process's: start it with `mpirun -n N` or srun, or in a job"
                    " array of SLURM; or say which with --shard K/N");
    return false;
}

bool shard_parse(const struct invocation *in, struct shard *ret)
{
    *ret = (struct shard){1, 1};
    const char *s = option_get(in, "shard");
    if (!s) return true;
    if (strcmp(s, "auto") == 0) return shard_auto(in, ret);
    char k[32] = "";
    const char *slash = strchr(s, '/');
    if (slash && (size_t)(slash - s) < sizeof k) memcpy(k, s, (size_t)(slash - s));
    int64_t shard, shards;
    if (!slash || !text_parse_i64(k, &shard) || !text_parse_i64(slash + 1, &shards) || shard < 1 || shard > shards ||
        shards > SHARDS_MAX) {
        usage_error(in, "--shard: \"%s\" is not K/N with 1 <= K <= N, such as 2/3, nor auto", s);
        return false;
    }
    *ret = (struct shard){(uint64_t)shard, (uint64_t)shards};
    return true;
}
