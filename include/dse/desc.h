/* Parameter and metric tables: what a model says about itself, once.
 *
 * A model declares a struct of parameters and a struct of metrics, and for each a constant table of rows. From these rows come
 * the TOML binding, the range checks, `--set`, `dse describe`, the SQL columns, the docs page and the axis labels; nothing
 * is written a second time. A row's name is the C field's name, the TOML key, the SQL column and the plot key; where the value
 * has a unit, the name ends in it (`clock_ghz`), and the value is in that unit everywhere.
 *
 * Rows are typed: each macro takes the offset of its field through _Generic, so that a row for a field of another type
 * does not compile. Defaults are not here: they stand in the model's defaults.toml, which must name every row and nothing else.
 *
 *     static const struct dse_param lad_params_table[] = {
 *         DSE_EMBED(struct lad_params, workload, struct dse_workload, dse_workload_params),
 *         DSE_PARAM_I64(struct lad_params, tiles, 1, 64, "LAD tiles sharing the HBM", "Sec. V-A"),
 *         DSE_PARAM_F64(struct lad_params, clock_ghz, "GHz", 0.05, 10, "clock of every tile", "Sec. V-A"),
 *         DSE_PARAM_END,
 *     };
 */
#ifndef DSE_DESC_H
#define DSE_DESC_H

#include <stddef.h>
#include <stdint.h>

enum dse_type {
    DSE_TYPE_END,     /* closes a table */
    DSE_TYPE_F64,     /* double */
    DSE_TYPE_I64,     /* int64_t */
    DSE_TYPE_ENUM,    /* int32_t: index into choices */
    DSE_TYPE_REF,     /* const struct dse_KIND *: an entry of a catalog, never NULL once bound */
    DSE_TYPE_EMBED,   /* the rows of another table, in a struct inside this struct */
    DSE_TYPE_PATTERN, /* struct dse_pattern, in a catalog's table: a list of names out of choices */
};

/* What follows what, layer by layer for example: at[i] indexes the choices. A list shorter than what it is laid over repeats. In
 * TOML ["window*5", "full"] or "full"; n = 0 when it is left out. */
enum { DSE_PATTERN_MAX = 1024 };
struct dse_pattern {
    int64_t n;
    uint8_t at[DSE_PATTERN_MAX];
};

/* The catalogs a DSE_TYPE_REF row can refer to. Each kind's entry struct starts with struct dse_entry. */
enum dse_kind {
    DSE_KIND_LLM,
    DSE_KIND_MEMORY,
    DSE_KIND_GPU,
    DSE_KIND_FPGA,
    DSE_KIND_ENGINE,
    DSE_KIND_NPU,
    DSE_KIND_INTERCONNECT,
    DSE_KIND_TECHNOLOGY,
    DSE_KIND_SRAM,
    DSE_KIND_PROFILE,
    DSE_KIND_REQUESTS,
    DSE_KIND_RETENTION,
    DSE_KIND_RECORDING,
    DSE_KIND_COSTS,
    DSE_KIND_QUALITY,
    DSE_KIND_TASK,
    DSE_KIND_EXPERT_LOADS,
    DSE_KIND_DRAFTS,
    DSE_KIND_FORMATS,
    DSE_KIND_COUNT
};

/* What every catalog entry starts with. Both strings live as long as the catalog. */
struct dse_entry {
    const char *name;   /* as users write it: "llama2-7b" */
    const char *source; /* where its numbers come from */
    const char *title;  /* what figures call it: "LLaMA2-7B"; NULL: its name */
};

struct dse_param {
    enum dse_type type;
    const char *name;                            /* field = TOML key = SQL column */
    const char *unit;                            /* "" for a count or a ratio */
    const char *doc;                             /* one line, no full stop */
    const char *source;                          /* equation, table or section; "" when ours */
    size_t offset;                               /* in the struct of this table */
    double min, max;                             /* of F64 and I64, inclusive */
    const char *const *choices;                  /* ENUM: NULL-terminated */
    const char *const *(*choices_of)(void);      /* ENUM: or a function that gives them */
    enum dse_kind kind;                          /* REF */
    const struct dse_param *embed;               /* EMBED: the other table */
    const char *(*refuse)(const void *embedded); /* EMBED: see DSE_EMBED_REFUSING; or NULL */
    const char *const *excludes; /* names of parameters that must not be given together with this one, NULL-terminated; or NULL */
    unsigned flags;              /* DSE_PARAM_* */
};

enum dse_param_flags {
    DSE_PARAM_AUTO = 1 << 0, /* F64: the default may be "auto" (NaN in the struct), which the model's resolve() fills in */
    /* in a catalog's table: an entry may leave this row, or the rows of this EMBED, out, and then has NaN, 0 or the first
     * choice. */
    DSE_PARAM_OPTIONAL = 1 << 1,
    DSE_PARAM_TOGETHER = 1 << 2, /* EMBED, in a catalog's table: an entry may leave out all of these rows, but not some */
    DSE_PARAM_ALONE = 1 << 3,    /* REF: the entry sets no other parameter's default */
};

