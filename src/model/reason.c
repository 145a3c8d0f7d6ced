#include "model/reason.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stdio.h>
#include <string.h>

/* Four digits, or as many as it takes to tell the two apart. */
static int digits_of(const struct dse_shortage *s)
{
    enum { DIGITS = 4, DIGITS_MAX = 12 };
    int digits = DIGITS;
    for (char a[64], b[64]; digits < DIGITS_MAX; digits++) {
        snprintf(a, sizeof a, "%.*g", digits, s->needed);
        snprintf(b, sizeof b, "%.*g", digits, s->there);
        if (strcmp(a, b) != 0) break;
    }
    return digits;
}

char *reason_text(const struct dse_model *m, const void *params, const char *reason)
{
    struct dse_shortage s;
    if (!m->shortage || !m->shortage(params, reason, &s)) return xstrdup(reason);
    int digits = digits_of(&s);
    return xasprintf("%s: %.*g %s needed, %.*g %s available", reason, digits, s.needed, s.unit, digits, s.there, s.unit);
}
