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

bool claims_unknown(const struct claim_set *s, struct srcloc loc, const char *word, const char *const *names, size_t n,
                    const char *otherwise, struct diags *diags, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    const char *near = word ? text_nearest(word, names, n) : NULL;
    char *hint = near ? xasprintf("did you mean \"%s\"?", near) : NULL;
    claims_error(s, loc, hint ? hint : otherwise, diags, "%s", message);
    free(hint);
    free(message);
    return false;
}

bool claims_unknown_key(const struct claim_set *s, const struct toml_node *word, const struct toml_node *table,
                        const char *otherwise, struct diags *diags, const char *before)
{
    size_t n = table ? table->n : 0;
    const char **keys = xcalloc(n, sizeof *keys);
    for (size_t i = 0; i < n; i++) keys[i] = table->children[i].key;
    claims_unknown(s, toml_loc(s->doc, word), word->string, keys, n, otherwise, diags, "%s \"%s\"", before, word->string);
    free(keys);
    return false;
}
