#include "store/encode.h"
#include "store/store_internal.h"

#include "base/xalloc.h"

#include <endian.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum origin { ID, RUN, POINT, STATUS, REASON, FIDELITY, CELL, NOTHING }; /* the first six as in schema_leading */

struct origin_column {
    enum origin origin;
    enum dse_type type;
    size_t cell;
};

struct store_encoder {
    struct origin_column *columns; /* in the order of the table */
    size_t n, n_cells;
    int64_t run, first_id;
    const struct digest_row *digest;
    bool at_events;
};

/* ---- the encoder ----------------------------------------------------------------------------------------------------------- */

static struct origin_column origin_of(const struct store_table *t, const char *name)
{
    for (size_t i = 0; i < SCHEMA_LEADING; i++)
        if (strcasecmp(name, schema_leading[i]) == 0) return (struct origin_column){.origin = (enum origin)i};
    for (size_t i = 0; i < t->n_columns; i++)
        if (strcasecmp(name, t->columns[i].name) == 0)
            return (struct origin_column){.origin = CELL, .type = t->columns[i].type, .cell = i};
    return (struct origin_column){.origin = NOTHING};
}

static const char *declared_type(struct origin_column c)
{
    if (c.origin == CELL) return schema_sql_type(c.type);
    return c.origin <= POINT ? "INTEGER" : "TEXT";
}

struct store_encoder *encoder_new(const struct db *db, const struct store_table *t, const struct store_model *m,
                                  struct diags *diags)
{
    char *table = xasprintf("%s_all", t->model);
    struct column_list l;
    bool ok = column_list_read(db, "main", table, &l, diags);
    free(table);
    if (!ok) return NULL;
    struct store_encoder *e = xcalloc(1, sizeof *e);
    *e = (struct store_encoder){
        .n = l.n, .n_cells = t->n_columns, .run = m->run, .first_id = m->first_id, .digest = &m->digest, .at_events = m->at_events};
    e->columns = xcalloc(l.n, sizeof *e->columns);
    for (size_t i = 0; i < l.n; i++) {
        e->columns[i] = origin_of(t, l.names[i]);
        if (e->columns[i].origin != NOTHING && strcasecmp(l.types[i], declared_type(e->columns[i])) != 0) ok = false;
    }
    column_list_release(&l);
    if (ok) return e;
    encoder_free(e);
    return NULL;
}

void encoder_free(struct store_encoder *e)
{
    if (!e) return;
    free(e->columns);
    free(e);
}

/* ---- numbers --------------------------------------------------------------------------------------------------------------- */

void encode_u16(uint8_t *at, uint32_t v)
{
    uint16_t big = htobe16((uint16_t)v);
    memcpy(at, &big, sizeof big);
}

void encode_u32(uint8_t *at, uint32_t v)
{
    v = htobe32(v);
    memcpy(at, &v, sizeof v);
}

static uint8_t *put_u64(uint8_t *at, uint64_t v)
{
    v = htobe64(v);
    memcpy(at, &v, sizeof v);
    return at + sizeof v;
}

uint8_t *encode_varint(uint8_t *at, uint64_t v)
{
    if (v < 0x80) {
        *at = (uint8_t)v;
        return at + 1;
    }
    if (v >> 56) { /* nine bytes, the last one whole */
        for (int shift = 57; shift >= 8; shift -= 7) *at++ = (uint8_t)(v >> shift | 0x80);
        *at++ = (uint8_t)v;
        return at;
    }
    int shift = 49;
    while (!(v >> shift)) shift -= 7;
    for (; shift > 0; shift -= 7) *at++ = (uint8_t)(v >> shift | 0x80);
    *at++ = (uint8_t)(v & 0x7f);
    return at;
}

/* ---- records --------------------------------------------------------------------------------------------------------------- */

/* A record in the making. Both parts have room for numbers of every column; texts are checked against `room`. */
struct record {
    uint8_t *types, *values; /* where the next go */
    size_t room;             /* bytes left for texts */
    bool too_large;
};

static void put_bytes(struct record *r, uint8_t type, uint64_t v, int bytes)
{
    *r->types++ = type;
    put_u64(r->values, v << (64 - 8 * bytes));
    r->values += bytes;
}

static void put_i64(struct record *r, int64_t v)
{
    uint64_t size = (uint64_t)(v < 0 ? ~v : v);
    if (v == 0 || v == 1)
        *r->types++ = (uint8_t)(8 + v);
    else if (size <= 0x7f)
        put_bytes(r, 1, (uint64_t)v, 1);
    else if (size <= 0x7fff)
        put_bytes(r, 2, (uint64_t)v, 2);
    else if (size <= 0x7fffff)
        put_bytes(r, 3, (uint64_t)v, 3);
    else if (size <= 0x7fffffff)
        put_bytes(r, 4, (uint64_t)v, 4);
    else if (size <= 0x7fffffffffff)
        put_bytes(r, 5, (uint64_t)v, 6);
    else
        put_bytes(r, 6, (uint64_t)v, 8);
}

static void put_null(struct record *r)
{
    *r->types++ = 0;
}

static void put_f64(struct record *r, double v)
{
    static const double limit = 140737488355328.0; /* 2^47: integers of six bytes */
    if (isnan(v)) {
        put_null(r);
    } else if (v >= -limit && v < limit && (double)(int64_t)v == v) {
        put_i64(r, (int64_t)v);
    } else {
        uint64_t bits;
        memcpy(&bits, &v, sizeof bits);
        put_bytes(r, 7, bits, 8);
    }
}

