/* Numbers as in a program of dse, whatever program this is part of.
 *
 * A program that calls libdse, or loads the extension, may have a locale with a decimal comma, in which "max(2,5,1)" is the
 * larger of 2.5 and 1 to strtod, and 2.5 is "2,5" to printf. It may have traps for a division by zero, which is infinity here, or
 * another way of rounding. What is called from outside reads, computes and prints between these two calls. */
#ifndef DSE_BASE_PLAIN_NUMBERS_H
#define DSE_BASE_PLAIN_NUMBERS_H

#include <fenv.h>
#include <locale.h>
#include <stdbool.h>

struct plain_numbers {
    locale_t own, before; /* 0: the locale has a point already */
    bool unusual;         /* is the program's arithmetic another? */
    fenv_t arithmetic;    /* the program's, if it is */
};

/* From now on this thread reads, prints and computes numbers as a program does when it starts. Every begin has its end, in the same
 * thread. */
void plain_numbers_begin(struct plain_numbers *n);
void plain_numbers_end(struct plain_numbers *n);

#endif
