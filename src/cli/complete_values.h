/* What may stand in a place of the command line, for completion. */
#ifndef DSE_CLI_COMPLETE_VALUES_H
#define DSE_CLI_COMPLETE_VALUES_H

#include "cli/commands.h"

/* Candidates for one word. They are printed as they come; what does not begin with the word is left out. */
struct candidates {
    const char *word;   /* as far as it is typed */
    const char *before; /* what stands before each: "--set=" */
    bool files;         /* the name of a file may stand here, too */
};

/* "word", a tab, "meaning" on a line; meaning may be NULL. */
void candidate_add(const struct candidates *c, const char *word, const char *meaning);

/* The argument of an option of that command. `operands` are those before it. */
void complete_argument(struct candidates *c, const struct command *command, const struct option_row *o, const char *const *operands,
                       size_t n_operands);
/* The next operand. */
void complete_operand(struct candidates *c, const struct command *command, const char *const *operands, size_t n_operands);

#endif
