/* For tests and benches of LAD: the catalog entries it needs, read from the shipped files, and the published point as a struct. */
#ifndef DSE_TESTS_LAD_FIXTURE_H
#define DSE_TESTS_LAD_FIXTURE_H

#include "config/catalog.h"
#include "entries.h"
#include "hw/sram.h"
#include "lad_struct.h"
#include "quality/profile.h"
#include "quality/recording.h"

struct lad_fixture {
    struct catalog *catalog;       /* as shipped: what has its own reader below is read by that */
    const struct dse_costs *costs; /* its book "public" */
    struct entries llms, memories;
    struct dse_profile *profile;
    struct dse_recording *recording;
    struct dse_sram_table *table3, *cacti;
    struct dse_technology *nodes;
    size_t n_nodes;
    char **node_names;
    struct lad_params defaults; /* as models/lad/lad.toml has them but with the paper's statistics, intervals and DRAM, resolved */
};

static inline char *fixture_path(const char *file)
{
    return xasprintf("%s/catalog/%s", DSE_SOURCE_DATA, file);
}

static inline struct dse_profile *fixture_profile(const char *file)
{
    struct rows r;
    char *path = fixture_path(file);
    rows_read_csv(&r, path);
    double *context = xcalloc(r.n, sizeof *context);
    struct dse_locality *at = xcalloc(r.n, sizeof *at);
    for (size_t i = 0; i < r.n; i++) {
        context[i] = rows_number(&r, i, "context");
        at[i] = (struct dse_locality){.centers = rows_number(&r, i, "centers"),
                                      .large = rows_number(&r, i, "large"),
                                      .active = rows_number(&r, i, "active"),
                                      .updates = rows_number(&r, i, "updates"),
                                      .hit_ratio = rows_number(&r, i, "hit_ratio")};
    }
    struct dse_profile *p = profile_new(file, "", context, at, r.n, &(struct row_fault){0});
    if (!p) abort();
    free(context);
    free(at);
    free(path);
    rows_release(&r);
    return p;
}

static inline struct dse_recording *fixture_recording(const char *file)
{
    struct rows r;
    char *path = fixture_path(file);
    rows_read_csv(&r, path);
    struct recording_row *rows = xcalloc(r.n, sizeof *rows);
    for (size_t i = 0; i < r.n; i++)
        rows[i] = (struct recording_row){rows_number(&r, i, "context"),
                                         rows_number(&r, i, "head"),
                                         rows_number(&r, i, "step"),
                                         {.centers = rows_number(&r, i, "centers"),
                                          .large = rows_number(&r, i, "large"),
                                          .active = rows_number(&r, i, "active"),
                                          .updates = rows_number(&r, i, "updates"),
                                          .hits = rows_number(&r, i, "hits")}};
    struct dse_recording *recording = recording_new(file, "", rows, r.n, &(struct row_fault){0});
    if (!recording) abort();
    free(rows);
    free(path);
    rows_release(&r);
    return recording;
}

static inline struct dse_sram_table *fixture_sram(const char *name)
{
    struct rows r;
    char *path = fixture_path("sram.csv"), *why = NULL;
    rows_read_csv(&r, path);
    struct dse_sram_table *t = NULL;
    for (size_t i = 0; i < r.n; i++) {
        if (strcmp(rows_string(&r, i, "name"), name) != 0) continue;
        if (!t) t = sram_table_new(name, "", rows_number(&r, i, "node_nm"));
        struct dse_sram macro = {.area_mm2 = rows_number(&r, i, "area_mm2"),
                                 .leakage_mw = rows_number(&r, i, "leakage_mw"),
                                 .read_pj = rows_number(&r, i, "read_pj"),
                                 .write_pj = rows_number(&r, i, "write_pj"),
                                 .dynamic_mw = rows_number(&r, i, "dynamic_mw"),
                                 .access_ns = rows_number(&r, i, "access_ns")};
        sram_table_add(t, rows_number(&r, i, "capacity_mib"), rows_number(&r, i, "word_bits"), &macro);
    }
    if (!t || !sram_table_finish(t, &why)) abort();
    free(path);
    rows_release(&r);
    return t;
}

