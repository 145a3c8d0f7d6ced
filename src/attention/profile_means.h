/* Means over all heads of a model (--means): what the weights of the measured heads are matched to. */
#ifndef DSE_ATTENTION_PROFILE_MEANS_H
#define DSE_ATTENTION_PROFILE_MEANS_H

#include "attention/surface.h"
#include "base/diag.h"
#include "config/csv_table.h"

struct profile_means {
    struct csv_table table; /* which methods' names are of */
    struct surface_known *known;
    size_t n;
};

/* Read a CSV of method,context,ratio,metric,mean. False with errors at their places. Release it whatever comes back. */
bool profile_means_read(struct profile_means *ret, const char *path, struct diags *diags);
void profile_means_release(struct profile_means *m);

#endif
