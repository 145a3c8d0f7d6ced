/* What `dse dram` prints of a run. */
#ifndef DSE_CLI_DRAM_REPORT_H
#define DSE_CLI_DRAM_REPORT_H

#include "command/output.h"
#include "sim/dram_run.h"

/* What was run. */
struct dram_subject {
    const char *memory, *mapping, *front, *refresh;
    const struct dram_spec *spec;
    const struct dram_result *result;
    double cpu_s; /* of the simulation */
};

bool dram_report(const struct dram_subject *s, enum output_format format);

#endif
