/* Sweeps of the made-up models in a directory of their own, and what is asked of their databases. */
#ifndef DSE_TESTS_SWEEP_BED_H
#define DSE_TESTS_SWEEP_BED_H

#include "scratch.h"
#include "store/query.h"
#include "sweep/sweep.h"
#include "toy_model.h"

struct bed {
    char *dir, *file, *db;
    struct diags diags;
};

static inline void fail_with(struct diags *d)
{
    diags_print(d, stderr, false);
    fail_msg("%zu errors", d->errors);
}

static inline int make_bed(void **state)
{
    struct bed *b = xcalloc(1, sizeof *b);
    diags_init(&b->diags);
    b->dir = scratch_new();
    b->file = xasprintf("%s/s.toml", b->dir);
    b->db = xasprintf("%s/s.db", b->dir);
    *state = b;
    return 0;
}

static inline int clear_bed(void **state)
{
    struct bed *b = *state;
    scratch_remove(b->dir);
    free(b->file);
    free(b->db);
    diags_release(&b->diags);
    free(b);
    registry_release();
    return 0;
}

/* Run the sweep of this text into db. */
static inline struct sweep_result run(struct bed *b, const char *text, const char *db, int threads, bool fresh)
{
    scratch_write(b->dir, "s.toml", text);
    struct catalog *catalog = catalog_new(toy_data_dir(), &b->diags);
    struct sweep_file *s = catalog ? sweep_file_read(b->file, catalog, toy_data_dir(), &b->diags) : NULL;
    if (!s || b->diags.errors) fail_with(&b->diags);
    struct sweep_options options = {.db = db, .threads = threads, .fresh = fresh, .max_points = 1000000};
    struct sweep_result result;
    if (!sweep_run(s, &options, &result, &b->diags)) fail_with(&b->diags);
    sweep_file_free(s);
    catalog_free(catalog);
    return result;
}

/* A query's rows as one text. */
static inline char *ask(struct bed *b, const char *db, const char *sql)
{
    struct text t;
    text_init(&t);
    struct reader *r = reader_open(db, &b->diags);
    struct query *q = r ? query_new(r, sql, (struct srcloc){0}, &b->diags) : NULL;
    if (!q) fail_with(&b->diags);
    while (query_step(q, &b->diags) == 1) {
        for (int i = 0; i < query_columns(q); i++) text_addf(&t, "%s%s", i ? "|" : "", query_text(q, i) ? query_text(q, i) : "-");
        text_add(&t, "\n");
    }
    query_free(q);
    reader_close(r);
    return text_detach(&t);
}

static inline void answers(struct bed *b, const char *db, const char *sql, const char *expected)
{
    char *got = ask(b, db, sql);
    assert_string_equal(got, expected);
    free(got);
}

static inline void same_answer(struct bed *b, const char *db1, const char *db2, const char *sql)
{
    char *one = ask(b, db1, sql), *two = ask(b, db2, sql);
    assert_string_equal(one, two);
    free(one);
    free(two);
}

#endif
