/* The inside of the catalog, shared by catalog.c (TOML) and catalog_csv.c.
 *
 * Files that call each other: catalog, catalog_costs, catalog_csv, catalog_kinds, catalog_quality, catalog_tasks, catalog_toml,
 * catalog_write: an entry's kind names who reads and writes it, and readers and writers ask the catalog for other entries, and
 * for the kinds of entries within an entry.
 */
#ifndef DSE_CONFIG_CATALOG_INTERNAL_H
#define DSE_CONFIG_CATALOG_INTERNAL_H

#include "config/catalog.h"
#include "desc/schema.h"

#include <dse/costs.h>
#include <dse/hw.h>
#include <dse/workload.h>
#include <sys/types.h>

/* What a kind of TOML entries is made of; fields NULL for kinds that come from CSV. */
struct entry_kind {
    const struct dse_param *fields;
    size_t size;
    /* NULL, or why its numbers do not fit together; may fill in what is made of them. */
    const char *(*check)(void *entry);
};
extern const struct entry_kind entry_kinds[DSE_KIND_COUNT];

struct entry_list {
    struct dse_entry **entries;
    const char **files; /* of each: the CSV file that was read last before it was added; only kinds that come from such mean it */
    size_t n;
};

struct catalog {
    struct entry_list lists[DSE_KIND_COUNT];
    struct schema fields[DSE_KIND_COUNT];
    struct file_id {
        dev_t device;
        ino_t inode;
        uint64_t contents; /* catalog_contents */
    } * files;             /* the user's, as read */
    size_t n_files;
    const char *reading; /* the CSV file that is being read, interned; or NULL */
    bool replaces;       /* an entry takes the place of one of its name: catalog_restore */
    char **interned;     /* names and sources: equal ones have equal pointers */
    size_t n_interned;
};

enum { CATALOG_FILE_MAX = 64 << 20 }; /* bytes of a file that is hashed */

/* The catalog's own copy of s, the same pointer for equal strings. */
const char *catalog_intern(struct catalog *c, const char *s);

/* Is there room for one more entry of the kind? Else an error at the place. */
bool catalog_has_room(const struct catalog *c, enum dse_kind kind, struct srcloc loc, const char *source_text, struct diags *diags);
/* One key of an entry, or of a part of one, into its field. False with an error at the value. */
bool catalog_set_key(const struct field *f, void *entry, const struct toml_doc *doc, const struct toml_node *node,
                     struct diags *diags);
/* As TOML has them: a key, in quotes where it must be; the value of a field. */
void catalog_add_key(struct text *t, const char *key);
void catalog_add_value(struct text *t, const struct field *f, struct value v);
/* Append; the catalog owns the entry from now on. While it replaces, one of the same name goes to the end, where no one finds
 * it. */
void catalog_add(struct catalog *c, enum dse_kind kind, struct dse_entry *entry);
/* A hash of a user's file and the CSV files that it names. */
uint64_t catalog_contents(const struct toml_doc *doc);
/* catalog/KIND.toml of the data directory. */
bool catalog_load_toml(struct catalog *c, enum dse_kind kind, const char *data_dir, struct diags *diags);
/* The book "public" of the data directory: catalog/costs.toml. */
bool catalog_load_costs(struct catalog *c, const char *data_dir, struct diags *diags);
/* A book from its table, without name, source and title, which are the caller's; NULL with errors. What a constant's row does not
 * say of itself in a book like another is the book's: `source`, which is interned. */
struct dse_entry *catalog_read_book(struct catalog *c, const struct toml_doc *doc, const struct toml_node *table,
                                    const char *source, const struct dse_entry *like, struct diags *diags);
/* Its constants as keys of a table. */
struct text;
void catalog_write_book(const struct dse_costs *book, struct text *ret);
void costs_free(struct dse_costs *book);
/* How much a catalog has, and back to it: entries and names that were added since are freed. So one that costs files to open
 * serves many who add their own. */
struct catalog_mark {
    size_t entries[DSE_KIND_COUNT], interned, files;
};
struct catalog_mark catalog_mark(const struct catalog *c);
void catalog_forget(struct catalog *c, const struct catalog_mark *since);
/* technology.csv, sram.csv, profiles/, retentions/ and recordings/ of the data directory. */
bool catalog_load_csv(struct catalog *c, const char *data_dir, struct diags *diags);
/* How a file was measured, by its head; NULL with an error. */
struct csv_table;
struct dse_measured;
struct dse_measured *catalog_read_measured(const struct csv_table *t, struct diags *diags);
/* Say what is wrong with an entry at the cell that it is wrong about, else at the header. Frees the fault's words. Always false. */
struct row_fault;
bool catalog_blame(const struct csv_table *t, enum dse_kind kind, const char *name, struct row_fault *fault, struct diags *diags);
/* One entry from a CSV file of its own, of a kind that has such. */
bool catalog_has_csv(enum dse_kind kind);
bool catalog_add_csv(struct catalog *c, enum dse_kind kind, const char *name, const char *path, struct diags *diags);
typedef bool csv_adder_fn(struct catalog *c, const char *name, const char *path, struct diags *diags);
/* One quality entry from a CSV file in long format (docs/explanation/quality.md). */
bool catalog_add_quality(struct catalog *c, const char *name, const char *path, struct diags *diags);
/* The same of a file that ships: it is read when something of it is asked, and an error is what it then says. */
bool catalog_add_quality_later(struct catalog *c, const char *name, const char *path, struct diags *diags);
/* The tasks of catalog/task_quality.csv; one from a file of its own. */
bool catalog_load_tasks(struct catalog *c, const char *data_dir, struct diags *diags);
bool catalog_add_task(struct catalog *c, const char *name, const char *path, struct diags *diags);

#endif
