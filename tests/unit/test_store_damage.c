/* Databases that were damaged: whoever reads one gives all of the right answer or refuses, never a part of it. */
#include "base/file.h"
#include "samples.h"
#include "store_fixture.h"

#include <sys/stat.h>

enum { POINTS = 1280 };

static size_t places(void)
{
    return (size_t)samples(70, 200);
}

/* ---- a database and its bytes ---------------------------------------------------------------------------------------------- */

struct bytes {
    char *s;
    size_t n;
};

static struct bytes read_bytes(const char *path)
{
    struct bytes b;
    struct diags d;
    diags_init(&d);
    assert_true(text_read_file(path, 1 << 26, &b.s, &b.n, &d));
    return b;
}

static void write_bytes(const char *path, const char *s, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(s, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* A run that is done, with a front. */
static void make_whole(const char *path)
{
    struct diags d;
    diags_init(&d);
    struct store *st = toy_open(path, 1, POINTS, NULL, 0);
    assert_true(toy_write_encoded(st, 0, POINTS - 1, &d));
    uint64_t front[100];
    for (size_t i = 0; i < COUNT(front); i++) front[i] = 12 * i + 1;
    assert_true(store_front(st, 0, front, COUNT(front), &d) && store_finish(st, "done", &d));
    store_close(st);
}

/* ---- damage ---------------------------------------------------------------------------------------------------------------- */

static uint64_t seed;

static size_t below(size_t n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (size_t)(seed % n);
}

/* A bit, some bytes, a sector of zeros or of something else, two sectors exchanged, an end that is missing or that is too much. */
static void damage(struct bytes *b)
{
    enum { SECTOR = 512 };
    size_t at = below(b->n), sector = at / SECTOR * SECTOR, other = below(b->n) / SECTOR * SECTOR;
    switch (below(7)) {
    case 0: b->s[at] = (char)(b->s[at] ^ 1 << below(8)); break;
    case 1:
        for (size_t i = at; i < b->n && i < at + 16; i++) b->s[i] = (char)below(256);
        break;
    case 2: memset(b->s + sector, 0, SECTOR); break;
    case 3:
        for (size_t i = 0; i < SECTOR; i++) b->s[sector + i] = (char)below(256);
        break;
    case 4: memmove(b->s + sector, b->s + other, SECTOR); break;
    case 5: b->n = at; break;
    default: b->n -= below(2) ? SECTOR : 16384; break;
    }
}

/* ---- readers: what each says of a file as text, or NULL when it refuses -------------------------------------------------- */

static char *refuse(struct diags *d, struct text *t)
{
    assert_true(d->errors > 0);
    diags_release(d);
    text_release(t);
    return NULL;
}

static bool add_rows(struct reader *r, const char *sql, struct text *t, struct diags *d)
{
    struct query *q = query_new(r, sql, (struct srcloc){0}, d);
    int more = q ? 1 : -1;
    while (more > 0 && (more = query_step(q, d)) > 0)
        for (int i = 0; i < query_columns(q); i++) {
            const char *s = query_text(q, i);
            text_addf(t, "%s%s", s ? s : "NULL", i + 1 < query_columns(q) ? "|" : "\n");
        }
    query_free(q);
    return more == 0;
}

static char *read_as_query(const char *path)
{
    static const char *const all[] = {"SELECT * FROM toy",        "SELECT * FROM toy_front", "SELECT * FROM comparison",
                                      "SELECT * FROM toy_all",    "SELECT * FROM run",       "SELECT * FROM column_info",
                                      "SELECT count(*) FROM toy", "SELECT * FROM toy_fixed", "SELECT * FROM block"};
    struct diags d;
    diags_init(&d);
    struct text t;
    text_init(&t);
    struct reader *r = reader_open(path, &d);
    bool ok = r && reader_show_run(r, 0, &d);
    for (size_t i = 0; ok && i < COUNT(all); i++) ok = add_rows(r, all[i], &t, &d);
    reader_close(r);
    if (!ok) return refuse(&d, &t);
    assert_int_equal(d.errors, 0);
    return text_detach(&t);
}

static void add_point(void *user, const struct scan_row *row)
{
    text_addf(user, "%llu %.17g %.17g %s\n", (unsigned long long)row->point, row->values[0], row->values[1], row->group);
}

/* What a front is computed from. */
static char *read_as_scan(const char *path)
{
    static const char *const values[] = {"tokens_per_s", "tiles"}, *const group[] = {"llm"};
    const struct scan_columns columns = {.values = values, .n_values = 2, .group = group, .n_group = 1};
    struct diags d;
    diags_init(&d);
    struct text t;
    text_init(&t);
    struct store *st = store_open_run(path, 1, &d);
    bool ok = st && store_scan(st, 0, STORE_FINEST, &columns, add_point, &t, &d);
    store_close(st);
    return ok ? text_detach(&t) : refuse(&d, &t);
}

/* The same sweep run into it once more. */
static char *read_as_resume(const char *path)
{
    struct diags d;
    diags_init(&d);
    struct text t;
    text_init(&t);
    struct store_table table = toy_table(POINTS);
    struct run_info info = toy_info(1, NULL);
    struct store *st = store_open_tables(path, &info, &table, 1, 0, &d);
    size_t n = 0;
    struct range *missing = st ? store_missing(st, 0, 0, POINTS, &n, &d) : NULL;
    if (st) text_addf(&t, "run %lld, complete %d, missing %zu\n", (long long)store_run(st), store_complete(st), n);
    free(missing);
    store_close(st);
    return st ? text_detach(&t) : refuse(&d, &t);
}

static char *read_as_merge(const char *path)
{
    struct diags d;
    diags_init(&d);
    struct text t;
    text_init(&t);
    unlink("merged.db");
    if (!store_merge("merged.db", &path, 1, &d)) return refuse(&d, &t);
    return sql_dump("merged.db", "SELECT * FROM toy_all");
}

static char *(*const readers[])(const char *path) = {read_as_query, read_as_scan, read_as_resume, read_as_merge};

/* ---- the tests ------------------------------------------------------------------------------------------------------------- */

static void damage__never_gives_a_part_of_an_answer(void **state)
{
    (void)state;
    make_whole("whole.db");
    char *right[COUNT(readers)];
    size_t refused = 0, answered = 0;
    for (size_t i = 0; i < COUNT(readers); i++) assert_non_null(right[i] = readers[i]("whole.db"));
    struct bytes whole = read_bytes("whole.db"); /* as the writers among the readers left it */
    assert_true(whole.n > 10 * 16384);
    for (size_t place = 0; place < places(); place++) {
        struct bytes b = {xmalloc(whole.n), whole.n};
        memcpy(b.s, whole.s, whole.n);
        seed = (place + 1) * 0x9E3779B97F4A7C15u;
        damage(&b);
        for (size_t i = 0; i < COUNT(readers); i++) {
            write_bytes("a.db", b.s, b.n);
            char *said = readers[i]("a.db");
            if (said && strcmp(said, right[i]) != 0) fail_msg("place %zu: reader %zu gives another answer, and no error", place, i);
            refused += said == NULL;
            answered += said != NULL;
            free(said);
        }
        free(b.s);
    }
    print_message("%zu answers right, %zu refused\n", answered, refused);
    assert_true(refused > places()); /* most places matter */
    for (size_t i = 0; i < COUNT(readers); i++) free(right[i]);
    free(whole.s);
}

/* Another program has written to the file, so that there is no seal: the rows are all there, whatever their values are, or none
 * is given. */
static void damage__never_loses_rows_of_a_file_without_a_seal(void **state)
{
    (void)state;
    make_whole("whole.db");
    sql_exec("whole.db", "UPDATE run SET host = 'another'");
    struct bytes whole = read_bytes("whole.db");
    for (size_t place = 0; place < places(); place++) {
        struct bytes b = {xmalloc(whole.n), whole.n};
        memcpy(b.s, whole.s, whole.n);
        seed = (place + 1000) * 0x9E3779B97F4A7C15u;
        damage(&b);
        write_bytes("a.db", b.s, b.n);
        free(b.s);
        struct diags d;
        diags_init(&d);
        struct text t;
        text_init(&t);
        struct reader *r = reader_open("a.db", &d);
        if (r && add_rows(r, "SELECT count(*), min(run), max(run) FROM toy", &t, &d) &&
            add_rows(r, "SELECT count(*) FROM toy_front", &t, &d))
            assert_string_equal(t.s, "1280|1|1\n100\n");
        reader_close(r);
        text_release(&t);
        diags_release(&d);
    }
    free(whole.s);
}

static void reader_refuses(const char *path, const char *part)
{
    struct diags d;
    diags_init(&d);
    assert_null(reader_open(path, &d));
    one_error(&d, part, 1);
}

static void damage__is_told_by_what_it_is(void **state)
{
    (void)state;
    make_whole("whole.db");
    struct bytes b = read_bytes("whole.db");
    b.s[b.n - 100] ^= 1;
    write_bytes("a.db", b.s, b.n);
    reader_refuses("a.db", "is damaged: its bytes are not those that dse wrote");
    b.s[b.n - 100] ^= 1;
    char *longer = xcalloc(b.n + 512, 1);
    memcpy(longer, b.s, b.n);
    write_bytes("a.db", longer, b.n + 512);
    free(longer);
    reader_refuses("a.db", "bytes where its header says");
    static const struct {
        const char *sql, *says;
    } cases[] = {
        {"DELETE FROM toy_all WHERE point = 700", "is damaged: run 1 has 1279 rows of toy where 1280 were stored"},
        {"UPDATE run SET done = 596", "is damaged: run 1 has 1280 rows where 596 were stored"},
        {"DELETE FROM block", "is damaged: run 1 has 1280 rows of toy where 0 were stored"},
        {"DELETE FROM toy_all WHERE point = 13; UPDATE run SET done = 1279; UPDATE block SET \"last\" = 1278",
         "is damaged: 1 of 100 points of toy on the front of run 1 have no row"},
        {"DROP TABLE block", "no such table: main.block"},
        {"DELETE FROM toy_fixed", "is damaged: run 1 has 0 rows where 1280 were stored"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        write_bytes("a.db", b.s, b.n);
        sql_exec("a.db", cases[i].sql);
        reader_refuses("a.db", cases[i].says);
    }
    free(b.s);
}

/* What other programs may do to a file does not make it a damaged one. */
static void damage__is_not_what_others_add(void **state)
{
    (void)state;
    static const char *const changes[] = {
        "CREATE INDEX i ON toy_all(tiles)",
        "CREATE VIEW best AS SELECT max(tokens_per_s) FROM toy",
        "CREATE TABLE notes(t); INSERT INTO notes VALUES('x')",
        "VACUUM",
        "PRAGMA journal_mode=WAL",
        "DROP VIEW toy",
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        unlink("a.db");
        make_whole("a.db");
        char *right = read_as_scan("a.db");
        sql_exec("a.db", changes[i]);
        char *now = read_as_scan("a.db");
        assert_non_null(now);
        assert_string_equal(right, now);
        free(now);
        free(right);
        struct diags d;
        diags_init(&d);
        struct text t;
        text_init(&t);
        struct reader *r = reader_open("a.db", &d);
        no_errors(&d);
        assert_true(add_rows(r, "SELECT count(*) FROM toy", &t, &d));
        assert_string_equal(t.s, "1280\n");
        reader_close(r);
        text_release(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIRECTORY(damage__never_gives_a_part_of_an_answer),
        IN_DIRECTORY(damage__never_loses_rows_of_a_file_without_a_seal),
        IN_DIRECTORY(damage__is_told_by_what_it_is),
        IN_DIRECTORY(damage__is_not_what_others_add),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
