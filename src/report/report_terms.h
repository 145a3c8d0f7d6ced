/* On which terms of a comparison the models of a run are not equal (run.unequal, kind "unequal-terms"). */
#ifndef DSE_REPORT_TERMS_H
#define DSE_REPORT_TERMS_H

#include "report/report_data.h"

struct report_terms;
/* NULL with errors. The caller frees it. */
struct report_terms *report_terms_new(const struct report_run *r, struct diags *diags);
void report_terms_free(struct report_terms *t);
/* Add " They differ in process node (22nm, 7nm) and DRAM (hbm2, hbm3)." where two models do. */
void report_terms_add(const struct report_terms *t, const char *a, const char *b, struct text *to);

#endif
