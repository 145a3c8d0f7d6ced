/* The settings in the head of a profile, a retention profile or a recording: "kind=retention steps=32 threshold_a=1 ...
 * llm=mine". What reads them is in <dse/catalog.h>.
 *
 * Known names are those of enum dse_setting in small letters; llm; data=FROM..TO, the contexts that a law was made from; and what
 * says how was measured but that no model sets: kind, steps, edges, ends, weights, seed.
 */
#ifndef DSE_WORKLOAD_MEASURED_H
#define DSE_WORKLOAD_MEASURED_H

#include "base/text.h"

#include <dse/catalog.h>

/* A file without settings has the defaults. NULL when they cannot be read: *ret_why says why, and the caller frees it. `text` may
 * be NULL. Free with measured_free. */
struct dse_measured *measured_new(const char *text, char **ret_why);
struct dse_measured *measured_copy(const struct dse_measured *m);
void measured_free(struct dse_measured *m);
/* Set the kind and name of the entry ("retention", "codellama-13b") that the sentences mention. Without this call there are no
 * sentences. */
void measured_name(struct dse_measured *m, const char *kind, const char *name);

/* The same as dse_profile_beyond. */
const char *measured_beyond(const struct dse_measured *m, double context);
/* What was measured, as a text that hashes are made of. The caller frees it. */
char *measured_text(const struct dse_measured *m);

/* What a file without a word on it means. */
double measured_otherwise(enum dse_setting s);
double measured_value(const struct dse_measured *m, enum dse_setting s);
/* A value as files have it; buf holds numbers. */
const char *measured_setting_text(enum dse_setting s, double value, char buf[TEXT_NUMBER_MAX]);
/* Settings of a row of a quality file, "intervals=16 recent=32", over those that are there. Why not, or NULL; the caller frees
 * it. */
char *measured_read_row(const char *text, double value[DSE_SETTINGS]);

#endif
