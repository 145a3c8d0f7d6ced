#include "base/hint.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>

bool diags_is_full(struct diags *d)
{
    const bool full = d->n >= DIAGS_MAX;
    d->errors += full;
    return full;
}

bool diags_unknown(struct diags *d, struct srcloc loc, const char *source_text, const char *word, const char *const *names,
                   size_t n, const char *otherwise, const char *fmt, ...)
{
    if (diags_is_full(d)) return false;
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    const char *near = text_nearest(word, names, n);
    char *hint = near ? xasprintf("did you mean \"%s\"?", near) : NULL;
    diags_input(d, loc, source_text, hint ? hint : otherwise, "%s", message);
    free(hint);
    free(message);
    return false;
}
