/* For tests and benches of the event-level DRAM: memories of the catalog, and the reference runs of tests/data/dram as memories,
 * maps and patterns. */
#ifndef DSE_TESTS_DRAM_FIXTURE_H
#define DSE_TESTS_DRAM_FIXTURE_H

#include "entries.h"
#include "sim/dram_pattern.h"
#include "sim/dram_run.h"

static inline struct dse_dram fixture_dram(const struct dse_memory *m)
{
    struct dse_dram d = {.memory = m,
                         .channels = m->channels,
                         .channel_gbs = m->channel_gbs,
                         .bandwidth_gbs = (double)NAN,
                         .dram_efficiency = 0.9,
                         .dram_pj_per_bit = m->dram_pj_per_bit,
                         .burst_bytes = m->burst_bytes,
                         .capacity_gib = m->capacity_gib,
                         .timing = m->timing};
    dse_dram_resolve(&d);
    return d;
}

/* The memory and the map of a reference run; *m is filled in, and the spec from it. */
static inline void fixture_reference(const struct entries *memories, const char *config, const char *mapping, struct dse_memory *m,
                                     struct dram_spec *spec, struct dram_map *map)
{
    const bool dramsim = config[0] == 'd', c256 = strcmp(mapping, "c256") == 0;
    *m = *(const struct dse_memory *)entries_find(memories, dramsim ? "hbm2-dramsim3" : "hbm2-ramulator2");
    if (strstr(config, "faw16")) m->timing.t_faw_ns = 16;
    if (strstr(config, "q32")) m->timing.queue_depth = 16;
    if (strstr(config, "q128")) m->timing.queue_depth = 64;
    if (strstr(config, "frfcfs")) m->detail.controller = DSE_DRAM_FIRST_READY;
    const struct dse_dram d = fixture_dram(m);
    char *why = dram_spec_init(spec, &d, strstr(config, "noref") == NULL);
    if (why) abort();
    struct diags diags;
    diags_init(&diags);
    const char *text = dramsim ? c256 ? "co2 ch3 bg2 co3 ba2 ro15" : "ch3 bg2 co5 ba2 ro15"
                       : c256  ? "co3 ch3 pc1 bg2 co2 ba2 ro15"
                               : "co1 ch3 pc1 bg2 co4 ba2 ro15";
    if (!dram_map_parse(map, spec, text, "map", &diags)) abort();
    diags_release(&diags);
}

/* The number that follows `word` in `name`, or 0. */
static inline long fixture_number(const char *name, const char *word)
{
    const char *at = strstr(name, word);
    return at ? strtol(at + strlen(word), NULL, 10) : 0;
}

/* The pattern of the reference called so ("chunk256_rd"), as dram_pattern_new takes it. NULL for an unknown one. The caller frees
 * it. */
static inline char *fixture_pattern(const char *name)
{
    const long total = 16L << 20;
    const bool writes = strstr(name, "_wr") != NULL;
    if (strncmp(name, "seq_", 4) == 0) return xasprintf("sequential,size=16MiB,count=1,write=%d", writes);
    if (strncmp(name, "rw_g", 4) == 0) {
        const long g = fixture_number(name, "rw_g");
        return xasprintf("copy,size=%ld,count=%ld,offset=%ld", g, total / 2 / g, (1L << 30) + (strstr(name, "_of") ? 131072 : 0));
    }
    if (strncmp(name, "rnd", 3) == 0) {
        const long size = fixture_number(name, "rnd");
        return xasprintf("random,size=%ld,count=262144,seed=%d,write=%d", size, size == 32 ? 4002 : writes ? 4003 : 4001, writes);
    }
    if (strncmp(name, "chunk", 5) == 0) {
        const long size = fixture_number(name, "chunk");
        return xasprintf("random,size=%ld,count=%ld,seed=%ld,write=%d", size, total / size, (writes ? 9000 : 5000) + size, writes);
    }
    if (strncmp(name, "lad_n", 5) == 0) {
        const long n = fixture_number(name, "lad_n");
        return xasprintf("lad,context=%ld,interleave=%d,barriers=%d", n, strstr(name, "il8") ? 8 : 1, strstr(name, "bar") != NULL);
    }
    if (strncmp(name, "stride", 6) == 0) return xasprintf("stride,stride=%ld", fixture_number(name, "stride"));
    if (strncmp(name, "rate_", 5) == 0) {
        const bool poisson = strstr(name, "poi") != NULL;
        return xasprintf("random,size=256,count=65536,seed=8000,load=%ld,arrival=%s",
                         fixture_number(name, poisson ? "poi_" : "det_"), poisson ? "poisson" : "even");
    }
    if (strcmp(name, "idle64_rd") == 0) return xstrdup("random,size=64,count=1000,seed=4009,interval_ns=200");
    return NULL;
}

/* Run a pattern; aborts when it is refused. *result is large. */
static inline void fixture_run(const struct dram_setup *setup, const char *pattern, struct dram_result *result)
{
    struct diags diags;
    diags_init(&diags);
    struct dram_pattern *p = dram_pattern_new(pattern, dram_spec_peak_gbs(setup->spec), "pattern", &diags);
    const bool ok = p && dram_run(setup, dram_pattern_source(p), result, &diags);
    if (!ok) diags_print(&diags, stderr, false);
    if (!ok) abort();
    dram_pattern_free(p);
    diags_release(&diags);
}

#endif
