/* For tests of readers: what was complained about, and where. */
#ifndef DSE_TESTS_COMPLAINTS_H
#define DSE_TESTS_COMPLAINTS_H

#include "base/diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ANYWHERE = -1 };

struct complaint {
    int line, column; /* line ANYWHERE: not looked at */
    const char *part; /* of the message or its hint */
};

/* The diagnostics are exactly these errors of the input, in this order; the list is emptied. */
static inline void expect_complaints(struct diags *d, const struct complaint *want, size_t n)
{
    bool same = d->n == n && diags_exit_status(d) == (n ? 2 : 0);
    for (size_t i = 0; same && i < n; i++) {
        const struct diag *g = &d->list[i];
        bool said = strstr(g->message, want[i].part) || (g->hint && strstr(g->hint, want[i].part));
        same = said && (want[i].line == ANYWHERE || (g->line == want[i].line && g->column == want[i].column));
    }
    if (!same) {
        diags_print(d, stderr, false);
        for (size_t i = 0; i < n; i++) print_error("wanted: %d:%d: ... %s ...\n", want[i].line, want[i].column, want[i].part);
    }
    diags_release(d);
    if (!same) fail_msg("the complaints are others");
}

static inline void expect_complaint(struct diags *d, int line, int column, const char *part)
{
    const struct complaint want = {line, column, part};
    expect_complaints(d, &want, 1);
}

static inline void expect_silence(struct diags *d)
{
    expect_complaints(d, NULL, 0);
}

#endif
