/* Names that are taken: by SQL and SQLite, by every database of results, and by what `dse query` computes. The name of a model
 * becomes tables and views, those of its parameters and metrics become columns. SQL does not tell upper from lower case, and nor
 * does this. Whoever loads a model, `dse test-model` and [derive] ask here. */
#ifndef DSE_MODEL_NAMES_H
#define DSE_MODEL_NAMES_H

#include <dse/model.h>
#include <stdbool.h>

enum name_use { NAME_OF_PARAMETER, NAME_OF_METRIC, NAME_OF_DERIVED, NAME_USES };

/* What has a column of that name already: "every table of results"; NULL: nothing has. */
const char *name_of_column(const char *name, enum name_use use);
/* What has a table or a view of that name already, or could not read it in SQL; NULL: nothing. Other models are not asked. */
const char *name_of_table(const char *name);

/* Is it letters, digits and _, and no digit first? Any length. */
bool name_is_plain(const char *name);

/* Is the name that of a table or a view that the model MODEL makes besides its own: MODEL_front? Its ending, or NULL. */
const char *name_ending(const char *name, const char *model);

/* Gets a name that is refused, m->name itself where it is the model's, and the whole sentence that says why. */
typedef void name_teller(void *user, const char *name, const char *message);
/* Are all names of the model free, its own among the models of the registry? Tells each that is not. */
bool names_check(const struct dse_model *m, name_teller *tell, void *user);

#endif
