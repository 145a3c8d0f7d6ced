/* LAD's parameters and metrics as structs, for tests that set many of them: laid out as a model in TOML lays them out, which
 * lad_struct_check proves. */
#ifndef DSE_TESTS_LAD_STRUCT_H
#define DSE_TESTS_LAD_STRUCT_H

#include "model/registry.h"

#include <dse/cache.h>
#include <dse/chip.h>
#include <dse/cost.h>
#include <dse/hw.h>
#include <dse/interconnect.h>
#include <dse/local.h>
#include <dse/sim.h>
#include <dse/workload.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LAD_EQ7, LAD_EXACT };
enum { LAD_PARTITIONED, LAD_BARRIER, LAD_BALANCED };
enum { LAD_WRITE_BEFORE, LAD_WRITE_AFTER };
enum { LAD_FILL_IGNORED, LAD_FILL_STEP, LAD_FILL_LAYER };
enum { LAD_GATHER_STREAM, LAD_GATHER_ROWS };
enum { LAD_READS_HEAD, LAD_READS_UNION };
enum { LAD_IGNORED, LAD_COUNTED };
enum { LAD_PREFETCH_OFF, LAD_PREFETCH_LIMITED, LAD_PREFETCH_IDEAL };
enum { LAD_BATCH_FIXED, LAD_BATCH_FIT_MEMORY, LAD_BATCH_TILE_MULTIPLE, LAD_BATCH_BEST_THROUGHPUT };
enum { LAD_HIDDEN, LAD_EXPOSED };
enum { LAD_STAGE_HBM, LAD_STAGE_EAS, LAD_STAGE_APID, LAD_STAGE_MD, LAD_STAGE_AC, LAD_STAGE_VPU };
enum { LAD_PUBLISHED_GHZ = 1 };

struct lad_params {
    struct dse_workload workload;
    struct dse_cache cache;
    struct dse_economics economics;
    struct dse_dram dram;
    struct dse_links links;
    struct dse_local local;
    struct dse_events events;
    _Alignas(8) int64_t tiles;
    _Alignas(8) double sram_mib;
    _Alignas(8) int64_t vpu_eas;
    _Alignas(8) int64_t vpu_md;
    _Alignas(8) int64_t vpu_ac;
    _Alignas(8) int64_t vpu_width;
    _Alignas(8) int64_t apid_width;
    _Alignas(8) double clock_ghz;
    _Alignas(8) int64_t cache_bits;
    _Alignas(8) int64_t position_bits;
    _Alignas(8) double score_sd;
    _Alignas(8) int32_t pipeline;
    _Alignas(8) int32_t slots;
    _Alignas(8) int32_t write_back;
    _Alignas(8) int32_t fill;
    _Alignas(8) int32_t gather;
    _Alignas(8) int32_t slot_ends;
    _Alignas(8) int32_t group_reads;
    _Alignas(8) int32_t counters;
    _Alignas(8) int64_t accumulator_cycles;
    _Alignas(8) int32_t prefetch;
    _Alignas(8) int32_t vain_prefetch;
    _Alignas(8) int32_t batch_policy;
    _Alignas(8) int32_t elementwise;
    _Alignas(8) int64_t resident_g;
    _Alignas(8) int64_t resident_centers;
    _Alignas(8) int64_t resident_caches;
    _Alignas(8) int64_t resident_active;
    _Alignas(8) int64_t resident_activations;
    _Alignas(8) const struct dse_sram_table *sram;
    _Alignas(8) int64_t sram_word_bits;
    _Alignas(8) const struct dse_technology *technology;
    _Alignas(8) int32_t power;
    _Alignas(8) int32_t area;
    _Alignas(8) double sequence_cv;
    _Alignas(8) double weight_buffer_kib;
    _Alignas(8) double dma_window_kib;
    _Alignas(8) int64_t active_fifo;
    _Alignas(8) int64_t update_fifo;
    _Alignas(8) int64_t heads_simulated;
    _Alignas(8) double stream_mib;
    _Alignas(8) int64_t sram_ports;
};

