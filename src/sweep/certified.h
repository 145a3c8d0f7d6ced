/* The exact front of a sweep's lattices (search/exact.h) as a run of its database: the rows of the front, and the certificate. */
#ifndef DSE_SWEEP_CERTIFIED_H
#define DSE_SWEEP_CERTIFIED_H

#include "search/exact.h"
#include "sweep/sweep.h"

struct certified_options {
    const char *db;
    int threads;    /* 0: as many as there are cores */
    double seconds; /* end the search after so many; 0: when all is decided */
    bool fresh;     /* search again even if the front is there */
    bool boxes;     /* store every box that was closed */
    const volatile sig_atomic_t *interrupt;
    void (*progress)(void *user, const struct exact_progress *p);
    void *user;
};

struct certified_result {
    int64_t run;
    bool was_complete; /* it was there already: nothing else is set but run */
    bool interrupted;  /* by a signal */
    struct certificate certificate;
    size_t front;
    double points;   /* of the lattices */
    uint64_t bounds; /* boxes that were bounded */
};

/* Find the front and store it, also where the search was ended before all was decided: then the run's status is "interrupted", and
 * the next call begins anew. False with errors. */
bool certified_run(const struct sweep_file *s, const struct certified_options *options, struct certified_result *ret,
                   struct diags *diags);

#endif
