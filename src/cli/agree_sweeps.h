/* The sweeps whose spaces dse agree draws from. */
#ifndef DSE_CLI_AGREE_SWEEPS_H
#define DSE_CLI_AGREE_SWEEPS_H

#include "command/command.h"
#include "config/sweep_file.h"
#include "model/registry.h"

/* Each has the catalog that its own entries were added to. */
struct agree_sweeps {
    struct sweep_file **list;
    struct catalog **catalogs;
    size_t n;
};
/* The sweep of one file. False with errors. Release *ret in any case. */
bool agree_sweep_read(const struct invocation *in, const char *file, struct agree_sweeps *ret);
/* The sweeps that come with dse and name the model; none where there are none. Those that cannot be read are passed over. */
void agree_sweeps_shipped(const struct invocation *in, const struct model *m, struct agree_sweeps *ret);
void agree_sweeps_release(struct agree_sweeps *s);

#endif