struct lad_metrics {
    struct dse_common common;
    _Alignas(8) double batch_used;
    _Alignas(8) double idle_slots;
    _Alignas(8) double linear_us;
    _Alignas(8) double attention_share;
    _Alignas(8) double communication_us;
    _Alignas(8) double eas_cycles;
    _Alignas(8) double apid_cycles;
    _Alignas(8) double md_cycles;
    _Alignas(8) double ac_cycles;
    _Alignas(8) double compute_cycles;
    _Alignas(8) double memory_cycles;
    _Alignas(8) double slot_cycles;
    _Alignas(8) int32_t attention_bound;
    _Alignas(8) double centers;
    _Alignas(8) double active;
    _Alignas(8) double prefetched;
    _Alignas(8) double hit_ratio;
    _Alignas(8) double cached_positions;
    _Alignas(8) double technique_mib;
    _Alignas(8) double retained_mass;
    _Alignas(8) double attention_error;
    _Alignas(8) double attention_error_sd;
    _Alignas(8) double task_score;
    _Alignas(8) double task_loss;
    _Alignas(8) double false_negative;
    _Alignas(8) double sram_resident_mib;
    _Alignas(8) double dram_footprint_gib;
    _Alignas(8) double centers_mib;
    _Alignas(8) double active_mib;
    _Alignas(8) double others_mib;
    _Alignas(8) double prefetch_mib;
    _Alignas(8) double weights_mib;
    _Alignas(8) double full_cache_mib;
    _Alignas(8) double attention_energy_mj;
    _Alignas(8) double energy_dram_mj;
    _Alignas(8) double energy_sram_mj;
    _Alignas(8) double energy_modules_mj;
    _Alignas(8) double energy_clock_mj;
    _Alignas(8) double energy_leakage_mj;
    _Alignas(8) double energy_interface_mj;
    _Alignas(8) double supply_v;
    _Alignas(8) double tokens_per_j;
    _Alignas(8) double chip_power_w;
    _Alignas(8) double core_mm2;
    _Alignas(8) double phy_mm2;
    _Alignas(8) double noc_mm2;
    _Alignas(8) double links_mm2;
    _Alignas(8) double tile_area_mm2;
    _Alignas(8) double sram_area_share;
};

static inline void lad_struct_field(const struct schema *s, const char *name, size_t offset)
{
    const struct field *f = schema_find(s, name);
    if (f && f->offset == offset) return;
    fprintf(stderr, "lad_struct.h: %s is not where lad.toml has it\n", name);
    abort();
}

