/* Internal to src/space: cells of rows, out of structs of parameters and of metrics. */
#ifndef DSE_SPACE_CELLS_H
#define DSE_SPACE_CELLS_H

#include "space/space.h"

union cell cell_null(enum dse_type type);
union cell cell_of(const struct field *f, const void *object);

/* The fields of a schema, a cell each; null where the model has none. Numbers that stand side by side are copied at once. */
struct cell_runs;
struct cell_runs *cell_runs_new(const struct schema *s);
void cell_runs_free(struct cell_runs *r);
void cell_runs_put(const struct cell_runs *r, const void *object, union cell *cells);

#endif
