/* A look at the text before toml++ sees it. Internal to src/config.
 *
 * toml++ frees its tables by recursion and puts no limit on the parts of a dotted key: two million dots overflow the stack.
 * Version 3.3 runs into undefined behaviour where it asks whether U+00A1 to U+0499 are spaces. So this finds what is nested too
 * deep, what is not ASCII outside of strings and comments (TOML 1.0 has no such thing), and bytes that no text in UTF-8 has.
 */
#ifndef DSE_CONFIG_TOML_SCAN_H
#define DSE_CONFIG_TOML_SCAN_H

#include <stdbool.h>
#include <stddef.h>

enum {
    TOML_NESTING_MAX = 64,   /* brackets and braces inside each other */
    TOML_KEY_PARTS_MAX = 16, /* parts of a dotted key */
};

/* NULL when text[0..n) can be given to the parser, else what is wrong, with its place (columns count characters). */
const char *toml_scan(const char *text, size_t n, int *ret_line, int *ret_column);

#endif