static inline const struct model *lad_model(void)
{
    const struct model *m = registry_find("lad");
    lad_struct_field(&m->params, "llm", offsetof(struct lad_params, workload.llm));
    lad_struct_field(&m->params, "eviction", offsetof(struct lad_params, cache.eviction));
    lad_struct_field(&m->params, "bandwidth_gbs", offsetof(struct lad_params, dram.bandwidth_gbs));
    lad_struct_field(&m->params, "decoding", offsetof(struct lad_params, local.decoding));
    lad_struct_field(&m->params, "seed", offsetof(struct lad_params, events.seed));
    lad_struct_field(&m->params, "tiles", offsetof(struct lad_params, tiles));
    lad_struct_field(&m->params, "sram_mib", offsetof(struct lad_params, sram_mib));
    lad_struct_field(&m->params, "vpu_eas", offsetof(struct lad_params, vpu_eas));
    lad_struct_field(&m->params, "vpu_md", offsetof(struct lad_params, vpu_md));
    lad_struct_field(&m->params, "vpu_ac", offsetof(struct lad_params, vpu_ac));
    lad_struct_field(&m->params, "vpu_width", offsetof(struct lad_params, vpu_width));
    lad_struct_field(&m->params, "apid_width", offsetof(struct lad_params, apid_width));
    lad_struct_field(&m->params, "clock_ghz", offsetof(struct lad_params, clock_ghz));
    lad_struct_field(&m->params, "cache_bits", offsetof(struct lad_params, cache_bits));
    lad_struct_field(&m->params, "position_bits", offsetof(struct lad_params, position_bits));
    lad_struct_field(&m->params, "score_sd", offsetof(struct lad_params, score_sd));
    lad_struct_field(&m->params, "pipeline", offsetof(struct lad_params, pipeline));
    lad_struct_field(&m->params, "slots", offsetof(struct lad_params, slots));
    lad_struct_field(&m->params, "write_back", offsetof(struct lad_params, write_back));
    lad_struct_field(&m->params, "fill", offsetof(struct lad_params, fill));
    lad_struct_field(&m->params, "gather", offsetof(struct lad_params, gather));
    lad_struct_field(&m->params, "slot_ends", offsetof(struct lad_params, slot_ends));
    lad_struct_field(&m->params, "group_reads", offsetof(struct lad_params, group_reads));
    lad_struct_field(&m->params, "counters", offsetof(struct lad_params, counters));
    lad_struct_field(&m->params, "accumulator_cycles", offsetof(struct lad_params, accumulator_cycles));
    lad_struct_field(&m->params, "prefetch", offsetof(struct lad_params, prefetch));
    lad_struct_field(&m->params, "vain_prefetch", offsetof(struct lad_params, vain_prefetch));
    lad_struct_field(&m->params, "batch_policy", offsetof(struct lad_params, batch_policy));
    lad_struct_field(&m->params, "elementwise", offsetof(struct lad_params, elementwise));
    lad_struct_field(&m->params, "resident_g", offsetof(struct lad_params, resident_g));
    lad_struct_field(&m->params, "resident_centers", offsetof(struct lad_params, resident_centers));
    lad_struct_field(&m->params, "resident_caches", offsetof(struct lad_params, resident_caches));
    lad_struct_field(&m->params, "resident_active", offsetof(struct lad_params, resident_active));
    lad_struct_field(&m->params, "resident_activations", offsetof(struct lad_params, resident_activations));
    lad_struct_field(&m->params, "sram", offsetof(struct lad_params, sram));
    lad_struct_field(&m->params, "sram_word_bits", offsetof(struct lad_params, sram_word_bits));
    lad_struct_field(&m->params, "technology", offsetof(struct lad_params, technology));
    lad_struct_field(&m->params, "power", offsetof(struct lad_params, power));
    lad_struct_field(&m->params, "area", offsetof(struct lad_params, area));
    lad_struct_field(&m->params, "sequence_cv", offsetof(struct lad_params, sequence_cv));
    lad_struct_field(&m->params, "weight_buffer_kib", offsetof(struct lad_params, weight_buffer_kib));
    lad_struct_field(&m->params, "dma_window_kib", offsetof(struct lad_params, dma_window_kib));
    lad_struct_field(&m->params, "active_fifo", offsetof(struct lad_params, active_fifo));
    lad_struct_field(&m->params, "update_fifo", offsetof(struct lad_params, update_fifo));
    lad_struct_field(&m->params, "heads_simulated", offsetof(struct lad_params, heads_simulated));
    lad_struct_field(&m->params, "stream_mib", offsetof(struct lad_params, stream_mib));
    lad_struct_field(&m->params, "sram_ports", offsetof(struct lad_params, sram_ports));
    lad_struct_field(&m->metrics, "batch_used", offsetof(struct lad_metrics, batch_used));
    lad_struct_field(&m->metrics, "idle_slots", offsetof(struct lad_metrics, idle_slots));
    lad_struct_field(&m->metrics, "linear_us", offsetof(struct lad_metrics, linear_us));
    lad_struct_field(&m->metrics, "attention_share", offsetof(struct lad_metrics, attention_share));
    lad_struct_field(&m->metrics, "communication_us", offsetof(struct lad_metrics, communication_us));
    lad_struct_field(&m->metrics, "eas_cycles", offsetof(struct lad_metrics, eas_cycles));
    lad_struct_field(&m->metrics, "apid_cycles", offsetof(struct lad_metrics, apid_cycles));
    lad_struct_field(&m->metrics, "md_cycles", offsetof(struct lad_metrics, md_cycles));
    lad_struct_field(&m->metrics, "ac_cycles", offsetof(struct lad_metrics, ac_cycles));
    lad_struct_field(&m->metrics, "compute_cycles", offsetof(struct lad_metrics, compute_cycles));
    lad_struct_field(&m->metrics, "memory_cycles", offsetof(struct lad_metrics, memory_cycles));
    lad_struct_field(&m->metrics, "slot_cycles", offsetof(struct lad_metrics, slot_cycles));
    lad_struct_field(&m->metrics, "attention_bound", offsetof(struct lad_metrics, attention_bound));
    lad_struct_field(&m->metrics, "centers", offsetof(struct lad_metrics, centers));
    lad_struct_field(&m->metrics, "active", offsetof(struct lad_metrics, active));
    lad_struct_field(&m->metrics, "prefetched", offsetof(struct lad_metrics, prefetched));
    lad_struct_field(&m->metrics, "hit_ratio", offsetof(struct lad_metrics, hit_ratio));
    lad_struct_field(&m->metrics, "cached_positions", offsetof(struct lad_metrics, cached_positions));
    lad_struct_field(&m->metrics, "technique_mib", offsetof(struct lad_metrics, technique_mib));
    lad_struct_field(&m->metrics, "retained_mass", offsetof(struct lad_metrics, retained_mass));
    lad_struct_field(&m->metrics, "attention_error", offsetof(struct lad_metrics, attention_error));
    lad_struct_field(&m->metrics, "attention_error_sd", offsetof(struct lad_metrics, attention_error_sd));
    lad_struct_field(&m->metrics, "task_score", offsetof(struct lad_metrics, task_score));
    lad_struct_field(&m->metrics, "task_loss", offsetof(struct lad_metrics, task_loss));
    lad_struct_field(&m->metrics, "false_negative", offsetof(struct lad_metrics, false_negative));
    lad_struct_field(&m->metrics, "sram_resident_mib", offsetof(struct lad_metrics, sram_resident_mib));
    lad_struct_field(&m->metrics, "dram_footprint_gib", offsetof(struct lad_metrics, dram_footprint_gib));
    lad_struct_field(&m->metrics, "centers_mib", offsetof(struct lad_metrics, centers_mib));
    lad_struct_field(&m->metrics, "active_mib", offsetof(struct lad_metrics, active_mib));
    lad_struct_field(&m->metrics, "others_mib", offsetof(struct lad_metrics, others_mib));
    lad_struct_field(&m->metrics, "prefetch_mib", offsetof(struct lad_metrics, prefetch_mib));
    lad_struct_field(&m->metrics, "weights_mib", offsetof(struct lad_metrics, weights_mib));
    lad_struct_field(&m->metrics, "full_cache_mib", offsetof(struct lad_metrics, full_cache_mib));
    lad_struct_field(&m->metrics, "attention_energy_mj", offsetof(struct lad_metrics, attention_energy_mj));
    lad_struct_field(&m->metrics, "energy_dram_mj", offsetof(struct lad_metrics, energy_dram_mj));
    lad_struct_field(&m->metrics, "energy_sram_mj", offsetof(struct lad_metrics, energy_sram_mj));
    lad_struct_field(&m->metrics, "energy_modules_mj", offsetof(struct lad_metrics, energy_modules_mj));
    lad_struct_field(&m->metrics, "energy_clock_mj", offsetof(struct lad_metrics, energy_clock_mj));
    lad_struct_field(&m->metrics, "energy_leakage_mj", offsetof(struct lad_metrics, energy_leakage_mj));
    lad_struct_field(&m->metrics, "energy_interface_mj", offsetof(struct lad_metrics, energy_interface_mj));
    lad_struct_field(&m->metrics, "supply_v", offsetof(struct lad_metrics, supply_v));
    lad_struct_field(&m->metrics, "tokens_per_j", offsetof(struct lad_metrics, tokens_per_j));
    lad_struct_field(&m->metrics, "chip_power_w", offsetof(struct lad_metrics, chip_power_w));
    lad_struct_field(&m->metrics, "core_mm2", offsetof(struct lad_metrics, core_mm2));
    lad_struct_field(&m->metrics, "phy_mm2", offsetof(struct lad_metrics, phy_mm2));
    lad_struct_field(&m->metrics, "noc_mm2", offsetof(struct lad_metrics, noc_mm2));
    lad_struct_field(&m->metrics, "links_mm2", offsetof(struct lad_metrics, links_mm2));
    lad_struct_field(&m->metrics, "tile_area_mm2", offsetof(struct lad_metrics, tile_area_mm2));
    lad_struct_field(&m->metrics, "sram_area_share", offsetof(struct lad_metrics, sram_area_share));
    return m;
}
/* What dse eval lad --equations prints. */
struct lad_equations {
    double sram_area_mm2;
    double head_dim;
    double cache_elements;
    double active_elements;
    double dense_elements;
    double eq4_fixed_macs;
    double eq4_active_macs;
    double merged_active_macs;
    double dense_macs;
    double coefficient_entries;
    double softmax_mse;
    double eas_center_cycles;
    double eas_position_cycles;
    double apid_position_cycles;
    double md_active_cycles;
    double ac_active_cycles;
    double ac_update_cycles;
    double vpu_lanes_used;
    double mode_share;
    double repeat_share;
    double layer_weights_mib;
    double layer_kv_mib;
    double tile_dynamic_mw;
    double tile_static_mw;
    double sram_dynamic_mw;
    double sram_static_mw;
    double compute_area_share;
    double compute_power_share;
};
static inline struct lad_equations lad_equate(const struct lad_params *p)
{
    struct lad_equations ret;
    const struct dse_model *m = lad_model()->desc;
    if (m->equations_size != sizeof ret) abort();
    m->equate(p, &ret);
    return ret;
}
#define dse_model_lad (*lad_model()->desc)

#endif
