/* The inside of libdse, shared by the files of this folder; include/dse/dse.h is its manual. */
#ifndef DSE_LIBRARY_LIBRARY_H
#define DSE_LIBRARY_LIBRARY_H

#include "base/plain_numbers.h"
#include "config/catalog.h"
#include "model/registry.h"

#include <dse/dse.h>

#include <stdatomic.h>

struct dse {
    struct dse *self;     /* so that points, which are told of one that is const, can hold it */
    atomic_size_t owners; /* who opened it, until it is closed, and points */
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

/* A call from outside that may have something to say: where, and with which numbers (base/plain_numbers.h). */
struct call {
    struct diags own;
    struct plain_numbers numbers;
};
/* The list to add to: that of p, or one of the call's own when p is NULL. Every begin has its end. */
struct diags *call_begin(struct call *c, struct dse_problems *p);
void call_end(struct call *c);
/* One owner less; the last one frees it. */
void library_release(struct dse *d);
/* An error if an argument, WHAT, is NULL; else true. */
bool library_given(const void *argument, const char *what, struct diags *diags);
/* The model of that name, or NULL with an error. */
const struct model *library_model(const struct dse *d, const char *name, struct diags *diags);
/* An error about a name that is none of names[0..n): "WHAT "NAME"", with the nearest. Always false. */
bool library_unknown(const char *what, const char *name, const char *const *names, size_t n, struct diags *diags);

#endif
