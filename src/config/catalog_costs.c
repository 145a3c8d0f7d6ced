/* Books of constants: a table a constant, or an array of them for several years, or in a user's book a plain number. */
#include "config/catalog_internal.h"

#include "base/xalloc.h"

#include <dse/cost.h>
#include <stdlib.h>
#include <string.h>

enum { YEAR_LEAST = 1990, YEAR_MOST = DSE_PRICE_YEAR_LAST };

/* A book as it is read: which rows a constant has so far. */
struct reading {
    struct catalog *c;
    struct dse_costs *book;
    const struct toml_doc *doc;
    bool like; /* another book: what a constant does not say of itself is the book's */
    const char *source;
    struct diags *diags;
};

static bool complain(const struct reading *r, const struct toml_node *node, const char *id, const char *what)
{
    return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, NULL, "%s: %s", id, what);
}

static int id_of(const char *name)
{
    for (int id = 0; id < DSE_CONSTANT_COUNT; id++)
        if (strcmp(dse_constant_rows[id].name, name) == 0) return id;
    return -1;
}

/* A value that the constant may have. */
static bool read_number(const struct reading *r, int id, const struct toml_node *node, double *ret)
{
    const struct dse_constant_row *row = &dse_constant_rows[id];
    if (node->type != TOML_INTEGER && node->type != TOML_FLOAT)
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, row->doc, "%s: a number is needed, not %s", row->name,
                           toml_type_name(node->type));
    const double v = node->type == TOML_INTEGER ? (double)node->integer : node->number;
    const double most = strcmp(row->unit, "share") == 0 ? 1 : 1e12;
    char buf[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
    if (!(v >= 0 && v <= most) || (v == 0 && row->least == DSE_ABOVE_ZERO))
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, row->doc, "%s: %s is not %s and at most %s %s",
                           row->name, text_number(buf, v), row->least == DSE_ABOVE_ZERO ? "above 0" : "at least 0",
                           text_number(limit, most), row->unit);
    *ret = v;
    return true;
}

/* low, typical and high of a constant's table; what is left out is the typical one. */
static bool read_range(const struct reading *r, int id, const struct toml_node *table, double *ret)
{
    const struct toml_node *typical = toml_get(table, dse_band_names[DSE_TYPICAL]);
    if (!typical)
        return diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, dse_constant_rows[id].doc, "%s has no typical",
                           dse_constant_rows[id].name);
    bool ok = true;
    for (int band = 0; band < DSE_BANDS; band++) {
        const struct toml_node *node = toml_get(table, dse_band_names[band]);
        ok = read_number(r, id, node ? node : typical, &ret[band]) && ok;
    }
    if (ok && !(ret[DSE_LOW] <= ret[DSE_TYPICAL])) return complain(r, typical, dse_constant_rows[id].name, "typical is below low");
    if (ok && !(ret[DSE_TYPICAL] <= ret[DSE_HIGH]))
        return complain(r, typical, dse_constant_rows[id].name, "high is below typical");
    return ok;
}

/* The key of that type, or what stands for it where it is left out. */
static bool read_word(const struct reading *r, const struct toml_node *table, const char *key, const char *without,
                      const char **ret)
{
    if (!toml_get(table, key)) {
        if (!without)
            return diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, NULL, "%s has no %s", table->key, key);
        *ret = without;
        return true;
    }
    const struct toml_node *node = toml_expect(r->doc, table, key, TOML_STRING, r->diags);
    if (node) *ret = catalog_intern(r->c, node->string);
    return node != NULL;
}

static bool read_year(const struct reading *r, const struct toml_node *table, int *ret)
{
    *ret = 0;
    const struct toml_node *node = toml_get(table, "year");
    if (!node && r->like) return true;
    if (!node) return diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, NULL, "%s has no year", table->key);
    if (!toml_expect(r->doc, table, "year", TOML_INTEGER, r->diags)) return false;
    if (node->integer < YEAR_LEAST || node->integer > YEAR_MOST)
        return diags_input(r->diags, toml_loc(r->doc, node), r->doc->text, NULL, "year: %lld is not within %d to %d",
                           (long long)node->integer, YEAR_LEAST, YEAR_MOST);
    *ret = (int)node->integer;
    return true;
}

