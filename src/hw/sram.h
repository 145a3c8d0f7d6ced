/* Building a table of SRAM macros; reading one is in <dse/hw.h>.
 *
 *     struct dse_sram_table *t = sram_table_new("cacti-22nm-hp-1rw", "CACTI 7.0 ...", 22);
 *     sram_table_add(t, 1.0, 256, &macro);      as many as there are, in any order
 *     if (!sram_table_finish(t, &why)) ...      checks and sorts; only then it can be read
 *     sram_table_free(t);
 *
 * The macros must form a grid: every capacity with every word width. A paper that gives no word width has NaN for it in all its
 * macros. A metric must be given in all macros of a table or in none (NaN).
 */
#ifndef DSE_HW_SRAM_H
#define DSE_HW_SRAM_H

#include <dse/hw.h>

/* A table without macros. It starts with its struct dse_entry; name and source are copied. */
struct dse_sram_table *sram_table_new(const char *name, const char *source, double node_nm);
void sram_table_add(struct dse_sram_table *t, double capacity_mib, double word_bits, const struct dse_sram *macro);
/* Check the macros and prepare the interpolation. False when they are no table: then *ret_why says why, naming the macro, and the
 * caller frees it; the table can only be freed. */
bool sram_table_finish(struct dse_sram_table *t, char **ret_why);
void sram_table_free(struct dse_sram_table *t);

#endif
