/* The closed form over a box (dse_model.bound): the equations of the README in intervals, in the order of lad.h. What varies with
 * one parameter in numerator and denominator is divided out first: quantities are of one sequence, or of a lane of one VPU, and
 * become those of a step by its batch and those of a chip by its tiles. README.md, "Bounds", has what that rests on. */
#ifndef LAD_BOUND_H
#define LAD_BOUND_H

#include "lad.h"

#include <dse/bound.h>
#include <dse/workload_box.h>

/* struct lad_point over the box. */
struct lad_box {
    struct lad_params lo, hi;            /* without what no accepted point has: contexts, SRAM and batches that are checked */
    struct dse_cache asked_lo, asked_hi; /* as they are asked for; those of lo and hi have the least and the most of E38 */
    struct dse_interval target;
    struct lad_point at_lo, at_hi;
    bool locality_aware, prefill;
    double d, head_samples;
    struct dse_interval most;                       /* sequences that fit, of the batch that is wanted (E18) */
    struct dse_interval n, batch, each;             /* each: 1 / batch, the step's share of a sequence */
    struct dse_interval tiles, rounds, rounds_each; /* lad_rounds, and over the batch */
    struct dse_interval eas, md, ac, vpus, width, apid;
    struct dse_interval clock_hz, pass_s, stream_s, stream_rate, sram_bytes;
    struct dse_interval row, cache, position;  /* bytes: E8 */
    struct dse_interval gather, gather_slower; /* bytes on the bus of a byte gathered; seconds of one over those of a stream's */
    struct dse_locality_bound at;
    struct dse_interval active_cv;
    struct dse_interval keys_read, active_share;  /* E40 */
    struct dse_interval resident, sequence_bytes; /* E15, E17 */
};
/* With the batches that the policy may choose. False: no point of the box is accepted. */
bool lad_box_init(struct lad_box *ret, const struct lad_params *lo, const struct lad_params *hi);

/* E19, E36, E37. A column of Table III for a tile, by what it goes with: VPUs, the VPUs of AC, and SFM for each lane of the width;
 * the rest whatever the width. And the same over the VPUs of a tile. */
enum lad_group { LAD_VPU_LANES, LAD_AC_LANES, LAD_SFM_LANES, LAD_WITHOUT_LANES, LAD_GROUPS };
struct lad_modules_bound {
    struct dse_interval tile[LAD_GROUPS], a_vpu[LAD_GROUPS];
};
struct lad_chip_bound {
    struct dse_interval tile_mm2, sram_mm2, links_mm2;
    struct dse_sram_bound sram;
    struct lad_modules_bound static_mw, dynamic_mw;            /* at 1 GHz */
    double logic_energy, logic_power, sram_energy, sram_power; /* ratios of the technology */
    struct dse_supply_bound supply;
    struct dse_die_bound die;
};
/* All of a tile. */
struct dse_interval lad_tile_bound(const struct lad_modules_bound *m, struct dse_interval width);
/* False: no chip of the box can be priced. */
bool lad_chip_bound(const struct lad_params *lo, const struct lad_params *hi, struct lad_chip_bound *ret);
/* Power [mW] of one tile's SRAM under load, at the clock (A10). */
struct dse_interval lad_sram_mw_bound(const struct lad_params *lo, const struct lad_params *hi, const struct lad_chip_bound *chip);

/* An operator that is not LAD's attention, of one sequence (E20). Its rows take `passes` passes of the VPUs, which are `lanes`
 * lanes wide: ceil(k / W), and W times that. */
struct lad_op_bound {
    bool is_linear, is_attention, is_elementwise;
    struct dse_interval rows, passes, lanes; /* 0 rows: none, its time is compute_s */
    struct dse_interval compute_s, dram_s, time_s;
    struct dse_interval step_s, step_dram_s;      /* of the batch */
    struct dse_interval weight_bytes, bytes, ops; /* of the step; of the sequence, with its share of the weights */
};

/* LAD's attention of one sequence, all its head-samples (E8-E16). Counts of cycles and positions are of the mean head-sample. */
struct lad_attention_bound {
    struct dse_interval time_s, step_s;
    double apart_s; /* at least, of one sequence: were nothing fetched ahead, and were it fetched in no time */
    struct dse_interval eas, apid, md, ac, compute_cycles, memory_cycles, slot_cycles;
    struct dse_interval eas_lanes, apid_lanes, md_lanes, ac_lanes; /* cycles by what works in them: energy is proportional to it */
    struct dse_interval active, prefetched, hits;
    struct dse_interval macs, bytes; /* bytes: in periods and ahead of them */
    struct dse_interval period_bytes, prefetch_bytes, centers_bytes, active_bytes, others_bytes;
};

struct lad_step_bound {
    struct lad_op_bound op[DSE_OPS_MAX];
    int n_ops;
    struct lad_attention_bound attention;                      /* of full-cache decoding, too; 0 where it has none */
    struct dse_interval time_s, step_s;                        /* of a sequence, of the batch */
    struct dse_interval linear_s;                              /* of the batch */
    struct dse_interval bytes, vpu_ops, sfm_ops, weight_bytes; /* of a sequence; weight_bytes: of the step */
};
void lad_step_bound(const struct lad_box *box, struct lad_step_bound *ret);
/* Rows of `elements` on all VPUs: rows, passes, lanes and compute_s. */
void lad_rows_bound(const struct lad_box *b, struct dse_interval rows, struct dse_interval elements, struct lad_op_bound *ret);
void lad_attention_bound(const struct lad_box *box, const struct lad_op_bound *ops, int n_ops, struct lad_attention_bound *ret);

/* E21, E35 in intervals, of one sequence. */
struct lad_joules_bound {
    struct dse_interval leakage, clock, modules, sram, dram, interface, all;
};
struct lad_energy_bound {
    struct lad_joules_bound step;
    struct dse_interval attention; /* all of its energy, without what is fetched ahead */
    struct dse_interval chip_w;
    /* The same by what costs it: joules of what is drawn whatever is done, and its watts; of work, of all and of attention. */
    struct dse_interval drawn, watts, work, attention_work;
};
void lad_energy_bound(const struct lad_box *box, const struct lad_chip_bound *chip, const struct lad_step_bound *step,
                      struct lad_energy_bound *ret);

bool lad_bound(const void *lo, const void *hi, void *floor, void *ceiling);
/* Of a part of a box whose points are not all simple (lad_bound_llms.c). */
bool lad_llms_bound(const struct lad_params *lo, const struct lad_params *hi, const struct dse_workload_part *part,
                    struct lad_metrics *floor, struct lad_metrics *ceiling);

#endif
