/* The arguments of a table, and why it cannot be filled. */
#include "tables/tables_internal.h"

#include <stdlib.h>
#include <string.h>

char *tables_error(struct diags *diags)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < diags->n; i++) {
        const struct diag *g = &diags->list[i];
        if (g->severity != DIAG_ERROR) continue;
        const char *file =
            g->file && strncmp(g->file, "--set", strlen("--set")) != 0 ? g->file : NULL; /* there is no such option here */
        text_addf(&t, "%s%s%s%s", t.n ? "; " : "", file ? file : "", file ? ": " : "", g->message);
        if (g->hint) text_addf(&t, " (%s)", g->hint);
    }
    diags_release(diags);
    return text_detach(&t);
}

bool tables_integer(const char *argument, const char *name, int64_t min, int64_t max, int64_t otherwise, int64_t *ret,
                    char **ret_error)
{
    *ret = otherwise;
    if (!argument || (text_parse_i64(argument, ret) && *ret >= min && *ret <= max)) return true;
    *ret_error = xasprintf("%s: %s is no whole number from %lld to %lld", name, argument, (long long)min, (long long)max);
    return false;
}