/* All nodes, those of one method in a ring. */
static inline void fixture_nodes(struct lad_fixture *f)
{
    struct rows r;
    char *path = fixture_path("technology.csv");
    rows_read_csv(&r, path);
    f->n_nodes = r.n;
    f->nodes = xcalloc(r.n, sizeof *f->nodes);
    f->node_names = xcalloc(2 * r.n, sizeof *f->node_names);
    for (size_t i = 0; i < r.n; i++) {
        f->node_names[2 * i] = xstrdup(rows_string(&r, i, "name"));
        f->node_names[2 * i + 1] = xstrdup(rows_string(&r, i, "method"));
        f->nodes[i] = (struct dse_technology){.entry = {.name = f->node_names[2 * i], .source = ""},
                                              .method = f->node_names[2 * i + 1],
                                              .node_nm = rows_number(&r, i, "node_nm"),
                                              .vdd_v = rows_number(&r, i, "vdd_v"),
                                              .area = rows_number(&r, i, "area"),
                                              .sram_area = rows_number(&r, i, "sram_area"),
                                              .energy = rows_number(&r, i, "energy"),
                                              .delay = rows_number(&r, i, "delay"),
                                              .power = rows_number(&r, i, "power"),
                                              .sibling = &f->nodes[i]};
        for (size_t j = 0; j < i; j++) {
            if (strcmp(f->nodes[j].method, f->nodes[i].method) != 0) continue;
            f->nodes[i].sibling = f->nodes[j].sibling;
            f->nodes[j].sibling = &f->nodes[i];
            break;
        }
    }
    free(path);
    rows_release(&r);
}

static inline const struct dse_technology *fixture_node(const struct lad_fixture *f, const char *name)
{
    for (size_t i = 0; i < f->n_nodes; i++)
        if (strcmp(f->nodes[i].entry.name, name) == 0) return &f->nodes[i];
    abort();
}

static inline const struct dse_llm *fixture_llm(const struct lad_fixture *f, const char *name)
{
    return entries_find(&f->llms, name);
}

static inline struct dse_links fixture_links(const struct lad_fixture *f)
{
    const struct dse_interconnect *i = (const void *)catalog_find(f->catalog, DSE_KIND_INTERCONNECT, "board-112g-ring");
    return (struct dse_links){
        .interconnect = i,
        .link_gbs = i->link_gbs,
        .link_share = i->link_share,
        .link_latency_us = i->link_latency_us,
        .link_pj_per_bit = i->link_pj_per_bit,
        .linked_devices = i->linked_devices,
        .link_topology = i->link_topology,
        .link_reduce_share = i->link_reduce_share,
        .link_reduce_us = i->link_reduce_us,
        .outer_interconnect = (const void *)catalog_find(f->catalog, DSE_KIND_INTERCONNECT, "ethernet-100g"),
        .allreduce = DSE_ALLREDUCE_BEST,
        .collective_start_us = 2,
    };
}

