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
/* Use this as the callback of struct sweep_options, whose user is the struct progress. */
void progress_update(void *user, const struct sweep_progress *s);
/* Show how far work of another kind is, as a share and in words, `seconds` after it began. */
void progress_show(struct progress *p, double share, const char *text, double seconds);
/* Clear the line. */
void progress_clear(struct progress *p);
/* The progress of work that only counts its runs. */
struct counting {
    struct progress bar;
    struct sweep_progress state;
    double started, shown;
};

void counting_init(struct counting *c, const char *label, const char *phase);
/* Use this as a callback whose user is the struct counting. It may be called from any thread, by one at a time. */
void counting_update(void *user, uint64_t done, uint64_t of);
/* "12 s", "3 min 20 s", "2 h 5 min". buf holds 32 bytes. Returns buf. */
char *progress_duration(char buf[32], double seconds);

#endif
