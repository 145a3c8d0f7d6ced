/* .safetensors:
 *
 *     length of the header u64 | header: a JSON object | values
 *     header = { "name": { "dtype": "F16", "shape": [2, 8, 1024, 64], "data_offsets": [begin, end] }, ..., "__metadata__": {...} }
 *
 * Offsets count from the end of the header; tensors lie side by side and fill the file. The JSON is read by SQLite's functions,
 * which the store has anyway.
 */
#include "attention/array.h"
#include "attention/little_endian.h"
#include "base/hint.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <sqlite3.h>

#include <stdlib.h>
#include <string.h>

enum { LENGTH_BYTES = 8, HEADER_MOST = 16 << 20 };

static const struct dtype {
    const char *name;
    uint64_t bytes;
    bool read;
    enum array_type type;
} dtypes[] = {{"F16", 2, true, ARRAY_F16}, {"BF16", 2, true, ARRAY_BF16}, {"F32", 4, true, ARRAY_F32}, {"I32", 4, true, ARRAY_I32},
              {"I64", 8, true, ARRAY_I64}, {"F64", 8, false, 0},          {"F8_E4M3", 1, false, 0},    {"F8_E5M2", 1, false, 0},
              {"F8_E8M0", 1, false, 0},    {"BOOL", 1, false, 0},         {"I8", 1, false, 0},         {"U8", 1, false, 0},
              {"I16", 2, false, 0},        {"U16", 2, false, 0},          {"U32", 4, false, 0},        {"U64", 8, false, 0},
              {"C64", 8, false, 0}};

struct tensor {
    char *name;
    const struct dtype *dtype;
    size_t n_dims;
    uint64_t dims[ARRAY_DIMS_MAX];
    uint64_t begin, end;
};

struct safetensors {
    const struct mapped *file;
    uint64_t from; /* where values begin */
    struct tensor *list;
    size_t n, capacity;
};

struct reader {
    struct safetensors *s;
    struct diags *diags;
    sqlite3 *db;
    sqlite3_stmt *tensors, *numbers;
};

static struct srcloc place(const struct reader *r)
{
    return (struct srcloc){.file = r->s->file->path};
}

static bool wrong(const struct reader *r, const char *tensor, const char *what)
{
    return diags_input(r->diags, place(r), NULL,
                       "an entry is {\"dtype\": \"F16\", \"shape\": [...], \"data_offsets\": [begin, end]}", "tensor \"%s\": %s",
                       tensor, what);
}

/* ---- one tensor ---------------------------------------------------------------------------------------------------------- */

static const char *text_at(sqlite3_stmt *q, int column)
{
    const char *s = (const char *)sqlite3_column_text(q, column);
    return s ? s : "";
}

/* The whole numbers of a JSON array, at most `most` of them, into ret. False: it is none. */
static bool read_numbers(const struct reader *r, const char *json, uint64_t *ret, size_t most, size_t *ret_n)
{
    bool ok = true;
    *ret_n = 0;
    sqlite3_bind_text(r->numbers, 1, json, -1, SQLITE_STATIC);
    while (ok && sqlite3_step(r->numbers) == SQLITE_ROW) {
        sqlite3_int64 v = sqlite3_column_int64(r->numbers, 1);
        ok = *ret_n < most && strcmp(text_at(r->numbers, 0), "integer") == 0 && v >= 0;
        if (ok) ret[(*ret_n)++] = (uint64_t)v;
    }
    sqlite3_reset(r->numbers);
    return ok;
}

static bool check_place(const struct reader *r, const struct tensor *t)
{
    uint64_t there = r->s->file->size - r->s->from, bytes;
    unsigned long long begin = t->begin, end = t->end;
    if (t->begin > t->end || t->end > there)
        return diags_input(r->diags, place(r), NULL, NULL,
                           "tensor \"%s\": bytes %llu to %llu do not lie in the file, which has %llu of values", t->name, begin,
                           end, (unsigned long long)there);
    if (array_bytes(t->dims, t->n_dims, t->dtype->bytes, &bytes) && bytes == t->end - t->begin) return true;
    char shape[ARRAY_SHAPE_TEXT];
    const struct array a = {
        .n_dims = t->n_dims,
        .dims = {t->dims[0], t->dims[1], t->dims[2], t->dims[3], t->dims[4], t->dims[5], t->dims[6], t->dims[7]}};
    return diags_input(r->diags, place(r), NULL, NULL, "tensor \"%s\": %s of %s does not fit its bytes %llu to %llu", t->name,
                       array_shape_text(&a, shape), t->dtype->name, begin, end);
}

enum column { NAME, TYPE, ENTRIES, DTYPE, SHAPE, OFFSETS };

