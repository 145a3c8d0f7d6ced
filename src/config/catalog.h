/* The catalog: every named entry, from the files shipped in catalog/ and from the user's own.
 *
 * Shipped: llms.toml, memories.toml (a table per entry: [llama2-7b] layers = 32 ...; keys are the rows of dse_llm_fields and
 * dse_memory_fields plus `source`), technology.csv, sram.csv, profiles/NAME.csv, retentions/NAME.csv, recordings/NAME.csv. A
 * user's file (`--catalog FILE`, or [catalog] inside a sweep) has tables [llms.NAME], [memories.NAME] and profiles.NAME or
 * retentions.NAME = "file.csv" (relative to that file), checked like the shipped ones; a mix of requests is either,
 * [requests.NAME] or requests.NAME = "file.csv". A name that exists already is an error that says so.
 */
#ifndef DSE_CONFIG_CATALOG_H
#define DSE_CONFIG_CATALOG_H

#include "base/diag.h"
#include "config/toml.h"

#include <dse/catalog.h>

struct catalog;

/* Load what is shipped, from `data_dir`/catalog. NULL with errors when it is broken. Entries live until catalog_free. */
struct catalog *catalog_new(const char *data_dir, struct diags *diags);
/* The same of catalog_data_dir(), and the user's own files: $XDG_CONFIG_HOME/dse/catalog.toml (~/.config/dse/catalog.toml), where
 * there is one, then those that $DSE_CATALOG names, with colons between them. */
struct catalog *catalog_open(struct diags *diags);
/* The same of another data_dir. */
struct catalog *catalog_open_in(const char *data_dir, struct diags *diags);
void catalog_free(struct catalog *c);

/* Add a user's file, or nothing of it when something is wrong with it. A file that was added is not added a second time: true if
 * it is what it was, else an error. */
bool catalog_add_file(struct catalog *c, const char *path, struct diags *diags);
/* Add the [catalog] table of an already parsed document. */
bool catalog_add_table(struct catalog *c, const struct toml_doc *doc, const struct toml_node *table, struct diags *diags);

/* The entry of that name, or NULL. */
const struct dse_entry *catalog_find(const struct catalog *c, enum dse_kind kind, const char *name);
/* The i-th entry of a kind in the order of the files, or NULL behind the last. */
const struct dse_entry *catalog_at(const struct catalog *c, enum dse_kind kind, size_t i);
/* The fields of a kind's entries that set defaults of parameters and that `dse list` shows (layers, channels, ...); an empty
 * schema for kinds without. Lives as long as the catalog. */
struct schema;
const struct schema *catalog_fields(const struct catalog *c, enum dse_kind kind);

/* The rows of those fields; NULL of kinds without. */
const struct dse_param *catalog_kind_fields(enum dse_kind kind);

/* Is this kind kept in TOML, so that an entry can be written? */
bool catalog_has_toml(enum dse_kind kind);
/* Does the entry say nothing of this field? */
struct field;
bool catalog_is_left_out(const struct field *f, const struct dse_entry *entry);
/* The entry as a table [KIND.name] of a user's file: read back, it is the same. */
struct text;
void catalog_write_entry(const struct catalog *c, enum dse_kind kind, const struct dse_entry *entry, const char *name,
                         struct text *ret);

/* What a run keeps of an entry that it uses: of kinds in TOML all of it, as a table [KINDS.name]; of books of costs and
 * of what comes from CSV a comment "# KINDS.name HASH". */
void catalog_write_state(const struct catalog *c, enum dse_kind kind, const struct dse_entry *entry, struct text *ret);
/* Let entries be as such a text has them, whatever the catalog has under their names. Only before anything refers to an entry.
 * False with errors about entries that this dse cannot read; the others are restored. */
bool catalog_restore(struct catalog *c, const char *text, struct diags *diags);

/* Where the data are: $DSE_DATA_DIR, else the installed place, else the source tree the binary was built in. A string constant or
 * the environment's. The directory holds catalog/ and models/. */
const char *catalog_data_dir(void);

/* A hash of the names and bytes of all files of DATA_DIR/catalog and the folders in it, and their number. */
uint64_t catalog_digest(const char *data_dir, size_t *ret_files);

#endif
