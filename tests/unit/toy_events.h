/* The network of toy's event level. */
#ifndef DSE_TESTS_TOY_EVENTS_H
#define DSE_TESTS_TOY_EVENTS_H

#include <dse/sim.h>

/* What one layer loads and multiplies. */
struct toy_load {
    uint64_t layers;
    double weight_bytes, kv_bytes, weight_macs, kv_macs;
    double bytes_per_s, macs_per_s;
};

struct toy_ran {
    bool done;
    double seconds, busy_seconds, bytes; /* of all layers */
};
struct toy_ran toy_run(struct dse_sim *sim, const struct toy_load *load, const struct dse_events *events);

#endif
