/* Why rows of numbers are not what is to be made of them: which row, about which column. Who read them from a file knows where
 * that stands. */
#ifndef DSE_WORKLOAD_ROW_FAULT_H
#define DSE_WORKLOAD_ROW_FAULT_H

#include <stdbool.h>
#include <stddef.h>

#define ROW_NONE ((size_t)-1)

struct row_fault {
    size_t row;         /* from 0; ROW_NONE: of no single row */
    const char *column; /* by the name that it has in a file; NULL: of the whole row */
    char *why;          /* owned by who declared it; NULL: there is no fault */
};

/* Fill *ret, whose text the caller frees. Always false, so that `return row_fault(...)` reads well. */
bool row_fault(struct row_fault *ret, size_t row, const char *column, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* "row 3: context 256 does not grow", counted from 1, where there is no file to point at; takes the words over. NULL without a
 * fault. */
char *row_fault_text(struct row_fault *f);

#endif
