#include "store/run_catalog.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "store/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_database(const char *path)
{
    static const char magic[] = "SQLite format 3"; /* with its NUL */
    char head[sizeof magic];
    FILE *f = fopen(path, "rb");
    bool is = f && fread(head, sizeof head, 1, f) == 1 && memcmp(head, magic, sizeof magic) == 0;
    if (f) fclose(f);
    return is;
}

/* "x.db#3": the database and its run, 0 when none is named. False: the file is none. The caller frees *ret_path. */
static bool split(const char *file, char **ret_path, int64_t *ret_run)
{
    const char *mark = strrchr(file, '#');
    *ret_run = 0;
    *ret_path = xstrdup(file);
    if (is_database(file)) return true;
    if (!mark || !text_parse_i64(mark + 1, ret_run) || *ret_run < 1) return false;
    (*ret_path)[mark - file] = '\0';
    return is_database(*ret_path);
}

static bool add_text(struct catalog *c, const char *name, const char *sweep, struct diags *diags)
{
    struct toml_doc *doc = toml_read_text(name, sweep, strlen(sweep), diags);
    const struct toml_node *table = doc ? toml_get(&doc->root, "catalog") : NULL;
    bool ok = doc && (!table || catalog_add_table(c, doc, table, diags));
    toml_free(doc);
    return ok;
}

static bool add_run(struct catalog *c, const char *path, int64_t wanted, struct diags *diags)
{
    struct reader *r = reader_open(path, diags);
    int64_t run = r ? reader_show_run(r, wanted, diags) : 0;
    char *sql = xasprintf("SELECT sweep || '.toml', sweep_text FROM run WHERE id = %lld", (long long)run);
    struct query *q = run ? query_new(r, sql, (struct srcloc){0}, diags) : NULL;
    bool ok = q && query_step(q, diags) > 0;
    if (ok && query_text(q, 0) && query_text(q, 1)) ok = add_text(c, query_text(q, 0), query_text(q, 1), diags);
    query_free(q);
    free(sql);
    reader_close(r);
    return ok;
}

bool catalog_add_any(struct catalog *c, const char *file, struct diags *diags)
{
    char *path;
    int64_t run;
    bool database = split(file, &path, &run);
    bool ok = database ? add_run(c, path, run, diags) : catalog_add_file(c, file, diags);
    free(path);
    return ok;
}
