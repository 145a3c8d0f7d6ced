/* The inside of libdse, shared by the files of this folder; include/dse/dse.h is its manual. */
#ifndef DSE_LIBRARY_LIBRARY_H
#define DSE_LIBRARY_LIBRARY_H

#include "config/catalog.h"
#include "model/registry.h"

#include <dse/dse.h>

struct dse {
    struct catalog *catalog;
    char *data_dir;
    struct described *described; /* one a model */
    size_t n_described;
};

/* The columns of a model: its parameters, behind them its metrics. */
struct described {
    const struct model *model;
    struct dse_column *columns;
};

struct dse_problems {
    struct diags diags;
    struct dse_problem shown;
    char *text; /* or NULL */
};

/* The list to add to: that of p, or `otherwise`, which is made ready, when p is NULL. */
struct diags *problems_of(struct dse_problems *p, struct diags *otherwise);
/* The model of that name, or NULL with an error. */
const struct model *library_model(const struct dse *d, const char *name, struct diags *diags);
/* An error about a name that is none of names[0..n): "WHAT "NAME"", with the nearest. Always false. */
bool library_unknown(const char *what, const char *name, const char *const *names, size_t n, struct diags *diags);

#endif