static bool read_evidence(const struct reading *r, const struct toml_node *table, const char **ret)
{
    static const char *const known[] = {"A", "B", "D", "R", "own"};
    if (!read_word(r, table, "evidence", r->like ? "own" : NULL, ret)) return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(*ret, known[i]) == 0) return true;
    return complain(r, toml_get(table, "evidence"), "evidence",
                    "none of A (read in the source), B (in one that names it), D (derived), "
                    "R (recalled), own");
}

static bool read_constant(const struct reading *r, int id, const struct toml_node *node, struct dse_constant *ret)
{
    static const char *const keys[] = {"low", "typical", "high", "year", "evidence", "source"};
    *ret = (struct dse_constant){.evidence = "own", .source = r->source};
    if (node->type != TOML_TABLE) {
        if (!read_number(r, id, node, &ret->value[DSE_TYPICAL])) return false;
        ret->value[DSE_LOW] = ret->value[DSE_HIGH] = ret->value[DSE_TYPICAL];
        return true;
    }
    bool ok = toml_check_keys(r->doc, node, keys, sizeof keys / sizeof *keys, r->diags);
    ok = read_range(r, id, node, ret->value) && ok;
    ok = read_year(r, node, &ret->year) && ok;
    ok = read_evidence(r, node, &ret->evidence) && ok;
    return read_word(r, node, "source", r->like ? r->source : NULL, &ret->source) && ok;
}

/* For each year the newest of the rows from `first` on that is not newer, else the oldest. */
static void place(struct dse_costs *book, int id, int first)
{
    for (int y = 0; y < DSE_PRICE_YEARS; y++) {
        int best = first;
        for (int i = first; i < book->n_rows; i++) {
            const int year = book->rows[i].year, had = book->rows[best].year, wanted = DSE_PRICE_YEAR_FIRST + y;
            const bool fits = year <= wanted, had_fits = had <= wanted;
            if (fits != had_fits ? fits : fits ? year > had : year < had) best = i;
        }
        book->at[id][y] = (int16_t)best;
        for (int band = 0; band < DSE_BANDS; band++) book->value[band][y][id] = book->rows[best].value[band];
    }
}

static bool add_rows(const struct reading *r, int id, const struct toml_node *node)
{
    const struct toml_node *rows = node->type == TOML_ARRAY ? node->children : node;
    const size_t n = node->type == TOML_ARRAY ? node->n : 1;
    struct dse_costs *book = r->book;
    const int first = book->n_rows;
    bool ok = n > 0 || complain(r, node, node->key, "an empty list");
    for (size_t i = 0; i < n; i++) {
        struct dse_constant row;
        if (!read_constant(r, id, &rows[i], &row)) {
            ok = false;
            continue;
        }
        for (int k = first; k < book->n_rows; k++)
            if (book->rows[k].year == row.year) ok = complain(r, &rows[i], node->key, "its year is here twice");
        book->rows = xrealloc(book->rows, (size_t)book->n_rows + 1, sizeof *book->rows);
        book->rows[book->n_rows++] = row;
    }
    if (ok) place(book, id, first);
    return ok;
}

static bool check_keys(const struct reading *r, const struct toml_node *table)
{
    static const char *const of_book[] = {"source", "like", "title"};
    enum { OF_BOOK = sizeof of_book / sizeof *of_book };
    const char **names = xcalloc(DSE_CONSTANT_COUNT + OF_BOOK, sizeof *names);
    for (int i = 0; i < DSE_CONSTANT_COUNT; i++) names[i] = dse_constant_rows[i].name;
    for (int i = 0; i < OF_BOOK; i++) names[DSE_CONSTANT_COUNT + i] = of_book[i];
    const bool ok = toml_check_keys(r->doc, table, names, DSE_CONSTANT_COUNT + OF_BOOK, r->diags);
    free(names);
    return ok;
}

