/* Errors about a word that is none of the names that are known. */
#ifndef DSE_BASE_HINT_H
#define DSE_BASE_HINT_H

#include "base/diag.h"

/* Is an error more only counted? Then it is, and who would look for words to say it need not. */
bool diags_is_full(struct diags *d);
/* Add an error of the user's input about `word`. Its hint is the nearest of names[0..n) or, when none is near, `otherwise`, which
 * may be NULL. The rest as in diags_input. Always false. */
bool diags_unknown(struct diags *d, struct srcloc loc, const char *source_text, const char *word, const char *const *names,
                   size_t n, const char *otherwise, const char *fmt, ...) __attribute__((format(printf, 8, 9)));

#endif
