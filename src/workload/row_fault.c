#include "workload/row_fault.h"

#include "base/xalloc.h"

#include <stdarg.h>
#include <stdlib.h>

bool row_fault(struct row_fault *ret, size_t row, const char *column, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    *ret = (struct row_fault){row, column, xvasprintf(fmt, ap)};
    va_end(ap);
    return false;
}

char *row_fault_text(struct row_fault *f)
{
    char *why = f->why;
    f->why = NULL;
    if (!why || f->row == ROW_NONE) return why;
    char *text = xasprintf("row %zu: %s", f->row + 1, why);
    free(why);
    return text;
}
