/* What `dse measure` prints: the plan, and what was reached. */
#ifndef DSE_CLI_MEASURE_REPORT_H
#define DSE_CLI_MEASURE_REPORT_H

#include "command/output.h"
#include "config/catalog.h"
#include "measure/meter_device.h"

#include <dse/catalog.h>

/* The plan: a row a kind for people, a row a point for programs. */
void measure_print_plan(const struct meter_point *points, size_t n, enum output_format format);
/* The best of each kind, beside what the catalog has of the GPU (NULL: it is not there). */
void measure_print_best(const struct meter_point *points, const struct meter_result *results, size_t n, const struct dse_gpu *gpu,
                        enum output_format format);
/* The entry of the catalog that this machine is: all words of its name are in the machine's, the SMs are as many and the memory is
 * as large to a tenth. The most words win. NULL: there is none. */
const struct dse_gpu *measure_find_gpu(const struct catalog *c, const struct meter_machine *m);

#endif
