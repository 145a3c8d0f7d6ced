/* A child process that runs foreign code, watched until it ends: it may work and wait for some time, and take some memory.
 *
 * Time is what the child works (its CPU time) or, if that is less, what it sleeps or is stopped. What it waits for a core or for
 * the disk does not count, so that a slow or busy machine refuses nothing that a quiet one takes. A wait for the disk in which
 * nothing comes is sleep. */
#ifndef DSE_MODEL_PLUGIN_WATCH_H
#define DSE_MODEL_PLUGIN_WATCH_H

#include <stdbool.h>
#include <sys/types.h>

enum watch_end {
    WATCH_ENDED,     /* by itself: *ret_status is that of waitpid */
    WATCH_TOO_LONG,  /* it was killed: PLUGIN_LOAD_MS_MAX */
    WATCH_TOO_LARGE, /* it was killed: it took PLUGIN_LOAD_MIB_MAX more than when it began */
    WATCH_UNSEEN,    /* it ended, and how is not known: the program lets children go */
};

/* Wait for the child, which leads a process group of its own; what else is in the group is ended with it. */
enum watch_end plugin_watch(pid_t child, int *ret_status);

/* KiB of memory that this process has. 0: not known. */
long plugin_watch_kib(void);

#endif
