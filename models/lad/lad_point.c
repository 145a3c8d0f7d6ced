/* What a point of LAD starts from: sizes, bytes, and the statistics of attention where they were measured (E34, E39). */
#include "lad_llms.h"

#include <dse/num.h>
#include <dse/units.h>

enum { PAPER_WINDOW = 16 };

/* Statistics as they were measured, for center_scale and the window of p->recent (A4). */
void lad_adjust(const struct lad_point *pt, struct dse_locality *at)
{
    at->centers = dse_min(pt->n, at->centers * pt->p->center_scale);
    at->large = dse_min(pt->n, at->large * pt->p->center_scale);
    if (pt->p->draws == LAD_SURFACE) return; /* E39: measured with the window */
    double active = at->active + (double)(pt->p->recent - PAPER_WINDOW);
    at->active = dse_min(pt->n, dse_max(active, (double)pt->p->recent));
}

static const char *read_profile(struct lad_point *pt)
{
    double from, to;
    dse_profile_range(pt->p->profile, &from, &to);
    if (pt->n < from || pt->n > to) return "the context is outside the attention profile's range (context, profile)";
    pt->at = dse_profile_at(pt->p->profile, pt->n);
    pt->active_cv = pt->p->active_cv;
    lad_adjust(pt, &pt->at);
    return NULL;
}

/* E39. */
static const char *read_surface(struct lad_point *pt)
{
    const char *why = lad_surface_read(pt->p, &pt->at);
    if (why) return why;
    pt->active_cv = pt->p->active_cv;
    lad_adjust(pt, &pt->at);
    return NULL;
}

/* E34. */
static const char *read_recording(struct lad_point *pt)
{
    size_t n;
    const double *contexts = dse_recording_contexts(pt->p->recording, &n);
    if (pt->n < contexts[0] || pt->n > contexts[n - 1]) return "the context is outside the recording's range (context, recording)";
    pt->at = dse_recording_mean(pt->p->recording, pt->n, &pt->active_cv);
    lad_adjust(pt, &pt->at);
    return NULL;
}

struct dse_locality lad_recorded(const struct lad_point *pt, size_t head, size_t step)
{
    struct dse_recorded r = dse_recording_at(pt->p->recording, pt->n, head, step);
    struct dse_locality at = {.centers = r.centers,
                              .large = r.large,
                              .active = r.active,
                              .updates = r.updates,
                              .hit_ratio = r.active > 0 ? r.hits / r.active : 0};
    lad_adjust(pt, &at);
    return at;
}

const char *lad_point_read(struct lad_point *pt)
{
    const int32_t draws = pt->p->draws;
    return draws == LAD_REPLAY ? read_recording(pt) : draws == LAD_SURFACE ? read_surface(pt) : read_profile(pt);
}

/* The width of keys and values of the layers with full attention. False: these layers are not alike. Centers are directions of
 * keys, E1 to E13 take values as wide as these, and E14 one projection. */
static bool find_width(const struct dse_llm *llm, double *ret)
{
    const struct dse_layer_kind *first = NULL;
    int64_t width = 0;
    bool one = true;
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_shape *s = &llm->kinds[i].shape;
        if (llm->kinds[i].attention != DSE_FULL) continue;
        if (!first) first = &llm->kinds[i];
        one = one && (s->value_dim == 0 || s->value_dim == s->head_dim) && llm->kinds[i].same_heads == first->same_heads;
        width = s->head_dim;
    }
    *ret = (double)(width > 0 ? width : llm->head_dim);
    return one;
}

bool lad_works(const struct lad_params *p)
{
    const struct dse_llm *llm = p->workload.llm;
    if (p->decoding != LAD_LOCALITY_AWARE || p->workload.phase != DSE_DECODE) return false;
    for (size_t i = 0; i < llm->n_kinds; i++)
        if (llm->kinds[i].attention == DSE_FULL) return true;
    return false;
}

static void set_footprint(struct lad_point *pt)
{
    const struct lad_params *p = pt->p;
    struct dse_workload none = p->workload;
    none.batch = 0;
    pt->weights_bytes = dse_workload_footprint(&none);
    pt->sequence_bytes = pt->cache.held * dse_kv_bytes_per_token(pt->llm, dse_kv_bits(&p->workload));
    pt->sequence_bytes += (double)pt->llm->layers * pt->cache.besides_bytes;
    if (!pt->locality_aware) return;
    double counters = p->counters == LAD_COUNTED ? (double)p->intervals * LAD_COUNTER_BYTES : 0;
    pt->sequence_bytes += pt->head_samples * (pt->cache_bytes + pt->n * (pt->position_bytes + counters));
}

/* Rows that are read one by one where they lie move whole bursts, and wait for more than their bytes. Why not, or NULL. */
static const char *set_gather(struct lad_point *pt)
{
    const struct dse_dram *dram = &pt->p->dram;
    const char *why = dse_dram_check(dram);
    if (why) return why;
    pt->gather_factor = dse_dram_moved(dram, 1, pt->row_bytes);
    pt->gather_s = dse_dram_seconds(dram, 1, pt->row_bytes) / pt->gather_factor;
    return NULL;
}

const char *lad_point_begin(struct lad_point *ret, const struct lad_params *p)
{
    const char *why = dse_workload_check(&p->workload, LAD_CAN);
    if (why) return why;
    const struct dse_llm *llm = p->workload.llm;
    double d;
    const bool one_width = find_width(llm, &d);
    *ret = (struct lad_point){
        .p = p,
        .llm = llm,
        .is_simple = lad_is_simple(&p->workload),
        .chips = (double)dse_workload_chips(&p->workload),
        .locality_aware = lad_works(p),
        .n = (double)p->workload.context,
        .d = d,
        .layers = (double)llm->layers,
        .head_samples = (double)(llm->layers * llm->heads),
        .group = 1,
        .newest = (double)p->recent,
        .clock_hz = p->clock_ghz * DSE_GIGA,
        .row_bytes = d * dse_kv_bits(&p->workload) / DSE_BITS_PER_BYTE,
        .cache_bytes = lad_cache_elements(d) * (double)p->cache_bits / DSE_BITS_PER_BYTE,
        .position_bytes = (double)p->position_bits / DSE_BITS_PER_BYTE,
        .stream_s = dse_dram_stream_seconds(&p->dram, 1),
        .pass_s = 1 / ((double)(p->tiles * (p->vpu_eas + p->vpu_md + p->vpu_ac)) * p->clock_ghz * DSE_GIGA),
        .gather_factor = 1,
        .sram_bytes = p->sram_mib * DSE_MIB,
    };
    ret->gather_s = ret->stream_s;
    dse_cache_step_at(&p->cache, &p->workload, &ret->cache);
    if (ret->is_simple) set_footprint(ret);
    if (!ret->locality_aware) return NULL;
    if (!one_width)
        return "locality-aware decoding needs heads, keys and values of one kind in all layers with full attention (decoding, llm)";
    if (p->group_reads == LAD_READS_UNION) ret->group = llm->heads / llm->kv_heads;
    return p->gather == LAD_GATHER_ROWS ? set_gather(ret) : NULL;
}

const char *lad_point_init(struct lad_point *ret, const struct lad_params *p)
{
    const char *why = lad_point_begin(ret, p);
    return why || !ret->locality_aware ? why : lad_point_read(ret);
}
