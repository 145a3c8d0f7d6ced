/* LAD's event level, inside: what it reads of the equations (lad.toml), and what it saw that stands for some of them. README.md
 * holds
 * the equations (E..) and assumptions (A..) that the comments name.
 *
 * Units: seconds, bytes, cycles, but for what keeps the unit of its name in lad_closed.h.
 */
#ifndef LAD_EVENTS_H
#define LAD_EVENTS_H

#include "lad_closed.h"

#include <dse/hw.h>
#include <dse/interconnect.h>
#include <dse/local.h>
#include <dse/num.h>
#include <dse/sim.h>
#include <dse/workload.h>

enum { LAD_FILL_SLOTS = 5 /* six stages: five slots more than head-samples */ };
enum lad_stage { LAD_HBM, LAD_EAS, LAD_APID, LAD_MD, LAD_AC, LAD_STAGES };

/* What a run of the machine is of: LAD's attention over one length of a pass, or (not locality_aware) operators alone. */
struct lad_point {
    const struct lad_events_reads *p;
    const struct dse_dram *dram;
    const struct dse_links *links;
    const struct dse_local *local;
    double layers;
    uint64_t heads, kv_heads;
    bool locality_aware;
    double n, d;
    double clock_hz;
    double row_bytes, cache_bytes, g_bytes; /* a key; A..F; G: E8 */
    double passes, row_cycles;              /* E42: cycles of a VPU for a row of d elements, and for one that is used */
    double sram_bytes;
    double room, room_share; /* E15 */
    uint32_t group;          /* query heads that read their keys and values together (E40); 1: each by itself */
    struct dse_locality at;  /* of the mean head */
    double active_cv;        /* spread of |J| over heads (E12) */
    const struct lad_node {
        double weight, factor; /* E12: share of the heads; their |J| over that of the mean head */
    } * node;
    int nodes;
    /* of the closed form, mean over heads: */
    double active, prefetched; /* prefetched: with what the published memory reaches of long streams */
    double cycles, hbm_cycles, slot_cycles;
};

/* E15: positions of a head-sample with so many active ones that there is room to fetch ahead for. */
static inline double lad_room(const struct lad_point *pt, double active)
{
    return dse_max(0, pt->room - pt->p->resident_active * active) * pt->room_share;
}

/* One operator of a pass that is not LAD's attention. */
struct lad_op {
    const char *name;
    enum dse_op_kind kind;
    int at;                              /* in the list of the pass */
    double weight_bytes;                 /* a pass */
    double compute_s, bytes, sfm_s;      /* of one sequence; bytes without the weights and what spills; of the SFM, hidden or not */
    double activation_bytes, layers;     /* of one sequence and layer: moved only if they do not fit on chip */
    double activation_read;              /* share of them that is read */
    double write_bytes;                  /* part of bytes */
    bool leaves_hbm;                     /* LINEAR: computes longer than it moves, so that the HBM has idle time (E14) */
    double time_s, dram_s, moved_bytes;  /* as seen: exposed time; HBM time; on the bus */
    const struct dse_exchange *exchange; /* COLLECTIVE: in the list of the pass */
};

/* The operators of a run, each as one of `batch` sequences. */
struct lad_step {
    struct lad_op op[DSE_OPS_MAX];
    int n_ops;
    double batch;
};

/* Attention of a run as seen: all layers, heads and sequences. */
struct lad_attention {
    double time_s, fill_s;        /* fill_s is part of time_s */
    double exposed_s[LAD_STAGES]; /* time_s without fill_s, by what bounds it */
    double stage1_bytes, stage4_bytes, centers_bytes, active_bytes, others_bytes, prefetch_bytes; /* on the bus */
    double eas, apid, md, ac, longest;                                                            /* cycles, mean over heads */
    double memory_cycles, slot_cycles;
    double active, prefetched, hits; /* positions of a head-sample, mean over heads */
};

#endif