static void put_text(struct record *r, const char *s, size_t n)
{
    if (n + 9 > r->room) {
        r->too_large = true;
        return;
    }
    r->room -= n + 9;
    r->types = encode_varint(r->types, 13 + 2 * (uint64_t)n);
    memcpy(r->values, s, n);
    r->values += n;
}

static void put_cell(struct record *r, enum dse_type type, union cell cell)
{
    if (type == DSE_TYPE_F64)
        put_f64(r, cell.f64);
    else if (type == DSE_TYPE_I64 && cell.i64 != INT64_MIN)
        put_i64(r, cell.i64);
    else if (type != DSE_TYPE_I64 && cell.text)
        put_text(r, cell.text, strlen(cell.text));
    else
        put_null(r);
}

static void put_column(struct record *r, const struct store_encoder *e, struct origin_column c, const struct row_block *b, size_t i)
{
    const char *reason = b->rows[i].reason, *fidelity = store_row_fidelity(e->at_events, &b->rows[i]);
    switch (c.origin) {
    case RUN: put_i64(r, e->run); break;
    case POINT: put_i64(r, (int64_t)(b->first + i)); break;
    case STATUS: put_text(r, reason ? "infeasible" : "ok", reason ? 10 : 2); break;
    case REASON: reason ? put_text(r, reason, strlen(reason)) : put_null(r); break;
    case FIDELITY: put_text(r, fidelity, strlen(fidelity)); break;
    case CELL: put_cell(r, c.type, b->cells[i * e->n_cells + c.cell]); break;
    case ID: /* the row id itself, which the record leaves out */
    case NOTHING: put_null(r); break;
    }
}

/* ---- pages ----------------------------------------------------------------------------------------------------------------- */

void store_pages_release(struct store_pages *p)
{
    free(p->bytes);
    free(p->rows);
    *p = (struct store_pages){0};
}

/* The page that is being filled. */
struct page {
    uint8_t *bytes;
    size_t cells, content; /* how many, and where the lowest begins */
};

enum { LEAF_HEADER = 8 };

static void add_page(struct store_pages *p, struct page *page)
{
    if (p->n == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 8;
        p->bytes = xrealloc(p->bytes, 1, p->capacity * ENCODE_PAGE + ENCODE_PADDING);
        p->rows = xrealloc(p->rows, p->capacity, sizeof *p->rows);
    }
    *page = (struct page){.bytes = p->bytes + p->n * ENCODE_PAGE, .content = ENCODE_PAGE};
    p->rows[p->n++] = 0;
}

static void finish_page(struct store_pages *p, const struct page *page)
{
    uint8_t *at = page->bytes;
    memset(at, 0, LEAF_HEADER);
    at[0] = 13;
    encode_u16(at + 3, (uint32_t)page->cells);
    encode_u16(at + 5, (uint32_t)page->content); /* 65536 never is: there is a cell */
    p->rows[p->n - 1] = (uint16_t)page->cells;
}

/* Put a cell of three parts into the page, or into a new one when it is full. */
static void add_cell(struct store_pages *p, struct page *page, const uint8_t *const part[3], const size_t part_n[3])
{
    size_t n = part_n[0] + part_n[1] + part_n[2];
    if (LEAF_HEADER + 2 * (page->cells + 1) + n > page->content) {
        finish_page(p, page);
        add_page(p, page);
    }
    page->content -= n;
    encode_u16(page->bytes + LEAF_HEADER + 2 * page->cells++, (uint32_t)page->content);
    uint8_t *at = page->bytes + page->content;
    for (int i = 0; i < 3; i++) {
        memcpy(at, part[i], part_n[i]);
        at += part_n[i];
    }
}

bool store_encode(const struct store_encoder *e, const struct row_block *block, struct store_pages *ret)
{
    enum { TEXTS = ENCODE_PAGE };
    uint8_t types[TEXTS], values[TEXTS], head[32];
    size_t numbers = 9 * e->n + 64; /* the most that numbers, and what stands around the record, can take */
    struct page page;
    ret->n = 0;
    ret->feasible = 0;
    if (numbers >= TEXTS) return false;
    ret->digest = digest_block_of(e->digest, block, e->at_events);
    add_page(ret, &page);
    for (size_t i = 0; i < block->n; i++) {
        struct record r = {.types = types, .values = values, .room = TEXTS - numbers};
        for (size_t c = 0; c < e->n; c++) put_column(&r, e, e->columns[c], block, i);
        if (r.too_large) return false;
        size_t types_n = (size_t)(r.types - types), values_n = (size_t)(r.values - values);
        size_t header_n = types_n + (types_n < 127 ? 1 : types_n < 16382 ? 2 : 3);
        uint8_t *end = encode_varint(head, header_n + values_n);
        end = encode_varint(end, (uint64_t)(e->first_id + (int64_t)(block->first + i)));
        end = encode_varint(end, header_n);
        add_cell(ret, &page, (const uint8_t *const[]){head, types, values},
                 (const size_t[]){(size_t)(end - head), types_n, values_n});
        ret->feasible += !block->rows[i].reason;
    }
    finish_page(ret, &page);
    return true;
}
