/* A progress bar with rate and time left: redrawn in place on a terminal, a plain line now and then elsewhere. */
#ifndef DSE_CLI_PROGRESS_H
#define DSE_CLI_PROGRESS_H

#include "sweep/sweep.h"

#include <stdio.h>

struct progress {
    FILE *out;
    bool terminal;
    const char *label;
    double last_line; /* seconds, when the last plain line was written */
    bool drawn;       /* something stands on the terminal's current line */
};

void progress_init(struct progress *p, FILE *out, const char *label);
/* As the callback of struct sweep_options; user is the struct progress. */
void progress_update(void *user, const struct sweep_progress *s);
/* Leave the line clean. */
void progress_clear(struct progress *p);
/* "12 s", "3 min 20 s", "2 h 5 min". buf holds 32 bytes. Returns buf. */
char *progress_duration(char buf[32], double seconds);

#endif
