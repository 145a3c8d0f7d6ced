/* The inside of reading a sweep file, shared by sweep_file.c, sweep_fidelity.c, sweep_baseline.c, sweep_requests.c,
 * sweep_sampling.c, sweep_exprs.c, sweep_equal.c and sweep_quality.c. */
#ifndef DSE_CONFIG_SWEEP_INTERNAL_H
#define DSE_CONFIG_SWEEP_INTERNAL_H

#include "config/sweep_file.h"

struct reading {
    struct toml_doc *doc;
    struct sweep_file *out;
    struct catalog *catalog;
    const char *data_dir;
    const char *fidelity; /* in place of the file's; NULL: the file's */
    struct diags *diags;
    bool model_missing; /* a name in `models` is unknown, and unknown parameters may be those of that model */
};

/* Read the key `fidelity` of [sweep], whose models have been read, and the section [refine]. */
bool sweep_read_fidelity(struct reading *r, const struct toml_node *sweep);
bool sweep_read_refine(struct reading *r);
/* Read [equal], after [params], and before bindings are finished. */
bool sweep_read_equal(struct reading *r);
/* Read [requests], after [params] and [baseline], which must not give what a mix of requests sets. */
bool sweep_read_requests(struct reading *r);
/* Read [constraints] and [derive]. */
bool sweep_read_expressions(struct reading *r);
/* Read [quality], after the models; without it, its defaults. */
bool sweep_read_quality(struct reading *r);
/* Read [objectives]. */
bool sweep_read_objectives(struct reading *r);

/* Read the keys `keep` and `keep_points` of [sweep]. */
bool sweep_read_keep(struct reading *r, const struct toml_node *sweep);
/* Read [sample] and [search], after [params], whose axes they must suit. */
bool sweep_read_sampling(struct reading *r);

#endif
