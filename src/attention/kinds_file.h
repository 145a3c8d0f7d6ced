/* Files of head kinds: a row for each component of a mixture, with the parameters of its generator and the features of the head
 * that it was fitted to and of the one that it makes. `dse trace fit --to TRACE -o FILE` writes one. */
#ifndef DSE_ATTENTION_KINDS_FILE_H
#define DSE_ATTENTION_KINDS_FILE_H

#include "attention/head_mixture.h"

bool kinds_write_file(const char *path, const struct head_mixture *m, struct diags *diags);
/* False with errors: another header, a parameter out of its range, a kind that is none, no rows. The caller releases *ret. */
bool kinds_read_file(const char *path, struct head_mixture *ret, struct diags *diags);

#endif
