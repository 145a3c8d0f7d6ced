/* Lists of strings, and how large a change is. */
#include "diff/diff_internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void add_string(char ***list, size_t *n, char *s)
{
    *list = xrealloc(*list, *n + 1, sizeof **list);
    (*list)[(*n)++] = s;
}

void free_strings(char **list, size_t n)
{
    for (size_t i = 0; i < n; i++) free(list[i]);
    free(list);
}

bool has_string(char *const *list, size_t n, const char *s)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], s) == 0) return true;
    return false;
}

bool read_strings(struct reader *r, const char *sql, char ***ret, size_t *ret_n, struct diags *diags)
{
    struct query *q = query_new(r, sql, (struct srcloc){0}, diags);
    int rc = q ? 1 : -1;
    while (rc > 0 && (rc = query_step(q, diags)) > 0) {
        const char *s = query_text(q, 0);
        add_string(ret, ret_n, s ? xstrdup(s) : NULL);
    }
    query_free(q);
    return rc == 0;
}

bool is_listed(const char *list, const char *name)
{
    const size_t n = strlen(name);
    for (const char *p = list; p && *p; p += strcspn(p, ",")) {
        p += strspn(p, ", ");
        if (strncmp(p, name, n) == 0 && strchr(",", p[n])) return true; /* the end of the text is found, too */
    }
    return false;
}

double relative_size(double a, double change)
{
    static const double most = 1e290; /* so that those of all rows have a sum */
    if (isnan(change) || change == 0) return change;
    if (a == 0) return change > 0 ? (double)INFINITY : -(double)INFINITY;
    return fmin(fmax(change / fabs(a), -most), most);
}
