/* TOML with locations: the tree of a file, every node with its line and column. Parsing is toml++'s (toml_shim.cc); nothing else of
 * the project is C++.
 *
 * The tree belongs to the document and lives until toml_free. Keys of a table stand in the order of the file. Keys have no
 * control characters and strings no NUL. Columns count characters. At most 64 brackets stand inside each other and a dotted key
 * has at most 16 parts, so the tree can be walked by recursion.
 */
#ifndef DSE_CONFIG_TOML_H
#define DSE_CONFIG_TOML_H

#include "base/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum toml_type { TOML_STRING, TOML_INTEGER, TOML_FLOAT, TOML_BOOLEAN, TOML_DATETIME, TOML_ARRAY, TOML_TABLE };

struct toml_node {
    enum toml_type type;
    int line, column;         /* of the value */
    char *key;                /* in a table; NULL in an array and for the root */
    int key_line, key_column; /* of the key */
    union {
        char *string; /* STRING; DATETIME in the form of RFC 3339 */
        int64_t integer;
        double number;
        bool boolean;
    };
    struct toml_node *children; /* ARRAY, TABLE */
    size_t n;
};

struct toml_doc {
    char *file; /* as given by the user */
    char *text; /* the whole file, without its byte order mark */
    struct toml_node root;
};

/* Read and parse a file. NULL, with errors added, when it cannot be read, is too large (8 MiB), is not UTF-8 or not TOML. The
 * caller frees the document with toml_free. */
struct toml_doc *toml_read_file(const char *path, struct diags *diags);
/* The same from memory; `name` stands for the file in messages. */
struct toml_doc *toml_read_text(const char *name, const char *text, size_t n, struct diags *diags);
void toml_free(struct toml_doc *doc);

/* The child of that key, or NULL. */
const struct toml_node *toml_get(const struct toml_node *table, const char *key);
/* "a string", "an integer", ... */
const char *toml_type_name(enum toml_type type);
/* Where a node's value, or its key, stands. */
struct srcloc toml_loc(const struct toml_doc *doc, const struct toml_node *node);
struct srcloc toml_key_loc(const struct toml_doc *doc, const struct toml_node *node);
/* Where the text of a string begins: behind its opening quotes, and behind the newline that may follow three of them. */
struct srcloc toml_string_loc(const struct toml_doc *doc, const struct toml_node *node);

/* The child `key` if it has the wanted type; NULL when it is missing or, with an error added, of another type. */
const struct toml_node *toml_expect(const struct toml_doc *doc, const struct toml_node *table, const char *key, enum toml_type type,
                                    struct diags *diags);
/* Add an error for every key of the table that is not among allowed[0..n), with the nearest that is. */
bool toml_check_keys(const struct toml_doc *doc, const struct toml_node *table, const char *const *allowed, size_t n,
                     struct diags *diags);

#endif
