/* What a sweep says of itself before it runs, for the notices of its front (store/notices.h). */
#ifndef DSE_SWEEP_COMPARED_H
#define DSE_SWEEP_COMPARED_H

#include "space/space.h"

/* run.axis_ends: the ends of the axes of numbers with at least three values; lengths of requests are the question, no design.
 * NULL: there are none. The caller frees it. */
char *sweep_axis_ends(const struct sweep_file *s);

/* run.unequal: what differs between the models and was not asked for, as notices in JSON (store/notices.h): first the terms of
 * [equal], then the parameters that several models have under one name, that the sweep gives to some or none of them, and that have
 * other values in each. Left out are those that only the event level reads, unless the sweep is at event level, what follows from
 * a catalog's entry that is told of itself, and what moves no metric here (space/idle.h). NULL: nothing. The caller frees it. */
char *sweep_unequal(const struct sweep_file *s, struct space *const *spaces);
/* Of it, the terms (config/equal_terms.h): tell is called with a sentence for each in which models differ and not all of them
 * were given theirs, or were put on one by [equal] while others could not be; and for what a GB of memory costs, where the sweep
 * asks for dollars. */
struct unequal_term {
    const char *sentence;
    const char *what;   /* "process node" */
    const char *values; /* JSON {"lad": "22nm", "flashdecoding": "4nm and 7nm"}; NULL: the sentence alone tells them */
};
void sweep_unequal_terms(const struct sweep_file *s, struct space *const *spaces,
                         void (*tell)(void *user, const struct unequal_term *term), void *user);

#endif
