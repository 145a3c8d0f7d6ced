/* Wrapping text into lines that are no longer than a given width, for terminals. Widths are in characters. */
#ifndef DSE_BASE_WRAP_H
#define DSE_BASE_WRAP_H

#include "base/text.h"

/* The number of characters of a text in UTF-8. A byte that belongs to no character counts as one. */
size_t wrap_width(const char *s);

/* How many bytes the first `width` characters of s take, or all of s when it is shorter. */
size_t wrap_bytes(const char *s, size_t width);

/* Add s to a line of which `used` characters are taken, and go on in lines that begin with `indent` spaces: no line is longer
 * than `width`. A line ends at white space, of which there is one space between words then; white space before the first word is
 * kept. What has no room in a line of its own is cut. `breaks` are characters behind which a word may end, too ("_"), or NULL.
 * Returns the characters in the last line. */
size_t wrap_add(struct text *t, const char *s, size_t width, size_t used, size_t indent, const char *breaks);

/* The width, in characters, of the longest piece that wrap_add keeps whole where it can. */
size_t wrap_longest(const char *s, const char *breaks);

#endif
