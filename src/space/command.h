/* The command that shows a design point again. */
#ifndef DSE_SPACE_COMMAND_H
#define DSE_SPACE_COMMAND_H

#include "space/space.h"

/* "dse eval lad --requests chat --set llm=opt-2.7b --set tiles=8": gives every value of point `index` that was given and is not the model's
 * default, and the mix of requests that the space is the mean over, so that its metrics are those of the row to the last digit. `catalogs` are
 * the files that the point's names may come from, as in --catalog. What a shell would read otherwise is quoted. The caller frees it. */
char *space_command(const struct space *sp, uint64_t index, enum fidelity fidelity, const char *const *catalogs, size_t n_catalogs);

#endif
