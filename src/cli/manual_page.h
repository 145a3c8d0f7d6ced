/* Pages of the manual in mdoc(7), as text that mandoc -Tlint has no complaint about: each sentence begins a line, lines are
 * short. */
#ifndef DSE_CLI_MANUAL_PAGE_H
#define DSE_CLI_MANUAL_PAGE_H

#include "base/text.h"

/* The head: .Dd to NAME. */
void page_begin(struct text *t, const char *name, int section, const char *summary);
/* Running text. `marked`: `code`, **bold** and [text](link) of Markdown mean what they do there. */
void page_prose(struct text *t, const char *s, bool marked);
/* Lines as they are, n bytes. */
void page_literal(struct text *t, const char *s, size_t n);
/* A paragraph or what is below examples of --help: prose, but for lines that begin with a space. */
void page_help(struct text *t, const char *s);
/* One argument of a macro, in quotes, with nothing in it that roff or mdoc read as their own. */
void page_argument(struct text *t, const char *s);
/* A document of docs/, from the line behind its title: headings, lists, tables, code. */
void page_markdown(struct text *t, const char *s);

#endif
