/* Arguments of the computed tables of SQL: whatever they are, rows or one error. The input's first line names the table, the
 * others are its arguments, an empty one NULL. */
#include "memory_file.h"
#include "base/text.h"
#include "model/registry.h"
#include "tables/tables.h"
#include "toy_model.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct catalog *catalog;
static struct tables *tables;
static struct reader *reader;

static void leave(void)
{
    reader_close(reader);
    tables_free(tables);
    catalog_free(catalog);
    registry_release();
}

static void make(void)
{
    struct diags d;
    diags_init(&d);
    catalog = catalog_new(toy_data_dir(), &d);
    tables = tables_new(catalog);
    reader = reader_open(NULL, &d);
    need(catalog && reader && tables_attach(tables, reader, &d));
    reader_set_patience(reader, 100000000);
    atexit(leave);
}

/* That of the name, or any that has arguments: the others say the same each time, and some read the whole catalog for it. */
static const struct computed_table *find_table(const char *name, size_t n)
{
    size_t of = 0;
    for (size_t i = 0; tables_at(i); i++) {
        const struct computed_table *t = tables_at(i);
        if (strlen(t->name) == n && strncmp(t->name, name, n) == 0) return t;
        of += t->arguments[0] != NULL;
    }
    of = text_hash(TEXT_HASH_INIT, name, n) % of;
    for (size_t i = 0;; i++)
        if (tables_at(i)->arguments[0] && of-- == 0) return tables_at(i);
}

/* 'a', 'it''s', NULL. A number alone, of positions say, has three digits at most: attention over 65536 of them is right, and
 * takes minutes. */
static void add_argument(struct text *sql, const char *s, size_t n)
{
    if (strspn(s, "0123456789") == n && n > 3) n = 3;
    if (n == 0) {
        text_add(sql, "NULL");
        return;
    }
    text_add(sql, "'");
    for (size_t i = 0; i < n; i++) text_add_bytes(sql, s[i] == '\'' ? "''" : s + i, s[i] == '\'' ? 2 : 1);
    text_add(sql, "'");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (!reader) make();
    char *copy = xstrndup((const char *)data, n), *s = copy;
    size_t length = strcspn(s, "\n");
    const struct computed_table *t = find_table(s, length);
    struct text sql;
    text_init(&sql);
    text_addf(&sql, "SELECT * FROM \"%s\"(", t->name);
    for (size_t i = 0; t->arguments[i]; i++) {
        s += length + (s[length] != '\0');
        length = strcspn(s, "\n");
        if (i) text_add(&sql, ", ");
        if (length == 0 && strcmp(t->arguments[i], "positions") == 0)
            text_add(&sql, "64"); /* all of them take seconds */
        else
            add_argument(&sql, s, length);
    }
    text_add(&sql, ")");
    struct diags d;
    diags_init(&d);
    struct query *q = query_new(reader, sql.s, (struct srcloc){0}, &d);
    int more = q ? 1 : -1;
    while (more > 0 && (more = query_step(q, &d)) > 0)
        for (int i = 0; i < query_columns(q); i++) query_text(q, i);
    need((more == 0) == (d.errors == 0));
    query_free(q);
    diags_release(&d);
    text_release(&sql);
    free(copy);
    return 0;
}
