/* What tells the designs of a run apart, where models stand side by side: of the parameters that it varied those that all of its
 * models have, and those that some have. Read from a database whose views show the run (reader_show_run).
 */
#ifndef DSE_SWEEP_DESIGN_H
#define DSE_SWEEP_DESIGN_H

#include "base/text.h"
#include "store/query.h"

/* A list of names of models or columns. {0} is empty. The caller releases it. */
struct name_list {
    char **s;
    size_t n;
};
void name_list_add(struct name_list *l, const char *s);
bool name_list_have(const struct name_list *l, const char *s);
void name_list_release(struct name_list *l);

/* Read the names of the columns of a table or view. */
bool read_columns(struct reader *r, const char *table, struct name_list *ret, struct diags *diags);
/* The models of a run, in the order in which the database got them. */
bool read_models(struct reader *r, int64_t run, struct name_list *ret, struct diags *diags);
/* Split the axes into those that all models have and those that only some have. */
bool split_axes(struct reader *r, const struct name_list *models, const struct name_list *axes, struct name_list *ret_shared,
                struct name_list *ret_own, struct diags *diags);
/* Add the SQL ", <expression> AS design", whose value is like "tiles=8 sram_mib=2.5". It has those axes of single models that a
 * model with these columns has. */
void add_design(struct text *sql, const struct name_list *own, const struct name_list *columns);

#endif
