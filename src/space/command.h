/* The command that shows a design point again. */
#ifndef DSE_SPACE_COMMAND_H
#define DSE_SPACE_COMMAND_H

#include "space/space.h"

/* "--set llm=opt-2.7b --set tiles=8": every value of point `index` that was given and is not the model's default, so that `dse
 * eval` makes the same point, to the last digit. "" when there is none. The caller frees it. */
char *space_settings(const struct space *sp, uint64_t index);
/* The same as assignments: "llm=opt-2.7b", "tiles=8". The caller frees each, and the array. */
char **space_assignments(const struct space *sp, uint64_t index, size_t *ret_n);
/* "dse eval lad --fidelity event-level --catalog mine.toml --requests chat --set tiles=8". `catalogs` are the files that the
 * point's names may come from, as in --catalog; requests NULL: one step. What a shell would read otherwise is quoted, but for the
 * settings, which are so. The caller frees it. */
char *eval_command(const char *model, enum fidelity fidelity, const char *const *catalogs, size_t n_catalogs, const char *requests,
                   const char *settings);
/* The two together. With the mix of requests that the space is the mean over, the command gives the numbers of the point's row. */
char *space_command(const struct space *sp, uint64_t index, enum fidelity fidelity, const char *const *catalogs, size_t n_catalogs);

#endif