static bool read_tensor(const struct reader *r, struct tensor *t)
{
    sqlite3_stmt *q = r->tensors;
    t->name = xstrdup(text_at(q, NAME));
    if (strcmp(text_at(q, TYPE), "object") != 0) return wrong(r, t->name, "is not an object");
    if (sqlite3_column_int(q, ENTRIES) != 3) return wrong(r, t->name, "needs dtype, shape and data_offsets, and nothing else");
    const char *dtype = text_at(q, DTYPE);
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(dtypes[i].name, dtype) == 0) t->dtype = &dtypes[i];
    if (!t->dtype) return diags_input(r->diags, place(r), NULL, NULL, "tensor \"%s\": dtype \"%s\" is not known", t->name, dtype);
    uint64_t offsets[2];
    size_t n;
    if (!read_numbers(r, text_at(q, SHAPE), t->dims, ARRAY_DIMS_MAX, &t->n_dims))
        return wrong(r, t->name, "its shape is not a list of at most 8 whole numbers");
    if (!read_numbers(r, text_at(q, OFFSETS), offsets, 2, &n) || n != 2)
        return wrong(r, t->name, "its data_offsets are not two whole numbers");
    t->begin = offsets[0];
    t->end = offsets[1];
    return check_place(r, t);
}

/* ---- all of them --------------------------------------------------------------------------------------------------------- */

/* A row for each tensor: its name, the type of its entry, how many entries that has, and dtype, shape and offsets as JSON; what
 * is not there or of another type is NULL. */
static const char tensors_sql[] =
    "SELECT t.key, t.type, (SELECT count(*) FROM json_each(t.entry)),"
    " CASE json_type(t.entry, '$.dtype') WHEN 'text' THEN json_extract(t.entry, '$.dtype') END,"
    " CASE json_type(t.entry, '$.shape') WHEN 'array' THEN json_extract(t.entry, '$.shape') ELSE '[null]' END,"
    " CASE json_type(t.entry, '$.data_offsets') WHEN 'array' THEN json_extract(t.entry, '$.data_offsets') ELSE '[null]' END"
    " FROM (SELECT key, type, CASE type WHEN 'object' THEN value ELSE '{}' END AS entry FROM json_each(?1)"
    "  WHERE key <> '__metadata__') AS t";
static const char numbers_sql[] = "SELECT type, atom FROM json_each(?1)";

static bool read_tensors(const struct reader *r)
{
    struct safetensors *s = r->s;
    int rc;
    while ((rc = sqlite3_step(r->tensors)) == SQLITE_ROW) {
        if (s->n == s->capacity) {
            s->capacity = 2 * s->capacity + 16;
            s->list = xrealloc(s->list, s->capacity, sizeof *s->list);
        }
        struct tensor *t = &s->list[s->n++];
        *t = (struct tensor){0};
        if (!read_tensor(r, t)) return false;
    }
    if (rc == SQLITE_DONE) return true;
    return diags_input(r->diags, place(r), NULL, NULL, "its header cannot be read: %s", sqlite3_errmsg(r->db));
}

static int by_begin(const void *a, const void *b)
{
    const struct tensor *x = a, *y = b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct tensor *)a)->name, ((const struct tensor *)b)->name);
}

/* Side by side, from the first byte of values to the last, and no name twice. */
static bool check_together(const struct reader *r)
{
    struct safetensors *s = r->s;
    uint64_t at = 0, there = s->file->size - s->from;
    if (s->n == 0) return diags_input(r->diags, place(r), NULL, NULL, "has no tensors");
    qsort(s->list, s->n, sizeof *s->list, by_begin);
    for (size_t i = 0; i < s->n; at = s->list[i++].end) {
        const struct tensor *t = &s->list[i];
        if (t->begin < at)
            return diags_input(r->diags, place(r), NULL, NULL, "tensor \"%s\": begins at byte %llu, within \"%s\"", t->name,
                               (unsigned long long)t->begin, s->list[i - 1].name);
        if (t->begin > at)
            return diags_input(r->diags, place(r), NULL, NULL, "bytes %llu to %llu, before tensor \"%s\", belong to no tensor",
                               (unsigned long long)at, (unsigned long long)t->begin, t->name);
    }
    if (at < there)
        return diags_input(r->diags, place(r), NULL, NULL, "bytes %llu to %llu, at its end, belong to no tensor",
                           (unsigned long long)at, (unsigned long long)there);
    qsort(s->list, s->n, sizeof *s->list, by_name);
    for (size_t i = 1; i < s->n; i++)
        if (strcmp(s->list[i].name, s->list[i - 1].name) == 0) return wrong(r, s->list[i].name, "is there twice");
    return true;
}

/* ---- the header ---------------------------------------------------------------------------------------------------------- */

