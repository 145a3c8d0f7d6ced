/* The inside of src/prove. */
#ifndef DSE_PROVE_INTERNAL_H
#define DSE_PROVE_INTERNAL_H

#include "base/text.h"
#include "base/xalloc.h"
#include "prove/prove.h"
#include "space/random_point.h"

/* An error about the model. Always false. */
bool prove_fail(const struct model *m, struct diags *diags, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* The resolved parameters of a point, as --set makes them; NULL with errors. The caller frees them. */
void *prove_point(const struct model *m, const struct catalog *catalog, const char *const *assignments, size_t n,
                  struct diags *diags);

bool prove_tables(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
bool prove_defaults(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
bool prove_points(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
bool prove_devices(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
bool prove_shortage(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
bool prove_bounds(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
bool prove_equations(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
bool prove_trends(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
bool prove_techniques(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
bool prove_agreement(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
bool prove_documentation(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);

#endif
