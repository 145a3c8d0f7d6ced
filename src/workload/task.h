/* The inside of a task's scores: its rows. */
#ifndef DSE_WORKLOAD_TASK_H
#define DSE_WORKLOAD_TASK_H

#include <dse/task.h>

/* Strings are the catalog's. */
struct task_row {
    const char *method, *llm;
    double ratio, value, reference; /* NaN: all positions are kept; no reference */
    bool more;                      /* is better */
    double setting[DSE_SETTINGS];   /* NaN: whatever it is */
};
struct dse_task {
    struct dse_entry entry;
    size_t n;
    struct task_row rows[];
};

#endif
