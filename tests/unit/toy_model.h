/* Two made-up models for tests of rooms that must not depend on a real one, with data of their own.
 *
 * "toy" has a row of every type: F64, I64, ENUM, references to an LLM, a memory and a profile, and an "auto" parameter that
 * excludes another; some of its points are infeasible; it has equations, a calibrated constant and published numbers (claims.csv,
 * claims.toml), all made up; and an event level (toy_events.c). "pebble" has none, shares some of toy's parameters, knows
 * requests, and has `lanes` of its own. A test that lists toy_dep in meson.build gets a registry with these two models and
 * nothing else. Their data directory (catalog/, models/) is toy_data_dir().
 *
 * Call registry_release() at the end of a test program, for the leak checker.
 */
#ifndef DSE_TESTS_TOY_MODEL_H
#define DSE_TESTS_TOY_MODEL_H

#include <dse/catalog.h>
#include <dse/model.h>
#include <dse/sim.h>
#include <dse/workload.h>

enum toy_pipeline { TOY_EXACT, TOY_EQ7, TOY_NONE };

struct toy_params {
    const struct dse_llm *llm;
    const struct dse_memory *memory; /* sets the defaults of channels and channel_gbs */
    const struct dse_profile *profile;
    int64_t channels;
    double channel_gbs;
    double bandwidth_gbs; /* auto: channels * channel_gbs; excludes channel_gbs */
    int64_t tiles;        /* 1 to 64 */
    double sram_mib;      /* 0.25 to 64 */
    double clock_ghz;     /* 0.1 to 10 */
    int32_t pipeline;     /* enum toy_pipeline */
    int64_t batch;        /* 1 to 4096 */
    int64_t context;      /* 1 to 1000000 */
    double overhead_us;   /* calibrated; 0 to 1000 */
    struct dse_events events;
};

struct toy_metrics {
    struct dse_common common; /* `energy_mj` has no meaning: stored as NULL */
    double macs_per_s;
    int64_t rounds; /* steps over all tiles */
    double active;  /* positions attended to */
};

struct toy_equations {
    double kv_mib, weights_gib; /* of the whole cache; of all layers */
    double macs_per_tile;       /* NaN for a batch of 1: made up */
};

extern const struct dse_model dse_model_toy;

struct pebble_params {
    const struct dse_llm *llm;
    int64_t batch, context;
    double clock_ghz;
    int64_t lanes;  /* 1 to 1024 */
    int64_t layers; /* set by llm */
    struct dse_request request;
};

struct pebble_metrics {
    struct dse_common common;
};

extern const struct dse_model dse_model_pebble;

/* The directory with the catalog and the defaults of these models. */
const char *toy_data_dir(void);

/* What the floor of toy's latency is multiplied by: 1, but in a test that wants a bound that is none. */
extern double toy_bound_factor;

#endif
