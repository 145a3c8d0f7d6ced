/* Where things are in DRAM: the ports of a run, and the addresses of keys, values, G, intermediate caches, counters and weights. */
#ifndef LAD_MEMORY_H
#define LAD_MEMORY_H

#include "lad_draws.h"

#include <dse/dram_port.h>

enum lad_traffic { LAD_CENTERS, LAD_ACTIVE, LAD_OTHERS, LAD_FETCHED, LAD_WEIGHTS, LAD_KV, LAD_TRAFFICS };
extern const char *const lad_traffic_labels[LAD_TRAFFICS];

/* A DRAM port and where things are behind it. There is one; with slots = "partitioned", one for each tile. */
struct lad_port {
    struct dse_dram dram;
    struct dse_dram_port *dram_port;
    uint64_t keys, values, g, caches, counters; /* by layer, head and sequence */
    uint64_t weights, spilled;                  /* its share of the weights; activations that do not fit on the chip */
};

struct lad_memory {
    struct lad_port *port;
    uint32_t ports;
    uint64_t layers, heads, kv_heads, sequences; /* sequences of one port */
    uint64_t positions;
    uint64_t row, counter; /* bytes of a key or value; of the counters of a position */
    uint64_t g_bytes, g_stride, cache_bytes, cache_stride;
    uint64_t burst, window;  /* window: bytes in flight of a DMA engine of a tile */
    double stream, gathered; /* contiguous bytes that the closed form assumes of streams, and of single keys and values */
};

/* What linear layers keep in DRAM. */
struct lad_stored {
    double layer_weights, weights, spilled; /* bytes: of a layer; that are there once; of the largest activations */
};

/* False: the run has failed. */
bool lad_memory_init(struct lad_memory *m, struct dse_sim *sim, const struct lad_point *pt, uint32_t layers, uint32_t batch,
                     const struct lad_stored *stored);
uint64_t lad_key_at(const struct lad_memory *m, uint32_t layer, uint64_t kv_head, uint32_t sequence, uint64_t position);
uint64_t lad_value_at(const struct lad_memory *m, uint32_t layer, uint64_t kv_head, uint32_t sequence, uint64_t position);
uint64_t lad_g_at(const struct lad_memory *m, const struct lad_sample *s);
uint64_t lad_caches_at(const struct lad_memory *m, const struct lad_sample *s);
uint64_t lad_counters_at(const struct lad_memory *m, const struct lad_sample *s, uint64_t position);
/* The key-value head that a query head reads. */
uint64_t lad_kv_head(const struct lad_memory *m, uint32_t head);
/* Bytes of the whole bursts that a segment moves. */
uint64_t lad_moved(const struct lad_memory *m, const struct dse_segment *s);

#endif