static struct dse_costs *book_new(const struct dse_costs *like)
{
    static const struct dse_constant lacking = {{NAN, NAN, NAN}, 0, "", ""};
    struct dse_costs *book = xcalloc(1, sizeof *book);
    if (like) *book = *like;
    for (int i = 0; !like && i < DSE_BANDS * DSE_PRICE_YEARS; i++)
        for (int id = 0; id < DSE_CONSTANT_COUNT; id++) book->value[i / DSE_PRICE_YEARS][i % DSE_PRICE_YEARS][id] = (double)NAN;
    book->n_rows = like ? like->n_rows : 1;
    book->rows = xcalloc((size_t)book->n_rows, sizeof *book->rows);
    memcpy(book->rows, like ? like->rows : &lacking, (size_t)book->n_rows * sizeof *book->rows);
    return book;
}

void costs_free(struct dse_costs *book)
{
    if (!book) return;
    free(book->rows);
    free(book);
}

struct dse_entry *catalog_read_book(struct catalog *c, const struct toml_doc *doc, const struct toml_node *table,
                                    const char *source, const struct dse_entry *like, struct diags *diags)
{
    struct reading r = {c, book_new((const void *)like), doc, like != NULL, source, diags};
    bool ok = check_keys(&r, table);
    for (size_t i = 0; i < table->n; i++) {
        const struct toml_node *node = &table->children[i];
        const int id = id_of(node->key);
        if (id >= 0) ok = add_rows(&r, id, node) && ok;
    }
    for (int node = 0; node < DSE_NODE_COUNT; node++) {
        struct dse_fab fab;
        dse_fab_of(r.book, dse_node_nm[node], &fab);
        r.book->fab_g_cm2[node] = dse_fab_g_cm2(&fab);
    }
    r.book->building_interest = dse_interest(1, dse_physical(r.book, DSE_C_interest), dse_physical(r.book, DSE_C_building_years));
    if (ok) return &r.book->entry;
    costs_free(r.book);
    return NULL;
}

bool catalog_load_costs(struct catalog *c, const char *data_dir, struct diags *diags)
{
    char *path = xasprintf("%s/catalog/costs.toml", data_dir);
    struct toml_doc *doc = toml_read_file(path, diags);
    const struct toml_node *source = doc ? toml_expect(doc, &doc->root, "source", TOML_STRING, diags) : NULL;
    struct dse_entry *book = NULL;
    if (source) book = catalog_read_book(c, doc, &doc->root, catalog_intern(c, source->string), NULL, diags);
    if (book) {
        book->name = "public";
        book->source = catalog_intern(c, source->string);
        catalog_add(c, DSE_KIND_COSTS, book);
    } else if (doc && !source && diags->errors == 0) {
        diags_input(diags, toml_loc(doc, &doc->root), doc->text, NULL, "the book has no source");
    }
    toml_free(doc);
    free(path);
    return book != NULL;
}

void catalog_write_book(const struct dse_costs *book, struct text *ret)
{
    for (int id = 0; id < DSE_CONSTANT_COUNT; id++) {
        if (!book->at[id][0]) continue;
        text_addf(ret, "%s = [", dse_constant_rows[id].name);
        for (int y = 0, before = 0; y < DSE_PRICE_YEARS; y++) {
            const int at = book->at[id][y];
            if (at == before) continue;
            const struct dse_constant *row = &book->rows[at];
            char low[TEXT_NUMBER_MAX], typical[TEXT_NUMBER_MAX], high[TEXT_NUMBER_MAX];
            text_addf(ret, "%s{low = %s, typical = %s, high = %s", before ? ", " : "", text_number(low, row->value[DSE_LOW]),
                      text_number(typical, row->value[DSE_TYPICAL]), text_number(high, row->value[DSE_HIGH]));
            if (row->year) text_addf(ret, ", year = %d", row->year);
            text_addf(ret, ", evidence = \"%s\", source = ", row->evidence);
            text_add_json(ret, row->source);
            text_add(ret, "}");
            before = at;
        }
        text_addf(ret, "] # %s, %s\n", dse_constant_rows[id].doc, dse_constant_rows[id].unit);
    }
}
