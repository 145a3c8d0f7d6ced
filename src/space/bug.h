/* What dse says when the numbers of a model cannot be. */
#ifndef DSE_SPACE_BUG_H
#define DSE_SPACE_BUG_H

#include "model/registry.h"

/* "a bug in model NAME: dram_utilization is 1.03, ...", of what model/row_check.h found. Of a model in TOML it says which key of
 * [step] causes it, where that is known. The caller frees it. */
char *bug_text(const struct model *m, const char *found);

#endif
