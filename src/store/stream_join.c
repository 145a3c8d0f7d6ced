/* What workers evaluated of a run that does not store all its points, put together. */
#include "store/stream.h"

#include "base/xalloc.h"
#include "store/schema.h"

#include <stdlib.h>
#include <string.h>

/* Is there anything to take: did workers evaluate it, and is it neither done nor put together already? */
static bool is_wanted(const struct db *db, int64_t from, int64_t to, bool *ret, struct diags *diags)
{
    int64_t tables, parts = 0, over = 1;
    *ret = false;
    if (!db_int(db, &tables, diags, "SELECT count(*) FROM input.sqlite_schema WHERE name IN ('streamed_part', 'streamed_block')"))
        return false;
    if (tables < 2) return true;
    if (!db_int(db, &parts, diags, "SELECT count(*) FROM input.streamed_part WHERE run = %lld", (long long)from) ||
        !db_exec(db, diags, "%s", stream_tables_sql) ||
        !db_int(db, &over, diags,
                "SELECT (SELECT count(*) FROM main.run WHERE id = %lld AND status = 'done') +"
                " (SELECT count(*) FROM main.streamed WHERE run = %lld)",
                (long long)to, (long long)to))
        return false;
    *ret = parts > 0 && over == 0;
    return true;
}

/* Do the blocks of a model follow each other from its first point to its last? */
static bool is_covered(const struct db *db, const char *model, int64_t run, bool *ret, struct diags *diags)
{
    const long long id = (long long)run;
    int64_t points, covered, jumps;
    if (!db_int(db, &points, diags, "SELECT coalesce(sum(points), 0) FROM main.\"%w_fixed\" WHERE run = %lld", model, id) ||
        !db_int(db, &covered, diags,
                "SELECT coalesce(max(\"last\") + 1, 0) FROM main.streamed_block WHERE run = %lld AND model = %Q", id, model) ||
        !db_int(db, &jumps, diags,
                "SELECT count(*) FROM (SELECT f, lag(l, 1, -1) OVER (ORDER BY f) AS before FROM (SELECT DISTINCT \"first\" AS f,"
                " \"last\" AS l FROM main.streamed_block WHERE run = %lld AND model = %Q)) WHERE f <> before + 1",
                id, model))
        return false;
    *ret = covered == points && jumps == 0;
    return true;
}

/* All parts of a model, one behind the other: points that several have stand there as often. */
static bool join_points(const struct db *db, const char *model, int64_t run, struct diags *diags)
{
    const long long id = (long long)run;
    sqlite3_stmt *parts = db_prepare(db, diags, "SELECT points FROM main.streamed_part WHERE run = %lld AND model = %Q", id, model),
                 *all = db_prepare(db, diags,
                                   "INSERT INTO main.streamed SELECT run, %Q, points, ? FROM main.\"%w_fixed\" WHERE run = %lld",
                                   model, model, id);
    char *bytes = NULL;
    size_t n = 0;
    int rc = parts && all ? 1 : -1;
    while (rc > 0 && (rc = db_step(db, parts, diags)) > 0) {
        const size_t more = (size_t)sqlite3_column_bytes(parts, 0);
        bytes = xrealloc(bytes, n + more + 1, 1);
        if (more) memcpy(bytes + n, sqlite3_column_blob(parts, 0), more);
        n += more;
    }
    if (rc == 0) sqlite3_bind_blob64(all, 1, bytes ? bytes : "", n, SQLITE_STATIC);
    const bool ok = rc == 0 && db_run(db, all, diags);
    sqlite3_finalize(parts);
    sqlite3_finalize(all);
    free(bytes);
    return ok;
}

/* All is evaluated: it becomes what a run has before it stores its points. */
static bool complete(const struct db *db, const struct model_list *models, int64_t run, struct diags *diags)
{
    const long long id = (long long)run;
    bool ok = db_exec(db, diags,
                      "DELETE FROM main.evaluated WHERE run = %lld;INSERT INTO main.evaluated SELECT run, model, status,"
                      " nullif(reason, ''), sum(points) FROM main.streamed_block WHERE run = %lld GROUP BY model, status, reason",
                      id, id);
    for (size_t i = 0; ok && i < models->n; i++) ok = join_points(db, models->names[i], run, diags);
    return ok &&
           db_exec(db, diags, "DELETE FROM main.streamed_block WHERE run = %lld;DELETE FROM main.streamed_part WHERE run = %lld",
                   id, id);
}

bool stream_join(const struct db *db, const struct model_list *models, int64_t from, int64_t to, struct diags *diags)
{
    const long long input = (long long)from, run = (long long)to;
    bool wanted, all = true;
    if (!is_wanted(db, from, to, &wanted, diags)) return false;
    if (!wanted) return true;
    bool ok =
        db_exec(db, diags,
                "INSERT OR IGNORE INTO main.streamed_block SELECT %lld, model, \"first\", \"last\", status, reason, points"
                " FROM input.streamed_block WHERE run = %lld;"
                "INSERT OR IGNORE INTO main.streamed_part SELECT %lld, model, points FROM input.streamed_part WHERE run = %lld",
                run, input, run, input);
    for (size_t i = 0; ok && all && i < models->n; i++) ok = is_covered(db, models->names[i], to, &all, diags);
    return ok && (!all || complete(db, models, to, diags));
}
