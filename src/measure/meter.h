/* Measuring a GPU: what is measured, how often, and the rows that come of it.
 *
 * A plan is a list of points: a bandwidth, a matrix multiplication, the attention of a decode step, a launch, or the power that
 * the board draws meanwhile. A device (meter_device.h) carries them out; the one of a machine with an NVIDIA driver is
 * cuda_device_open (cuda_device.h), tests have one of arithmetic. Statistics and rows are made here, so they are the same on both.
 *
 * A point is repeated: first without being counted, until clocks and caches have settled; then in repeats of at least
 * METER_REPEAT_S, each of as many operations as that takes, until the point's time is over. The number is the median of the
 * repeats; those that lie far from it (meter_summarize) are counted and left out of the spread. Weights and KV caches are read from
 * DRAM: a point's memory goes through copies of them that together are larger than the last-level cache, but for a bandwidth, whose
 * buffer is read again and again: one that fits into the cache is the cache's.
 *
 * Rows are CSV in the columns of other measured machines: `quantity`, `value`, `unit`, and what was measured in columns of its own;
 * `split` says which of them may fit constants. Comments before the header have the machine, its driver, clocks and limits.
 */
#ifndef DSE_MEASURE_METER_H
#define DSE_MEASURE_METER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what is measured ---------------------------------------------------------------------------------------------------- */

enum meter_kind { METER_BANDWIDTH, METER_GEMM, METER_ATTENTION, METER_LAUNCH, METER_POWER, METER_KINDS };
extern const char *const meter_kind_names[]; /* "bandwidth", "gemm", ..., NULL */

/* What the device does. */
enum meter_work {
    METER_READ,          /* `bytes` are read once */
    METER_WRITE,         /* are written once */
    METER_COPY,          /* are read and written elsewhere */
    METER_MATMUL,        /* m x k by k x n, of `format`, sums in fp32 */
    METER_DECODE,        /* attention of one new position a sequence over `context` cached ones, fp16 */
    METER_LAUNCH_STREAM, /* a kernel that does nothing, launched by the host, one behind the other */
    METER_LAUNCH_NODE,   /* the same as one node of a CUDA graph of many */
    METER_LAUNCH_GRAPH,  /* a graph of one such node, launched by the host, one behind the other */
    METER_ROUND_TRIP,    /* one launch and the wait for its end, on the host's clock */
    METER_IDLE,          /* nothing, with the GPU taken */
    METER_WORKS
};
extern const char *const meter_work_names[]; /* "read", ..., NULL */

enum meter_format { METER_FP16, METER_BF16, METER_FORMATS };
extern const char *const meter_format_names[]; /* "fp16", "bf16", NULL */

struct meter_point {
    enum meter_kind kind;
    enum meter_work work;
    enum meter_format format;                          /* of METER_MATMUL */
    bool calibrate;                                    /* may constants be fitted to it? */
    double seconds;                                    /* that it is measured for */
    double clock_share;                                /* of the highest SM clock, which it is held at; 0: as the GPU has it */
    int64_t bytes;                                     /* METER_READ, METER_WRITE, METER_COPY */
    int64_t m, n, k;                                   /* METER_MATMUL */
    int64_t batch, context, heads, kv_heads, head_dim; /* METER_DECODE */
};

struct meter_options {
    unsigned kinds; /* bits 1 << METER_GEMM, ... */
    bool clocks;    /* power and speed at clocks that are set, too */
    double seconds; /* for a point; power takes METER_POWER_FACTOR times as long */
};
#define METER_SECONDS 0.5
enum { METER_POWER_FACTOR = 8 };

/* The points, in the order in which they are measured: idle power first, while the GPU is cool. A point's split does not depend on
 * what else is measured. The caller frees the list. */
struct meter_point *meter_plan(const struct meter_options *options, size_t *ret_n);
/* How long they take, with what it takes to make ready for each. */
double meter_plan_seconds(const struct meter_point *points, size_t n);
/* "matmul bf16 64 x 4096 x 14336", "power, read 4 GiB, at 60 % of the highest clock". The caller frees it. */
char *meter_point_text(const struct meter_point *p);
/* What one operation moves over DRAM, at least, and the multiplications and additions it does. */
double meter_point_bytes(const struct meter_point *p);
double meter_point_flops(const struct meter_point *p);

/* ---- repeats ------------------------------------------------------------------------------------------------------------- */

#define METER_REPEAT_S 0.005
#define METER_FIRST_WARM_S 0.5 /* before the first point that works; both at most the point's own time */
#define METER_WARM_S 0.05
enum { METER_REPEATS_MIN = 7, METER_REPEATS_MAX = 200 };

struct meter_summary {
    double median;  /* of all values: what is far out does not move it */
    double spread;  /* standard deviation over the median, by the median absolute deviation, without what is far out */
    size_t n;       /* values */
    size_t far_out; /* further from the median than 5 such deviations, and than 2 % */
};
/* n >= 1; the values are put in order. */
struct meter_summary meter_summarize(double *values, size_t n);

/* ---- a run --------------------------------------------------------------------------------------------------------------- */

struct meter_device;

enum { METER_REASON_MAX = 200 };
struct meter_result {
    bool is_done;
    char reason[METER_REASON_MAX]; /* why there is no number; "" when the run ended before */
    struct meter_summary time;     /* of one operation, s; all 0 for METER_IDLE */
    double power_w;                /* METER_POWER: the mean; else NaN */
    double clock_mhz;              /* of the SMs, under this load; NaN: not known */
    double set_mhz;                /* that they were held at; NaN: they were not */
    double celsius;                /* NaN: not known */
    const char *limit;             /* what held the clock down: "power", "heat", ""; */
};

struct meter_control {
    const volatile sig_atomic_t *stop;                                                   /* or NULL */
    double limit_s;                                                                      /* no point is begun later */
    void (*progress)(void *user, size_t done, size_t n, const struct meter_point *next); /* or NULL */
    void *user;
};

enum meter_end {
    METER_WHOLE,
    METER_STOPPED, /* by `stop` */
    METER_LATE,    /* by `limit_s` */
    METER_BROKEN,  /* the device does not go on: the reason of the last result that has one says why */
};
/* Measure the points in order; results has n, of which those not reached are left with is_done false and no reason. Clocks that
 * were set are given back however it ends. */
enum meter_end meter_run(struct meter_device *device, const struct meter_point *points, size_t n, const struct meter_control *c,
                         struct meter_result *results);

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

/* What the head of a file says beside the machine. */
struct meter_about {
    const char *tool;    /* "dse 0.1.0" */
    const char *date;    /* "2026-11-23" */
    const char *gpu;     /* its name in the catalog */
    const char *licence; /* of the rows */
};
/* A whole measured file. The caller frees it. */
char *meter_rows(const struct meter_device *device, const struct meter_about *about, const struct meter_point *points,
                 const struct meter_result *results, size_t n, enum meter_end end);

#endif
