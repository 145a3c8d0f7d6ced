/* The model descriptor: one accelerator or system as a constant.
 *
 * A model is pure. `resolve`, `check` and `estimate` read their arguments and nothing else: no I/O, no allocation, no globals, no
 * clock; they run on many threads at once, in any order, millions of times a second.
 *
 * A new model is one folder, models/NAME/, and one line in models/meson.build.
 */
#ifndef DSE_MODEL_H
#define DSE_MODEL_H

#include <dse/desc.h>
#include <stdbool.h>

struct dse_bill;
struct dse_built;
struct dse_dram;
struct dse_sim;
struct dse_workload;

/* One row of a breakdown: what a part of a step costs and why; all its numbers are of the step (what is shown is divided by its
 * tokens: src/model/breakdown.h). Times of the parts of depth 0 add up to the latency; a part of depth d > 0 details the nearest
 * part of depth d - 1 above it. */
struct dse_part {
    const char *name;  /* "qkv_projection", "attention", ...: a string constant */
    const char *bound; /* what limits it: one of dse_bound_names, or a finer string constant */
    int depth;
    double time_us;    /* exposed time */
    double dram_bytes; /* bytes moved to and from DRAM */
    double ops;        /* operations (a multiply-add is two) */
    double energy_mj;  /* total energy attributed to this part */
};

/* The energy of the same step by what takes it. */
struct dse_cause {
    const char *name; /* "leakage", "clock", "modules", "sram", "dram", "interface", ...: a string constant */
    double energy_mj; /* of the step */
};

enum { DSE_PARTS_MAX = 96, DSE_CAUSES_MAX = 8 };

struct dse_breakdown {
    int n;
    struct dse_part part[DSE_PARTS_MAX];
    int n_causes; /* 0: the model does not tell them apart; else they sum to the energy of the step, as parts of depth 0 do */
    struct dse_cause cause[DSE_CAUSES_MAX];
};

/* What limits a design point or a part of it. */
enum dse_bound { DSE_BOUND_COMPUTE, DSE_BOUND_DRAM, DSE_BOUND_LATENCY, DSE_BOUND_COUNT };
extern const char *const dse_bound_names[]; /* "compute", "dram", "latency", NULL */

/* Metrics that every model has; a model embeds them with DSE_METRIC_EMBED(..., dse_common_metrics). "a token" means: the time or
 * energy of one step divided by the tokens it yields (a decode step yields `batch`, a prefill `batch * context`);
 * latency_us is of the whole step, as one user waits for it. */
struct dse_common {
    double tokens_per_s;        /* throughput of all sequences together */
    double latency_us;          /* one step: a decode step, or the whole prefill */
    double attention_us;        /* the part of latency_us spent in attention */
    double energy_mj;           /* a token */
    double power_w;             /* average over the step */
    double area_mm2;            /* logic and SRAM on chip */
    double dram_mib;            /* DRAM traffic a token */
    double compute_utilization; /* useful operations over the peak */
    double dram_utilization;    /* bytes moved over what the peak would move */
    int32_t bound;              /* enum dse_bound of the larger share of the step */
    int32_t dollars;            /* enum dse_dollars of usd_per_mtoken */
    /* What must be bought (cost.h); NaN where the model makes no bill, or there is no source. */
    double die_usd, design_usd, system_usd, usd_per_mtoken;
    double embodied_kgco2, gco2_per_mtoken;
};
extern const struct dse_metric dse_common_metrics[];

/* Rows of metrics that several models have, whose meaning is one: a model that has the number takes its row from here. */
#define DSE_METRIC_DRAM_FOOTPRINT(S, source_) \
    DSE_METRIC_F64(S, dram_footprint_gib, "GiB", DSE_LESS, \
                   "DRAM footprint of one device: weights, caches, data of cache techniques", source_)
/* The part of area_mm2 that the designer chooses: not the memory's PHYs and controllers (phy_mm2), the links (links_mm2), which the
 * memory and the board ask for, nor the network over tiles (noc_mm2), which is a constant share of core and network. */
#define DSE_METRIC_CORE_AREA(S, source_) \
    DSE_METRIC_F64(S, core_mm2, "mm2", DSE_LESS, "logic and SRAM: area_mm2 without PHYs, links and on-chip network", source_)
#define DSE_METRIC_COMMUNICATION(S, source_) \
    DSE_METRIC_F64(S, communication_us, "us", DSE_LESS, "time of a step spent on exchanges between devices", source_)
#define DSE_METRIC_CACHED_POSITIONS(S, source_) \
    DSE_METRIC_F64(S, cached_positions, "", DSE_NEITHER, \
                   "cached positions per query after eviction, before a layer's window or selection; mean over queries", source_, \
                   .mean = DSE_MEAN_TOKEN)