static bool check_header(const struct reader *r, const char *json, size_t n)
{
    sqlite3_stmt *q = NULL;
    bool ok = !memchr(json, 0, n) &&
              sqlite3_prepare_v2(r->db, "SELECT json_valid(?1) AND json_type(?1) = 'object'", -1, &q, NULL) == SQLITE_OK &&
              sqlite3_bind_text(q, 1, json, (int)n, SQLITE_STATIC) == SQLITE_OK && sqlite3_step(q) == SQLITE_ROW &&
              sqlite3_column_int(q, 0);
    sqlite3_finalize(q);
    return ok || diags_input(r->diags, place(r), NULL, NULL, "its header, bytes %d to %zu, is not a JSON object", LENGTH_BYTES,
                             LENGTH_BYTES + n);
}

static bool read_header(struct reader *r, const char *json, size_t n)
{
    if (sqlite3_open(":memory:", &r->db) != SQLITE_OK) return diags_runtime(r->diags, NULL, "cannot open SQLite in memory");
    if (!check_header(r, json, n)) return false;
    if (sqlite3_prepare_v2(r->db, tensors_sql, -1, &r->tensors, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(r->db, numbers_sql, -1, &r->numbers, NULL) != SQLITE_OK)
        return diags_runtime(r->diags, NULL, "SQLite has no JSON functions: %s", sqlite3_errmsg(r->db));
    sqlite3_bind_text(r->tensors, 1, json, (int)n, SQLITE_STATIC);
    return read_tensors(r) && check_together(r);
}

static bool find_header(const struct mapped *m, size_t *ret_n, struct diags *diags)
{
    struct srcloc loc = {.file = m->path};
    if (m->size < LENGTH_BYTES + 2)
        return diags_input(diags, loc, NULL, NULL, "is not a .safetensors file: it has %zu bytes", m->size);
    uint64_t n = get_le64(m->bytes);
    if (n > m->size - LENGTH_BYTES)
        return diags_input(diags, loc, NULL, NULL,
                           "is not a .safetensors file, or truncated: it has %zu bytes, its header alone is said to have %llu",
                           m->size, (unsigned long long)n);
    if (n > HEADER_MOST)
        return diags_input(diags, loc, NULL, NULL, "has a header of %llu bytes; %d are the most", (unsigned long long)n,
                           HEADER_MOST);
    *ret_n = (size_t)n;
    return true;
}

struct safetensors *safetensors_read(const struct mapped *m, struct diags *diags)
{
    size_t n = 0;
    if (!find_header(m, &n, diags)) return NULL;
    struct safetensors *s = xcalloc(1, sizeof *s);
    s->file = m;
    s->from = LENGTH_BYTES + n;
    struct reader r = {.s = s, .diags = diags};
    bool ok = read_header(&r, (const char *)m->bytes + LENGTH_BYTES, n);
    sqlite3_finalize(r.tensors);
    sqlite3_finalize(r.numbers);
    sqlite3_close(r.db);
    if (ok) return s;
    safetensors_free(s);
    return NULL;
}

void safetensors_free(struct safetensors *s)
{
    if (!s) return;
    for (size_t i = 0; i < s->n; i++) free(s->list[i].name);
    free(s->list);
    free(s);
}

static const struct tensor *find(const struct safetensors *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->list[i].name, name) == 0) return &s->list[i];
    return NULL;
}

bool safetensors_has(const struct safetensors *s, const char *name)
{
    return find(s, name) != NULL;
}

/* None of that name: the nearest, or some of those that there are. */
static bool not_there(const struct safetensors *s, const char *name, struct diags *diags)
{
    enum { SHOWN = 12 };
    const char **names = xcalloc(s->n, sizeof *names);
    struct text some;
    text_init(&some);
    text_addf(&some, "there are ");
    for (size_t i = 0; i < s->n; i++) {
        names[i] = s->list[i].name;
        if (i < SHOWN) text_addf(&some, "%s%s", i ? ", " : "", names[i]);
    }
    if (s->n > SHOWN) text_addf(&some, " and %zu more", s->n - SHOWN);
    diags_unknown(diags, (struct srcloc){.file = s->file->path}, NULL, name, names, s->n, some.s, "has no tensor \"%s\"", name);
    text_release(&some);
    free(names);
    return false;
}

bool safetensors_find(const struct safetensors *s, const char *name, struct array *ret, struct diags *diags)
{
    const struct tensor *t = find(s, name);
    if (!t) return not_there(s, name, diags);
    if (!t->dtype->read)
        return diags_input(diags, (struct srcloc){.file = s->file->path}, NULL, "save it with tensor.to(torch.float16) or float32",
                           "tensor \"%s\" has values of type %s; F16, BF16 and F32 are read", name, t->dtype->name);
    *ret = (struct array){.type = t->dtype->type,
                          .n_dims = t->n_dims,
                          .bytes = s->file->bytes + s->from + t->begin,
                          .file = s->file->path,
                          .name = name};
    memcpy(ret->dims, t->dims, sizeof t->dims);
    return true;
}
