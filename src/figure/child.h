/* A program that reads its commands from standard input and prints a picture. It ends with this program, whatever ends that, and
 * is not waited for without a limit. */
#ifndef DSE_FIGURE_CHILD_H
#define DSE_FIGURE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What it may print, and as much again in messages. */
enum { CHILD_OUTPUT_MAX = 1 << 28 };

struct child {
    pid_t pid;
    int in;       /* one end of a socket pair, which unlike a pipe can be written to without the danger of a SIGPIPE; or -1 */
    int out, err; /* files in memory, which never fill up and block it */
    /* when it has ended: */
    int status; /* as waitpid has it */
    bool read;  /* it has read all that it was sent */
    bool late;  /* it was killed, for its time was over */
};

/* Start the program at `file` with the arguments and the environment. 0, or an errno. The caller releases it in any case. */
int child_start(struct child *c, const char *file, char *const *argv, char *const *env);
/* Send it n bytes, and wait until it has ended, or kill it and its children after so many seconds. 0, or an errno. */
int child_finish(struct child *c, const char *s, size_t n, double seconds);
void child_release(struct child *c);

#endif