#define DSE_OFFSET(S, f, T) _Generic(&((S *)0)->f, T * : offsetof(S, f))

#define DSE_PARAM_F64(S, f, unit_, min_, max_, doc_, source_) \
    { \
        .type = DSE_TYPE_F64, .name = #f, .unit = unit_, .doc = doc_, .source = source_, .min = min_, .max = max_, \
        .offset = DSE_OFFSET(S, f, double) \
    }
/* Like DSE_PARAM_F64; its default may be "auto", and it cannot be given together with the parameters excludes_ (a list, or NULL).
 */
#define DSE_PARAM_F64_AUTO(S, f, unit_, min_, max_, excludes_, doc_, source_) \
    { \
        .type = DSE_TYPE_F64, .name = #f, .unit = unit_, .doc = doc_, .source = source_, .min = min_, .max = max_, \
        .offset = DSE_OFFSET(S, f, double), .excludes = excludes_, .flags = DSE_PARAM_AUTO \
    }
#define DSE_PARAM_I64(S, f, min_, max_, doc_, source_) \
    { \
        .type = DSE_TYPE_I64, .name = #f, .unit = "", .doc = doc_, .source = source_, .min = min_, .max = max_, \
        .offset = DSE_OFFSET(S, f, int64_t) \
    }
/* In a catalog's table: NaN when an entry leaves it out. */
#define DSE_PARAM_F64_OPTIONAL(S, f, unit_, min_, max_, doc_, source_) \
    { \
        .type = DSE_TYPE_F64, .name = #f, .unit = unit_, .doc = doc_, .source = source_, .min = min_, .max = max_, \
        .offset = DSE_OFFSET(S, f, double), .flags = DSE_PARAM_OPTIONAL \
    }
/* In a catalog's table: 0 when an entry leaves it out. */
#define DSE_PARAM_I64_OPTIONAL(S, f, min_, max_, doc_, source_) \
    { \
        .type = DSE_TYPE_I64, .name = #f, .unit = "", .doc = doc_, .source = source_, .min = min_, .max = max_, \
        .offset = DSE_OFFSET(S, f, int64_t), .flags = DSE_PARAM_OPTIONAL \
    }
#define DSE_PARAM_PATTERN(S, f, choices_, doc_, source_) \
    { \
        .type = DSE_TYPE_PATTERN, .name = #f, .unit = "", .doc = doc_, .source = source_, .choices = choices_, \
        .offset = DSE_OFFSET(S, f, struct dse_pattern), .flags = DSE_PARAM_OPTIONAL \
    }
#define DSE_PARAM_I64_UNIT(S, f, unit_, min_, max_, doc_, source_) \
    { \
        .type = DSE_TYPE_I64, .name = #f, .unit = unit_, .doc = doc_, .source = source_, .min = min_, .max = max_, \
        .offset = DSE_OFFSET(S, f, int64_t) \
    }
#define DSE_PARAM_ENUM(S, f, choices_, doc_, source_) \
    { \
        .type = DSE_TYPE_ENUM, .name = #f, .unit = "", .doc = doc_, .source = source_, .choices = choices_, \
        .offset = DSE_OFFSET(S, f, int32_t) \
    }
/* The choices are those of a table. choices_of_ is a function that gives the same list every time. */
#define DSE_PARAM_ENUM_OF(S, f, choices_of_, doc_, source_) \
    { \
        .type = DSE_TYPE_ENUM, .name = #f, .unit = "", .doc = doc_, .source = source_, .choices_of = choices_of_, \
        .offset = DSE_OFFSET(S, f, int32_t) \
    }
#define DSE_PARAM_REF(S, f, T, kind_, doc_, source_) \
    { \
        .type = DSE_TYPE_REF, .name = #f, .unit = "", .doc = doc_, .source = source_, .kind = kind_, \
        .offset = DSE_OFFSET(S, f, const T *) \
    }
/* Names an entry without setting the defaults of others: of two names of one kind, the second. */
#define DSE_PARAM_REF_ALONE(S, f, T, kind_, doc_, source_) \
    { \
        .type = DSE_TYPE_REF, .name = #f, .unit = "", .doc = doc_, .source = source_, .kind = kind_, \
        .offset = DSE_OFFSET(S, f, const T *), .flags = DSE_PARAM_ALONE \
    }
#define DSE_EMBED(S, f, T, table_) \
    { \
        .type = DSE_TYPE_EMBED, .name = #f, .offset = DSE_OFFSET(S, f, T), .embed = table_ \
    }
/* refuse_(&f) says of resolved parameters why no such thing can exist, by the names of the parameters ("t_ras_ns is below
 * t_rcd_ns: ..."), or gives NULL. It is bad input, not a row, and the text is a string constant. For values along several axes at
 * once it becomes the reason of rows, since check() of the model asks, too. */
