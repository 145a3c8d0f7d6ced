/* A look at the text before toml++ sees it. Internal to src/config.
 *
 * toml++ frees its tables by recursion and puts no limit on the parts of a dotted key: two million dots overflow the stack.
 * It looks for each table among all that dotted keys and headers made, which takes a time that grows with their square. Version 3.3
 * runs into undefined behaviour where it asks whether U+00A1 to U+0499 are spaces. So this finds what is nested too deep, what
 * there is too much of, what is not ASCII outside of strings and comments (TOML has no such thing), and bytes that no text in UTF-8
 * has.
 *
 * toml++ 3.3 reads TOML 1.0, where an inline table is one line. Those of TOML 1.1, over several lines, with comments and a comma at
 * their end, are made one line here.
 */
#ifndef DSE_CONFIG_TOML_SCAN_H
#define DSE_CONFIG_TOML_SCAN_H

#include <stdbool.h>
#include <stddef.h>

enum {
    TOML_NESTING_MAX = 64,   /* brackets and braces inside each other */
    TOML_KEY_PARTS_MAX = 16, /* parts of a dotted key */
    TOML_TABLES_MAX = 40000, /* headers, and dots of keys */
    TOML_VALUES_MAX = 1000000,
};

/* The text as the parser takes it. */
struct toml_joined {
    char *text; /* as long as what it was made of; NULL: that is as it must be */
    struct toml_break {
        int line, column;
    } * breaks; /* where in it lines begin that were joined to those in front of them, in order */
    size_t n;
};

/* NULL when text[0..n) can be given to the parser, as *ret says; else what is wrong, with its place (columns count characters).
 * Release *ret in any case. */
const char *toml_scan(const char *text, size_t n, struct toml_joined *ret, int *ret_line, int *ret_column);
void toml_joined_release(struct toml_joined *j);
/* A place in the joined text becomes that in the file. */
void toml_joined_place(const struct toml_joined *j, int *line, int *column);

#endif
