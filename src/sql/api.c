/* What all tables here need: SQLite's functions, in the extension by way of the program that loads it; and errors as its text. */
#include "sql/sql_internal.h"

#ifdef DSE_SQL_EXTENSION
SQLITE_EXTENSION_INIT1
#endif

char *sql_error(struct diags *diags)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < diags->n; i++) {
        const struct diag *g = &diags->list[i];
        if (g->severity != DIAG_ERROR) continue;
        text_addf(&t, "%s%s%s%s", t.n ? "; " : "", g->file ? g->file : "", g->file ? ": " : "", g->message);
        if (g->hint) text_addf(&t, " (%s)", g->hint);
    }
    diags_release(diags);
    char *ret = sqlite3_mprintf("%s", t.s);
    text_release(&t);
    return ret;
}