#define DSE_EMBED_REFUSING(S, f, T, table_, refuse_) \
    { \
        .type = DSE_TYPE_EMBED, .name = #f, .offset = DSE_OFFSET(S, f, T), .embed = table_, .refuse = refuse_ \
    }
#define DSE_EMBED_OPTIONAL(S, f, T, table_) \
    { \
        .type = DSE_TYPE_EMBED, .name = #f, .offset = DSE_OFFSET(S, f, T), .embed = table_, .flags = DSE_PARAM_OPTIONAL \
    }
#define DSE_EMBED_TOGETHER(S, f, T, table_) \
    { \
        .type = DSE_TYPE_EMBED, .name = #f, .offset = DSE_OFFSET(S, f, T), .embed = table_, .flags = DSE_PARAM_TOGETHER \
    }
#define DSE_PARAM_END \
    { \
        .type = DSE_TYPE_END \
    }

enum dse_better { DSE_NEITHER, DSE_LESS, DSE_MORE };

/* What a metric is measured by. Over a mix of requests (`[requests]` of a sweep) it is the mean in which each request counts by
 * how much of that it takes: a power by its time, an energy a token by its tokens. So ratios stay ratios of totals. */
enum dse_mean {
    DSE_MEAN_BY_UNIT,   /* the default: what the unit says (dse_units); some units say nothing */
    DSE_MEAN_TIME,      /* rates, power, shares of the time */
    DSE_MEAN_STEP,      /* times of a step and their parts, counts of a step */
    DSE_MEAN_TOKEN,     /* energy and traffic a token; what is a mean over tokens or head-samples */
    DSE_MEAN_ATTENTION, /* time of attention: shares of it, ratios to it */
    DSE_MEAN_ENERGY,    /* tokens a joule */
    DSE_MEAN_CHIP,      /* the same of the chip alone, whose power is chip_power_w */
    DSE_MEAN_REQUEST,   /* what belongs to a whole request */
    DSE_MEAN_LARGEST,   /* no mean but the largest: room that all requests need */
    DSE_MEAN_COUNT
};

/* A unit: a name in it ends in the suffix, and the value is in it everywhere. */
struct dse_unit {
    const char *unit, *suffix; /* "GHz", "_ghz" */
    enum dse_mean mean;        /* of metrics in it; DSE_MEAN_BY_UNIT: each row says it */
};
/* The units that every model has; a model adds its own in dse_model.units. Closed by a row without a unit. */
extern const struct dse_unit dse_units[];

struct dse_metric {
    enum dse_type type; /* F64, I64, ENUM or EMBED */
    const char *name, *unit, *doc, *source;
    size_t offset;
    enum dse_better better;
    const char *const *choices;
    const struct dse_metric *embed;
    unsigned flags;     /* DSE_METRIC_* */
    enum dse_mean mean; /* I64: the mean, rounded. ENUM: the value with the largest share of it */
};

enum dse_metric_flags {
    DSE_METRIC_MAY_BE_NULL = 1 << 0, /* F64: NaN at points where it is not known, stored as NULL; elsewhere NaN is a bug */
};

/* `.mean = DSE_MEAN_...` may stand behind the source, where the unit does not say it. */
#define DSE_METRIC_F64(S, f, unit_, better_, doc_, ...) \
    { \
        .type = DSE_TYPE_F64, .name = #f, .unit = unit_, .doc = doc_, .better = better_, .offset = DSE_OFFSET(S, f, double), \
        .source = __VA_ARGS__ \
    }
/* Like DSE_METRIC_F64; NaN where it is not known (a statistic that was not measured there): stored as NULL. */
#define DSE_METRIC_F64_OR_NULL(S, f, unit_, better_, doc_, ...) \
    { \
        .type = DSE_TYPE_F64, .name = #f, .unit = unit_, .doc = doc_, .better = better_, .offset = DSE_OFFSET(S, f, double), \
        .flags = DSE_METRIC_MAY_BE_NULL, .source = __VA_ARGS__ \
    }
#define DSE_METRIC_I64(S, f, better_, doc_, ...) \
    { \
        .type = DSE_TYPE_I64, .name = #f, .unit = "", .doc = doc_, .better = better_, .offset = DSE_OFFSET(S, f, int64_t), \
        .source = __VA_ARGS__ \
    }
#define DSE_METRIC_ENUM(S, f, choices_, doc_, ...) \
    { \
        .type = DSE_TYPE_ENUM, .name = #f, .unit = "", .doc = doc_, .choices = choices_, .offset = DSE_OFFSET(S, f, int32_t), \
        .source = __VA_ARGS__ \
    }
#define DSE_METRIC_EMBED(S, f, T, table_) \
    { \
        .type = DSE_TYPE_EMBED, .name = #f, .offset = DSE_OFFSET(S, f, T), .embed = table_ \
    }
#define DSE_METRIC_END \
    { \
        .type = DSE_TYPE_END \
    }

#endif
