/* A device that can be measured: one struct of functions, so that the plan, the statistics and the rows need no GPU. */
#ifndef DSE_MEASURE_METER_DEVICE_H
#define DSE_MEASURE_METER_DEVICE_H

#include "measure/meter.h"

/* What is known of the machine before anything is measured. What is not known: 0, NaN or "". */
struct meter_machine {
    char name[128];                /* as the driver has it: "NVIDIA H200" */
    char driver[80];               /* "580.65.06" */
    char software[160];            /* "CUDA 13.0, cuBLAS 13.0.2, NVRTC 13.0" */
    char engines[METER_WORKS][40]; /* what carries out each work: "cublas 13.0.2" */
    char host[160];                /* processor and operating system: launches depend on them */
    int64_t sms;
    int major, minor; /* compute capability */
    double capacity_gib, l2_mib;
    int64_t bus_bits;
    bool has_ecc;
    double clock_mhz, memory_mhz; /* highest of the SMs and of the memory */
    double limit_w, default_limit_w, lowest_limit_w, highest_limit_w;
};

struct meter_senses {
    double watts;     /* NaN: not known, as all of these */
    double joules;    /* a counter; the difference of two readings is the energy between them */
    double clock_mhz; /* of the SMs */
    double celsius;
    const char *limit; /* "power", "heat" or "" */
};

enum meter_answer {
    METER_YES,
    METER_NO,   /* not this point: `reason` says why */
    METER_DEAD, /* nothing more: `reason` says why */
};

struct meter_device {
    struct meter_machine machine;
    char reason[METER_REASON_MAX];
    bool keeps_clock; /* set by meter_run: a clock that was held could not be given back */
    uint64_t unit;    /* operations that one unit of the prepared work holds */
    /* Make ready for the work of a point, and forget what was ready before: take memory, fill it, build the graph. */
    enum meter_answer (*prepare)(struct meter_device *d, const struct meter_point *p);
    /* Begin `units` units of it, and return while they run. */
    enum meter_answer (*start)(struct meter_device *d, uint64_t units);
    /* Wait until they are done. *ret_s: from the begin of the first to the end of the last, by the device's clock. */
    enum meter_answer (*wait)(struct meter_device *d, double *ret_s);
    /* How the board is. Costs the device no time. */
    void (*sense)(struct meter_device *d, struct meter_senses *ret);
    /* Hold the SMs' clock at a share of the highest, in *ret_mhz what it became; share 0 gives it back (*ret_mhz is NaN). */
    enum meter_answer (*hold_clock)(struct meter_device *d, double share, double *ret_mhz);
    double (*now)(struct meter_device *d); /* s, from any begin */
    void (*sleep)(struct meter_device *d, double seconds);
    void (*close)(struct meter_device *d); /* frees it */
};

#endif
