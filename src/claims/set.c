/* Errors in claims.toml. */
#include "claims/set.h"

#include "base/xalloc.h"

#include <stdarg.h>
#include <stdlib.h>

bool claims_error(const struct claim_set *s, struct srcloc loc, const char *hint, struct diags *diags, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    diags_input(diags, loc, s->doc->text, hint, "%s", message);
    free(message);
    return false;
}

char *claims_hint(const char *word, const char *const *names, size_t n, const char *otherwise)
{
    const char *near = text_nearest(word, names, n);
    if (near) return xasprintf("did you mean \"%s\"?", near);
    return otherwise ? xstrdup(otherwise) : NULL;
}
