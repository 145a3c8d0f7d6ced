#include "sweep/design.h"

#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

void name_list_add(struct name_list *l, const char *s)
{
    l->s = xrealloc(l->s, l->n + 1, sizeof(char *));
    l->s[l->n++] = xstrdup(s);
}

bool name_list_have(const struct name_list *l, const char *s)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->s[i], s) == 0) return true;
    return false;
}

void name_list_release(struct name_list *l)
{
    for (size_t i = 0; i < l->n; i++) free(l->s[i]);
    free(l->s);
    *l = (struct name_list){0};
}

/* Read the texts of a query's first column. */
static bool read_names(struct reader *r, const char *sql, struct name_list *ret, struct diags *diags)
{
    struct query *q = query_new(r, sql, (struct srcloc){0}, diags);
    int status = q ? 1 : -1;
    while (status > 0 && (status = query_step(q, diags)) > 0)
        if (query_text(q, 0)) name_list_add(ret, query_text(q, 0));
    query_free(q);
    return status == 0;
}

bool read_columns(struct reader *r, const char *table, struct name_list *ret, struct diags *diags)
{
    struct text sql;
    text_init(&sql);
    text_add(&sql, "SELECT name FROM pragma_table_info(");
    sql_add_string(&sql, table);
    text_add(&sql, ")");
    bool ok = read_names(r, sql.s, ret, diags);
    text_release(&sql);
    return ok;
}

bool read_models(struct reader *r, int64_t run, struct name_list *ret, struct diags *diags)
{
    struct name_list all = {0};
    bool ok = read_names(r,
                         "SELECT substr(name, 1, length(name) - 6) FROM sqlite_schema"
                         " WHERE type = 'table' AND name LIKE '%\\_fixed' ESCAPE '\\' ORDER BY rowid",
                         &all, diags);
    for (size_t i = 0; ok && i < all.n; i++) {
        struct text sql;
        text_init(&sql);
        text_add(&sql, "SELECT ");
        sql_add_string(&sql, all.s[i]);
        text_add(&sql, " FROM ");
        char *table = xasprintf("%s_fixed", all.s[i]);
        sql_add_name(&sql, table);
        text_addf(&sql, " WHERE run = %lld", (long long)run);
        ok = read_names(r, sql.s, ret, diags);
        free(table);
        text_release(&sql);
    }
    name_list_release(&all);
    return ok;
}

bool split_axes(struct reader *r, const struct name_list *models, const struct name_list *axes, struct name_list *ret_shared,
                struct name_list *ret_own, struct diags *diags)
{
    struct name_list *columns = xcalloc(models->n, sizeof *columns);
    bool ok = true;
    for (size_t m = 0; ok && m < models->n; m++) ok = read_columns(r, models->s[m], &columns[m], diags);
    for (size_t i = 0; ok && i < axes->n; i++) {
        size_t there = 0;
        for (size_t m = 0; m < models->n; m++) there += name_list_have(&columns[m], axes->s[i]);
        if (there) name_list_add(there == models->n ? ret_shared : ret_own, axes->s[i]);
    }
    for (size_t m = 0; m < models->n; m++) name_list_release(&columns[m]);
    free(columns);
    return ok;
}

void add_design(struct text *sql, const struct name_list *own, const struct name_list *columns)
{
    size_t n = 0;
    for (size_t i = 0; i < own->n; i++) {
        if (!name_list_have(columns, own->s[i])) continue;
        char *key = xasprintf("%s%s=", n ? " " : "", own->s[i]);
        text_add(sql, n ? " || " : ", ");
        sql_add_string(sql, key);
        text_add(sql, " || CASE typeof(");
        sql_add_name(sql, own->s[i]);
        text_add(sql, ") WHEN 'real' THEN printf('%.4g', ");
        sql_add_name(sql, own->s[i]);
        text_add(sql, ") ELSE ");
        sql_add_name(sql, own->s[i]);
        text_add(sql, " END");
        free(key);
        n++;
    }
    text_add(sql, n ? " AS design" : ", NULL AS design");
}
