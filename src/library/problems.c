/* Diagnostics as values of the library. */
#include "library/library.h"

#include "base/xalloc.h"

#include <stdio.h>
#include <stdlib.h>

struct dse_problems *dse_problems_new(void)
{
    struct dse_problems *p = xcalloc(1, sizeof *p);
    diags_init(&p->diags);
    return p;
}

void dse_problems_clear(struct dse_problems *p)
{
    if (!p) return;
    diags_release(&p->diags);
    diags_init(&p->diags);
    free(p->text);
    p->text = NULL;
}

void dse_problems_free(struct dse_problems *p)
{
    if (!p) return;
    dse_problems_clear(p);
    free(p);
}

_Static_assert((int)DSE_ERROR == (int)DIAG_ERROR && (int)DSE_WARNING == (int)DIAG_WARNING && (int)DSE_NOTE == (int)DIAG_NOTE,
               "the library counts severities as its diagnostics do");

const struct dse_problem *dse_problems_at(struct dse_problems *p, size_t i)
{
    if (!p || i >= p->diags.n) return NULL;
    const struct diag *g = &p->diags.list[i];
    p->shown = (struct dse_problem){.severity = (int)g->severity,
                                    .file = g->file,
                                    .line = g->line,
                                    .column = g->column,
                                    .message = g->message,
                                    .hint = g->hint};
    return &p->shown;
}

const char *dse_problems_text(struct dse_problems *p)
{
    if (!p) return "";
    size_t n;
    struct plain_numbers numbers;
    plain_numbers_begin(&numbers);
    free(p->text);
    p->text = NULL;
    FILE *out = open_memstream(&p->text, &n);
    if (!out) out_of_memory(0);
    diags_print(&p->diags, out, false);
    if (fclose(out) != 0) out_of_memory(0);
    plain_numbers_end(&numbers);
    return p->text;
}

struct diags *call_begin(struct call *c, struct dse_problems *p)
{
    plain_numbers_begin(&c->numbers);
    diags_init(&c->own);
    if (!p) return &c->own;
    free(p->text);
    p->text = NULL;
    return &p->diags;
}

void call_end(struct call *c)
{
    diags_release(&c->own);
    plain_numbers_end(&c->numbers);
}