static inline struct lad_params fixture_defaults(const struct lad_fixture *f)
{
    const struct dse_memory *memory = entries_find(&f->memories, "hbm2-5cube");
    struct lad_params p = {
        .workload = {.llm = fixture_llm(f, "llama2-7b"),
                     .phase = DSE_DECODE,
                     .batch = 12,
                     .context = 2048,
                     .weight_bits = 16,
                     .kv_bits = 16,
                     .activation_bits = 16,
                     .latent_form = DSE_LATENT_BY_PHASE,
                     .routing = DSE_ROUTING_UNIFORM,
                     .routing_exponent = 1.2,
                     .speculation = {.drafter = DSE_DRAFT_LAYER,
                                     .draft = fixture_llm(f, "llama3.2-1b"),
                                     .acceptance = 0.8,
                                     .acceptance_decay = 1},
                     .tensor_parallel = 1,
                     .pipeline_parallel = 1,
                     .data_parallel = 1,
                     .expert_parallel = 1},
        .cache = {.eviction_ratio = 0.5,
                  .reserved_length = 32,
                  .threshold_a = 1,
                  .threshold_b = 0.2,
                  .recent_share = 0.5,
                  .sinks = 4,
                  .observed = 32,
                  .pool = 7,
                  .beta = 20,
                  .page = 16,
                  .kv_residual = 128,
                  .quality_from = DSE_FROM_SURFACE,
                  .surface = (const void *)catalog_find(f->catalog, DSE_KIND_QUALITY, "codellama-13b"),
                  .retention = (const void *)catalog_find(f->catalog, DSE_KIND_RETENTION, "codellama-13b-bulk"),
                  .vote_bits = 16},
        .economics = {.costs = f->costs,
                      .prices = DSE_TYPICAL,
                      .price_year = 2026,
                      .life_years = (double)NAN,
                      .busy_share = (double)NAN,
                      .pue = (double)NAN,
                      .electricity_usd_kwh = (double)NAN,
                      .devices_per_server = 8,
                      .mask_sets = 1},
        .dram = {.memory = memory,
                 .channels = memory->channels,
                 .channel_gbs = memory->channel_gbs,
                 .bandwidth_gbs = (double)NAN,
                 .dram_efficiency = 0.871,
                 .dram_pj_per_bit = memory->dram_pj_per_bit,
                 .burst_bytes = memory->burst_bytes,
                 .capacity_gib = memory->capacity_gib,
                 .timing = memory->timing},
        .links = fixture_links(f),
        .tiles = 6,
        .sram_mib = 2.5,
        .vpu_eas = 2,
        .vpu_md = 2,
        .vpu_ac = 3,
        .vpu_width = 128,
        .apid_width = 12,
        .clock_ghz = 1,
        .cache_bits = 16,
        .position_bits = 64,
        .local = {.decoding = DSE_LOCALITY_AWARE,
                  .intervals = 5,
                  .recent = 16,
                  .profile = f->profile,
                  .draws = DSE_DRAWS_PROFILE,
                  .recording = f->recording,
                  .center_scale = 1,
                  .active_cv = 0.7},
        .score_sd = 1.7,
        .pipeline = LAD_EQ7,
        .slots = LAD_BARRIER,
        .write_back = LAD_WRITE_AFTER,
        .fill = LAD_FILL_STEP,
        .gather = LAD_GATHER_STREAM,
        .group_reads = LAD_READS_HEAD,
        .counters = LAD_IGNORED,
        .prefetch = LAD_PREFETCH_IDEAL,
        .vain_prefetch = LAD_IGNORED,
        .batch_policy = LAD_BATCH_FIXED,
        .elementwise = LAD_HIDDEN,
        .resident_g = 6,
        .resident_centers = 3,
        .resident_caches = 4,
        .resident_active = 4,
        .resident_activations = 3,
        .sram = f->table3,
        .sram_word_bits = 256,
        .technology = fixture_node(f, "22nm"),
        .events = {.seed = 1, .layers_simulated = 2},
        .sequence_cv = 0.1,
        .weight_buffer_kib = 128,
        .dma_window_kib = 32,
        .active_fifo = 1024,
        .update_fifo = 16,
    };
    dse_model_lad.resolve(&p);
    return p;
}

static inline void lad_fixture_init(struct lad_fixture *f)
{
    struct diags diags = {0};
    f->catalog = catalog_new(DSE_SOURCE_DATA, &diags);
    f->costs = (const void *)catalog_find(f->catalog, DSE_KIND_COSTS, "public");
    entries_read(&f->llms, dse_llm_fields, "llms.toml");
    entries_keep_plain_llms(&f->llms);
    entries_read(&f->memories, dse_memory_fields, "memories.toml");
    f->profile = fixture_profile("profiles/published-fit.csv");
    f->recording = fixture_recording("recordings/tinyllama.csv");
    f->table3 = fixture_sram("lad-table3-extended");
    f->cacti = fixture_sram("cacti-22nm-hp-1rw");
    fixture_nodes(f);
    f->defaults = fixture_defaults(f);
}

static inline void lad_fixture_release(struct lad_fixture *f)
{
    catalog_free(f->catalog);
    entries_release(&f->llms);
    entries_release(&f->memories);
    profile_free(f->profile);
    recording_free(f->recording);
    sram_table_free(f->table3);
    sram_table_free(f->cacti);
    for (size_t i = 0; i < 2 * f->n_nodes; i++) free(f->node_names[i]);
    free(f->node_names);
    free(f->nodes);
}

#endif
