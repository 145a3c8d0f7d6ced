/* What the tests of figures share: figure files from a string, rows from arrays, and a look at what was complained about. */
#ifndef DSE_TESTS_FIGURE_FIXTURE_H
#define DSE_TESTS_FIGURE_FIXTURE_H

#include "base/text.h"
#include "base/xalloc.h"
#include "figure/kinds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A cell of an array of rows: a text if there is one, NULL if neither, a blob if `blob`. */
struct test_cell {
    double number;
    const char *text;
    bool null, blob;
};
#define N(v) \
    { \
        .number = v \
    }
#define T(v) \
    { \
        .text = v \
    }
#define NIL \
    { \
        .null = true \
    }
#define BLOB \
    { \
        .blob = true \
    }

enum { TEST_COLUMNS = 3 }; /* x, y, s */
struct test_rows {
    struct rows rows;
    const struct test_cell (*cells)[TEST_COLUMNS];
    size_t n, at;
};

static inline const struct test_cell *test_cell(const struct rows *r, int column)
{
    const struct test_rows *t = (const struct test_rows *)r;
    return &t->cells[t->at - 1][column];
}

static inline const char *test_rows_name(const struct rows *r, int column)
{
    (void)r;
    static const char *const names[] = {"x", "y", "s"};
    return names[column];
}

static inline int test_rows_next(struct rows *r, struct diags *diags)
{
    (void)diags;
    struct test_rows *t = (struct test_rows *)r;
    return t->at++ < t->n;
}

static inline enum cell_type test_rows_type(const struct rows *r, int column)
{
    const struct test_cell *c = test_cell(r, column);
    return c->null ? CELL_NULL : c->blob ? CELL_BLOB : c->text ? CELL_TEXT : CELL_REAL;
}

static inline double test_rows_f64(const struct rows *r, int column)
{
    return test_cell(r, column)->number;
}

static inline const char *test_rows_text(const struct rows *r, int column)
{
    return test_cell(r, column)->text;
}

static inline struct test_rows make_rows(const struct test_cell (*cells)[TEST_COLUMNS], size_t n)
{
    return (struct test_rows){
        .rows = {.n_columns = TEST_COLUMNS,
                 .name = test_rows_name,
                 .next = test_rows_next,
                 .type = test_rows_type,
                 .f64 = test_rows_f64,
                 .text = test_rows_text},
        .cells = cells,
        .n = n,
    };
}

/* All messages, one a line, as "line:column: message | hint". The caller frees it. */
static inline char *said(const struct diags *d)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < d->n; i++) {
        text_addf(&t, "%d:%d: %s", d->list[i].line, d->list[i].column, d->list[i].message);
        if (d->list[i].hint) text_addf(&t, " | %s", d->list[i].hint);
        text_add(&t, "\n");
    }
    return text_detach(&t);
}

static inline void assert_said(struct diags *d, const char *part)
{
    char *all = said(d);
    if (!strstr(all, part)) fail_msg("nothing says \"%s\" in:\n%s", part, all);
    free(all);
}

/* A figure that must be right. */
static inline struct figure *good_figure(const char *text)
{
    struct diags d;
    diags_init(&d);
    struct figure *f = figure_read_text("test.toml", text, strlen(text), &d);
    if (!f) fail_msg("%s", said(&d));
    diags_release(&d);
    return f;
}

#endif
