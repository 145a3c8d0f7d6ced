/* LAD's decoding as a group of shared parameters: attention of a decode step reads the positions whose score left the mode of their
 * history, and a summary of all others (H. Wang et al., LAD, HPCA 2025). What a machine does for it is the machine's; how many
 * positions
 * there are, and what the output loses, was measured on heads: by a profile, a recording or a surface.
 *
 * A model embeds struct dse_local beside its workload and its cache, whose `surface` has the surfaces:
 *     DSE_EMBED(struct my_params, local, struct dse_local, dse_local_params)
 *
 * All functions are pure and thread-safe.
 */
#ifndef DSE_LOCAL_H
#define DSE_LOCAL_H

#include <dse/bound.h>
#include <dse/cache.h>
#include <dse/catalog.h>
#include <dse/model.h>
#include <dse/workload.h>

enum dse_local_decoding { DSE_LOCALITY_AWARE, DSE_FULL_CACHE };
enum dse_local_draws { DSE_DRAWS_PROFILE, DSE_DRAWS_REPLAY, DSE_DRAWS_SURFACE };

struct dse_local {
    int32_t decoding; /* enum dse_local_decoding */
    int64_t intervals, recent;
    const struct dse_profile *profile;
    int32_t draws; /* enum dse_local_draws */
    const struct dse_recording *recording;
    double center_scale, active_cv;
};
extern const struct dse_param dse_local_params[];
/* The row of decoding in dse_model.techniques. */
extern const char *const dse_local_only[];
#define DSE_LOCAL_TECHNIQUE \
    { \
        "decoding", "full-cache", dse_local_only \
    }

/* What the functions below read. All are borrowed. */
struct dse_local_of {
    const struct dse_local *local;
    const struct dse_cache *cache;
    const struct dse_workload *workload;
};

/* Is there a layer that this decoding works on: in a decode step full attention of the LLM itself? Of other layers attention is
 * exact. */
bool dse_local_works(const struct dse_local *l, const struct dse_workload *w);

/* NULL, or why it does not go together with the cache, the drafts or the heads of the LLM, or why there are no statistics at the
 * context of the workload. */
const char *dse_local_check(const struct dse_local_of *o);

/* ---- statistics --------------------------------------------------------------------------------------------------------- */

/* Positions of the mean head at a context, for center_scale and the window of `recent`; *ret_cv: their spread over heads. NULL,
 * or why there are none; then nothing is written. */
const char *dse_local_at(const struct dse_local_of *o, double context, struct dse_locality *ret, double *ret_cv);
/* Rows that are read for `heads` heads of `count` among n positions each, of which the same `newest` are in all, as far as there
 * are as many, and the others are chosen independently; over heads * count: 1 for one head, 1 / heads when all are read. */
double dse_local_shared(double n, double count, double newest, int64_t heads);
/* The same over a box. */
struct dse_interval dse_local_shared_bound(struct dse_interval n, struct dse_interval count, struct dse_interval newest,
                                           int64_t heads);
/* Statistics as they were measured, for center_scale and the window. */
void dse_local_adjust(const struct dse_local *l, double context, struct dse_locality *at);
/* A step of a head of the recording at the context, adjusted; draws = "replay". */
struct dse_locality dse_local_recorded(const struct dse_local *l, double context, size_t head, size_t step);
/* Over a box whose ends are lo and hi, of contexts in between. False: no point of it has statistics. *ret_all: all have. */
bool dse_local_bound(const struct dse_local_of *lo, const struct dse_local_of *hi, struct dse_interval context,
                     struct dse_locality_bound *ret, struct dse_interval *ret_cv, bool *ret_all);
/* A setting that the statistics depend on and that was another one when they were measured, as a sentence; NULL: there is none. */
const char *dse_local_unlike(const struct dse_local_of *o);

/* ---- quality ------------------------------------------------------------------------------------------------------------ */

/* Where it works: what the output loses; NaN where nobody measured it. */
struct dse_local_loss {
    double error, error_sd, false_negative;
    double task_score, task_loss; /* of the method "lad" */
};
void dse_local_quality(const struct dse_local_of *o, struct dse_local_loss *ret);
/* Over a box: numbers where nothing varies that they depend on; else unbounded. */
void dse_local_quality_bound(const struct dse_local_of *lo, const struct dse_local_of *hi, struct dse_interval context,
                             struct dse_interval ret[5]);
/* What rows say of it, of a point where it works: the settings that were others when the statistics were measured, of which it
 * returns how many; why nobody measured the loss, or NULL; were the heads those of the LLM; the entry that has them; and what
 * says that the loss was not measured at such contexts, or NULL. */
int dse_local_unlikes(const struct dse_local_of *o, const char *which[DSE_BEYOND_MAX]);
const char *dse_local_unknown(const struct dse_local_of *o);
bool dse_local_own(const struct dse_local_of *o);
const struct dse_entry *dse_local_entry(const struct dse_local_of *o);
const char *dse_local_extended(const struct dse_local_of *o);
/* Of a point where it works: dse_model.stand; `unmeasured`: why nobody measured what the model makes of it, or NULL. */
void dse_local_stand(const struct dse_local_of *o, const char *unmeasured, struct dse_standing *ret);
/* For dse_model.why_null of a point where it works: of centers, active, hit_ratio, and of the metrics of quality. */
const char *dse_local_why_null(const struct dse_local_of *o, const char *metric);

#endif