/* A step in SI units, all devices together: what the common metrics follow from. */
struct dse_totals {
    double tokens, seconds, attention_s;
    double joules, bytes, ops; /* bytes of DRAM traffic; useful operations */
    double peak_ops;           /* a second, in the unit that `ops` counts */
    double peak_bytes;         /* a second: the peak bandwidth */
    double area_mm2;           /* NaN: the model has none (.without) */
    int32_t bound;
    const struct dse_bill *bill; /* NULL: none, and the metrics of costs have no meaning (.without) */
};
struct dse_common dse_common_of(const struct dse_totals *t);
/* The same with what dse_bill_build made of the bill; NULL: nobody reads what it costs. */
struct dse_common dse_common_built(const struct dse_totals *totals, const struct dse_built *built);
/* What limits the larger share of a step, whose seconds it shares out by what they wait for; of equal ones the first. */
int32_t dse_bound_of(double compute_s, double dram_s, double latency_s);

/* How well it is known what a point's output loses against exact attention of the same LLM. The order is that of trust: of several
 * that apply to a point, the last one is its quality. */
enum dse_standing_quality {
    DSE_QUALITY_EXACT,     /* nothing: attention is exact, on weights and a cache of 16 bits or more */
    DSE_QUALITY_ROUNDED,   /* attention is exact; weights or cache have fewer bits, and no model says what that costs */
    DSE_QUALITY_MEASURED,  /* measured under the settings of the point, on its LLM */
    DSE_QUALITY_EXTENDED,  /* the same, extended beyond the contexts that were measured */
    DSE_QUALITY_OTHER_LLM, /* measured, or extended, on another LLM with the same kind of attention (dse_llm_unlike_measured) */
    DSE_QUALITY_UNKNOWN,   /* it loses information, and nobody measured how much under its settings */
    DSE_QUALITY_COUNT
};
extern const char *const dse_quality_names[]; /* "exact", "rounded", "measured", "extended", "other-llm", "unknown", NULL */

/* What a point's numbers rest on. Strings are constants, or live as long as the catalog. */
enum { DSE_BEYOND_MAX = 10 };
struct dse_standing {
    int32_t quality;                    /* enum dse_standing_quality */
    const char *unknown;                /* of DSE_QUALITY_UNKNOWN: why; NULL else */
    int n_beyond;                       /* what its costs take from beyond what was measured: law or profile, and its range */
    const char *beyond[DSE_BEYOND_MAX]; /* "profile mine has data for 512 to 4096 positions" */
    /* The entry of the catalog with the statistics of attention that time, energy and quality follow; NULL: they follow none. */
    const struct dse_entry *statistics;
};
/* Add to `beyond`; NULL, or the same string again, adds nothing. */
void dse_standing_add(struct dse_standing *s, const char *beyond);
/* A number of the output's loss was measured: on the point's own LLM or not, and within the contexts that were measured
 * (`extended` = NULL) or beyond them, which `extended` says and `beyond` gets. The quality is the worst of what it was and this. */
void dse_standing_measured(struct dse_standing *s, bool own_llm, const char *extended);
/* The quality is unknown, and why. */
void dse_standing_unknown(struct dse_standing *s, const char *why);
/* Says that all activations have activation_bits, where the workload's format has narrower ones: for models without a rate for
 * them. */
void dse_standing_wide(struct dse_standing *s, const struct dse_workload *w);
/* Says that narrow weights lose more than the quality that was measured of attention: nobody measured how much. Where the quality
 * is `rounded` or `unknown`, it says so itself, and nothing is added. */
void dse_standing_narrow(struct dse_standing *s, const struct dse_workload *w);
/* DSE_QUALITY_EXACT or, by weight_bits and kv_bits, DSE_QUALITY_ROUNDED: of a machine whose attention is exact. */
int32_t dse_quality_of_exact(const struct dse_workload *w);

/* A monotonicity that a model declares: with everything else as it is, growing `param` never makes `metric` fall (DSE_MORE) or
 * never makes it grow (DSE_LESS). Tested on random points, printed by `dse describe`. A point that becomes infeasible says
 * nothing. */
struct dse_trend {
    const char *param, *metric; /* param: F64 or I64 */
    enum dse_better effect;
    const char *along; /* a parameter that grows by the same factor ("batch": more tiles at equal share of the batch); or NULL */
    const char *where; /* "NAME=VALUE,...": holds where the enumerations have these values; or NULL */
};

/* A technique that loses information, as far as a parameter turns it on: with `off` the same machine is exact, and no metric
 * depends on the parameters that the technique alone reads. A sweep evaluates the exact machine beside the lossy one
 * (docs/reference/sweep-file.md). A test holds each list to it. */
struct dse_technique {
    const char *param, *off; /* an enumeration, and its value: "eviction", "none" */
    const char *const *only; /* closed by NULL */
};

/* What a design point that cannot be built lacks. */
struct dse_shortage {
    double needed, there;
    const char *unit; /* "GiB": a string constant */
};

struct dse_model {
    const char *name;  /* a C identifier: folder, table and SQL view */
    const char *title; /* "LAD: locality-aware decoding" */
    const char *cite;  /* the source */
    int version;       /* grows whenever the same parameters give other numbers */

    const struct dse_param *params;
    size_t params_size;
    const struct dse_metric *metrics;
    size_t metrics_size;
    const struct dse_unit *units; /* units of its rows that dse_units lacks, closed by a row without a unit; or NULL */
    const char *const *without;   /* common metrics that have no meaning here and are stored as NULL; NULL-terminated, or NULL */

