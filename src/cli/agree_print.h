/* What dse agree prints: a report for people, rows for programs. */
#ifndef DSE_CLI_AGREE_PRINT_H
#define DSE_CLI_AGREE_PRINT_H

#include "agree/agree.h"
#include "command/output.h"

/* One model's agreement, and what it takes to show a point again. */
struct agree_shown {
    const struct agreement *agreement;
    const struct agree_options *options;
    const struct catalog *catalog;
    const char *from; /* "near the defaults", "of sweeps/x.toml" */
    size_t worst;     /* points listed for each metric */
};
void agree_print_report(const struct agree_shown *s);
/* Of the agreements of all models of a sweep: which designs the two levels put in another order. */
void agree_print_rankings(const struct agreement *list, size_t n, const struct sweep_file *sweep);
/* Distributions of n agreements; then every point. */
void agree_print_summary(const struct agreement *a, size_t n, enum output_format format);
void agree_print_points(const struct agreement *list, size_t n, enum output_format format);

#endif
