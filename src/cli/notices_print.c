#include "cli/notices_print.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "command/terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Print a notice. Its further lines are to be copied: each is printed as it is. */
static void say_notice(const char *text)
{
    const size_t n = strcspn(text, "\n");
    terminal_say(stderr, "note: %.*s", (int)n, text);
    if (!text[n]) return;
    char *lines = text_printable(text + n + 1, SIZE_MAX);
    fprintf(stderr, "%s\n", lines);
    free(lines);
}

/* Print the texts that a query gives. */
static bool print_texts(struct reader *r, const char *sql, struct diags *diags)
{
    struct query *q = query_new(r, sql, (struct srcloc){0}, diags);
    int status = q ? 1 : -1;
    while (status > 0 && (status = query_step(q, diags)) > 0)
        if (query_text(q, 0)) say_notice(query_text(q, 0));
    query_free(q);
    return status == 0;
}

static bool has_notices(struct reader *r, bool *ret, struct diags *diags)
{
    struct query *q =
        query_new(r, "SELECT count(*) FROM pragma_table_info('run') WHERE name = 'notices'", (struct srcloc){0}, diags);
    int status = q ? query_step(q, diags) : -1;
    *ret = status > 0 && query_i64(q, 0) > 0;
    query_free(q);
    return status > 0;
}

bool notices_print_stored(struct reader *r, int64_t run, struct diags *diags)
{
    bool there;
    if (!has_notices(r, &there, diags)) return false;
    if (!there) return true;
    char *sql =
        xasprintf("SELECT json_extract(n.value, '$.text') FROM run, json_each(run.notices) n WHERE run.id = %lld", (long long)run);
    bool ok = print_texts(r, sql, diags);
    free(sql);
    return ok;
}

bool notices_print(struct reader *r, int64_t run, const struct notice_front *front, struct diags *diags)
{
    char *json;
    if (!reader_notices(r, run, front, &json, diags)) return false;
    struct text sql;
    text_init(&sql);
    text_add(&sql, "SELECT json_extract(value, '$.text') FROM json_each('");
    for (const char *s = json; *s; s++) text_add_bytes(&sql, *s == '\'' ? "''" : s, *s == '\'' ? 2 : 1);
    text_add(&sql, "')");
    bool ok = print_texts(r, sql.s, diags);
    text_release(&sql);
    free(json);
    return ok;
}
