/* The event level of "brook" (brook.toml), and what a test sets of it. */
#ifndef DSE_TESTS_BROOK_EVENTS_H
#define DSE_TESTS_BROOK_EVENTS_H

#include "brook_closed.h"

#include <dse/sim.h>

/* What a run asks of the equations besides; NULL but in a test. */
typedef void brook_asking(struct dse_closed *closed);
extern brook_asking *brook_asks;
/* Give back the numbers of the closed form; false but in a test. */
extern bool brook_echoes;

#endif