    /* Parameters that not both fidelities read, by name; lists closed by NULL, or NULL. What is the event level's own says so in
     * its row: its doc begins with "event level: ". Docs of these begin with the same or with "closed form: " wherever they are
     * shown. A test holds each to it: changing it moves no metric where it is not read. */
    const char *const *closed_form_only, *const *event_level_only;

    /* Fill in parameters left "auto". May be NULL. */
    void (*resolve)(void *params);

    /* NULL when the point can be built and run, else why not: a string constant, a short sentence ("the working set of one
     * tile does not fit its SRAM"). May be NULL. Called after resolve. Ranges of single parameters are checked elsewhere. */
    const char *(*check)(const void *params);

    /* How much is missing, where the reason that check() gave (the same pointer) is that something is too small; false for other
     * reasons. A reason is a constant, so that rows can be grouped by it; who asks for one point gets the numbers. Pure. May be
     * NULL. */
    bool (*shortage)(const void *params, const char *reason, struct dse_shortage *ret);

    /* Closed form. Fills every metric; when breakdown is not NULL, also that (the caller has set both counts to 0). Called only for
     * points that check() accepts. */
    void (*estimate)(const void *params, void *metrics, struct dse_breakdown *breakdown);

    /* Bounds of estimate over a box, for exact searches (docs/explanation/exact-fronts.md). `lo` and `hi` are points as resolve()
     * leaves them: of a number (F64, I64) lo <= hi, of everything else the same; the box holds every resolved point p with lo <= p
     * <= hi, number by number. Sets F64 and I64 metrics of *floor and *ceiling so that, for every point of the box that check()
     * accepts and every metric that has a value there, floor <= metric <= ceiling, within 1e-12 of the metric (interval.h rounds
     * outward; the order of operations may be another). NaN in both: not bounded (of an I64: INT64_MIN and INT64_MAX); so the two
     * structs come, and a metric that is not set stays so. Enumerations are left alone. The narrower the box, the closer the
     * bounds: of a single point they are its estimate to 1e-9, or the model's README says by how much they are not. False: check()
     * accepts no point of the box. As pure as estimate. NULL: the model has none. */
    bool (*bound)(const void *lo, const void *hi, void *floor, void *ceiling);

    /* Event level (sim.h): moves the same bytes and does the same work as estimate, over the same parameters, in a run that the
     * caller has made, and fills every metric, and the breakdown when it is not NULL. Called only for points that check()
     * accepts. False: the run failed; dse_sim_error says why. NULL: the model has no event level. */
    bool (*simulate)(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown);

    /* What the point's numbers rest on (*ret is zeroed: exact). As pure as estimate; called for the points that check() accepts,
     * after resolve. NULL: the model does not say. */
    void (*stand)(const void *params, struct dse_standing *ret);

    /* Why a metric that may be NULL is so at this point: a string as in struct dse_standing. NULL where it is not, or when no
     * metric of the model may be. */
    const char *(*why_null)(const void *params, const char *metric);

    /* Quantities of the model's equations that no sweep stores: what the paper says about one head, one table, one kernel. A
     * table of rows like the metrics; names differ from those of parameters and metrics. `dse eval MODEL --equations` prints
     * them, and claims are bound to them. `equate` fills every field for any resolved parameters in range, feasible or not; NaN
     * where one has no value (dse_equations_unknown). All NULL and 0 when the model has none. */
    const struct dse_metric *equations;
    size_t equations_size;
    void (*equate)(const void *params, void *equations);

    const struct dse_trend *trends;         /* closed by a row without a param; or NULL */
    const struct dse_technique *techniques; /* likewise */
};

/* Fill a struct of equations, all of them F64, with NaN. */
void dse_equations_unknown(void *equations, size_t size);

/* Append a part; a part too many is a bug of the model (asserted). breakdown may be NULL: then nothing happens. */
void dse_breakdown_add(struct dse_breakdown *breakdown, struct dse_part part);
/* The same, added to the part of that name and depth behind the last part of depth 0 (of all, where depth is 0), if there is
 * one. */
void dse_breakdown_merge(struct dse_breakdown *breakdown, struct dse_part part);
/* The same of a cause of energy. */
void dse_breakdown_cause(struct dse_breakdown *breakdown, const char *name, double joules);
/* A part in SI units. What takes no exposed time runs behind something else and is bound by that: "hidden". */
struct dse_part dse_part_of(const char *name, int depth, const char *bound, double seconds, double joules, double bytes,
                            double ops);

/* The parts of a machine that draws `watts` whatever it does, and the DRAM's energy for what is moved besides. */
struct dse_parts {
    struct dse_breakdown *breakdown;
    double watts;
    const struct dse_dram *dram; /* NULL: it is in the watts */
};
/* Joules of so many seconds in which so many bytes are moved. */
double dse_parts_joules(const struct dse_parts *p, double seconds, double bytes);
void dse_parts_add(const struct dse_parts *p, const char *name, int depth, const char *bound, double seconds, double bytes,
                   double ops);

#endif
