#include "base/plain_numbers.h"

#include "base/xalloc.h"

#include <string.h>

void plain_numbers_begin(struct plain_numbers *n)
{
    *n = (struct plain_numbers){0};
    fegetenv(&n->arithmetic);
    fesetenv(FE_DFL_ENV);
    if (strcmp(localeconv()->decimal_point, ".") == 0) return;
    locale_t like = duplocale(uselocale((locale_t)0)); /* characters, messages and times stay the program's */
    n->own = like ? newlocale(LC_NUMERIC_MASK, "C", like) : (locale_t)0;
    if (!n->own) out_of_memory(0);
    n->before = uselocale(n->own);
}

void plain_numbers_end(struct plain_numbers *n)
{
    fesetenv(&n->arithmetic);
    if (!n->own) return;
    uselocale(n->before);
    freelocale(n->own);
    *n = (struct plain_numbers){0};
}
