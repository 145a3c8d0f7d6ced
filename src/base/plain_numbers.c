#include "base/plain_numbers.h"

#include "base/xalloc.h"

#include <string.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif

/* Does the thread compute otherwise than a program that starts? To ask is cheap, and to change it is not. */
static bool is_unusual(void)
{
#ifdef __SSE__
    enum { FLAGS = 0x3F, USUAL = 0x1F80 }; /* what has happened; all masked, to the nearest, with subnormal numbers */
    if ((_mm_getcsr() & ~(unsigned)FLAGS) != USUAL) return true;
#endif
    return fegetround() != FE_TONEAREST || fegetexcept() != 0;
}

void plain_numbers_begin(struct plain_numbers *n)
{
    *n = (struct plain_numbers){0};
    n->unusual = is_unusual();
    if (n->unusual) {
        fegetenv(&n->arithmetic);
        fesetenv(FE_DFL_ENV);
    }
    if (strcmp(localeconv()->decimal_point, ".") == 0) return;
    locale_t like = duplocale(uselocale((locale_t)0)); /* characters, messages and times stay the program's */
    n->own = like ? newlocale(LC_NUMERIC_MASK, "C", like) : (locale_t)0;
    if (!n->own) out_of_memory(0);
    n->before = uselocale(n->own);
}

void plain_numbers_end(struct plain_numbers *n)
{
    if (n->unusual) fesetenv(&n->arithmetic);
    if (!n->own) return;
    uselocale(n->before);
    freelocale(n->own);
    *n = (struct plain_numbers){0};
}
