/* Errors in claims.toml. */
#include "claims/set.h"

#include "base/hint.h"
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
    diags_unknown(diags, loc, s->doc->text, word ? word : "", names, word ? n : 0, otherwise, "%s", message);
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

bool claims_read_section(struct claim_set *s, const char *section,
                         bool (*read)(struct claim_set *s, const struct toml_node *child, struct diags *diags), struct diags *diags)
{
    const struct toml_node *all = toml_expect(s->doc, &s->doc->root, section, TOML_TABLE, diags);
    bool ok = all || !toml_get(&s->doc->root, section);
    for (size_t i = 0; all && i < all->n; i++) ok = read(s, &all->children[i], diags) && ok;
    return ok;
}

bool claims_read_string(const struct claim_set *s, const struct toml_node *table, const char *key, const char **ret,
                        struct diags *diags)
{
    const struct toml_node *node = toml_expect(s->doc, table, key, TOML_STRING, diags);
    if (node) *ret = node->string;
    return node || !toml_get(table, key);
}
