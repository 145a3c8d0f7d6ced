/* Quality of made heads, at the methods, settings and ratios of a quality file: what `dse trace extend` takes slopes from. */
#ifndef DSE_ATTENTION_MADE_FILE_H
#define DSE_ATTENTION_MADE_FILE_H

#include "attention/head_mixture.h"

#include <stddef.h>

/* Measure the heads of a mixture (attention/made_surface.h) by every method of the quality file `like`, at its ratios, and write a
 * quality file `to`. Methods that follow every step are measured at contexts up to `followed`, and at the file's own settings
 * alone, with prompts or without; rows of single layers and methods of other programs are left out. False with errors. */
bool made_write_file(const char *like, const struct head_mixture *m, const size_t *contexts, size_t n_contexts, size_t followed,
                     const char *to, struct diags *diags);

#endif
