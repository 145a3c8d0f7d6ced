/* The inside of reading a sweep file, shared by sweep_file.c, sweep_baseline.c and sweep_exprs.c. */
#ifndef DSE_CONFIG_SWEEP_INTERNAL_H
#define DSE_CONFIG_SWEEP_INTERNAL_H

#include "config/sweep_file.h"

struct reading {
    struct toml_doc *doc;
    struct sweep_file *out;
    struct catalog *catalog;
    const char *data_dir;
    struct diags *diags;
    bool model_missing; /* a name in `models` is unknown: a parameter of other models may be its */
};

/* The model that a node names; NULL with an error. */
const struct model *sweep_find_model(struct reading *r, const struct toml_node *node);
/* [baseline]. */
bool sweep_read_baseline(struct reading *r);
/* [constraints] and [derive]. */
bool sweep_read_expressions(struct reading *r);
/* [objectives]. */
bool sweep_read_objectives(struct reading *r);

#endif
