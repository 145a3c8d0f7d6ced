/* For tests: the data files as rows of text, without the loaders of src/config.
 *
 *     struct rows r;
 *     rows_read_csv(&r, DSE_SOURCE_DATA "/catalog/sram.csv");
 *     for (size_t i = 0; i < r.n; i++) rows_number(&r, i, "area_mm2")
 *     rows_release(&r);
 *
 * A CSV file has a header and no quotes; lines that start with # are skipped. rows_read_toml knows the flat TOML of llms.toml and
 * memories.toml: [name], then key = value; its columns are the keys of the first entry, and "name".
 */
#ifndef DSE_TESTS_ROWS_H
#define DSE_TESTS_ROWS_H

#include "base/diag.h"
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rows {
    char *text;
    char ***cell; /* cell[i][c] */
    char **column;
    size_t n, n_columns;
};

static inline char *rows_text(const char *path)
{
    struct diags wrong;
    diags_init(&wrong);
    char *text = NULL;
    if (!text_read_file(path, (size_t)1 << 24, &text, NULL, &wrong)) diags_print(&wrong, stderr, false);
    diags_release(&wrong);
    return text;
}

/* Split a line in place at the commas. */
static inline char **rows_split(char *line, size_t *ret_n)
{
    char **cells = NULL;
    size_t n = 0;
    for (char *p = line; p;) {
        cells = xrealloc(cells, n + 1, sizeof *cells);
        cells[n++] = p;
        p = strchr(p, ',');
        if (p) *p++ = '\0';
    }
    *ret_n = n;
    return cells;
}

static inline void rows_read_csv(struct rows *r, const char *path)
{
    *r = (struct rows){.text = rows_text(path)};
    if (!r->text) abort();
    char *save = NULL;
    for (char *line = strtok_r(r->text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (line[0] == '#') continue;
        if (!r->column) {
            r->column = rows_split(line, &r->n_columns);
            continue;
        }
        size_t n;
        r->cell = xrealloc(r->cell, r->n + 1, sizeof *r->cell);
        r->cell[r->n++] = rows_split(line, &n);
        if (n != r->n_columns) abort();
    }
}

static inline size_t rows_column(const struct rows *r, const char *name)
{
    for (size_t c = 0; c < r->n_columns; c++)
        if (strcmp(r->column[c], name) == 0) return c;
    abort();
}

static inline const char *rows_string(const struct rows *r, size_t i, const char *column)
{
    return r->cell[i][rows_column(r, column)];
}

/* NaN for an empty cell. */
static inline double rows_number(const struct rows *r, size_t i, const char *column)
{
    double v = (double)NAN;
    const char *s = rows_string(r, i, column);
    if (*s && !text_parse_f64(s, &v)) abort();
    return v;
}

static inline void rows_release(struct rows *r)
{
    for (size_t i = 0; i < r->n; i++) free(r->cell[i]);
    free(r->cell);
    free(r->column);
    free(r->text);
}

/* One entry after the other; `add` sees every "key = value" of it, strings with their quotes, and NULL, NULL when it ends. Of
 * tables inside of it (kinds of layers) nothing is read. */
static inline void rows_read_toml(const char *path,
                                  void (*add)(void *context, const char *name, const char *key, const char *value), void *context)
{
    char *text = rows_text(path), *save = NULL, *name = NULL;
    bool inside = true;
    if (!text) abort();
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *equals = strstr(line, " = ");
        if (line[0] == '[' && strstr(line, ".kinds.")) {
            inside = false;
        } else if (line[0] == '[') {
            inside = true;
            if (name) add(context, name, NULL, NULL);
            name = line + 1 + (line[1] == '"'); /* a name with a dot stands in quotes */
            name[strcspn(name, "\"]")] = '\0';
        } else if (inside && line[0] != '#' && equals) {
            *equals = '\0';
            add(context, name, line, equals + 3);
        }
    }
    if (name) add(context, name, NULL, NULL);
    free(text);
}

#endif
