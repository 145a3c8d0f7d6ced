/* dse complete: what may stand next on a command line. The completions of the shells call it, so that they know what dse knows. */
#include "base/xalloc.h"
#include "cli/complete_values.h"
#include "command/command.h"

#include <stdlib.h>
#include <stdint.h>
#include <string.h>

/* A command line as far as it is read. */
struct line {
    const struct command *command;
    const char **operands;
    size_t n_operands;
    const struct option_row *pending; /* an option that waits for its argument */
    bool no_options;                  /* behind -- */
};

static const struct option_row *find_option(const struct command *c, const char *word, size_t n)
{
    for (const struct option_row *o = c->options; o && o->name; o++) {
        if (n == 2 && word[0] == '-' && word[1] == o->letter && o->letter) return o;
        if (n > 2 && strncmp(word, "--", 2) == 0 && strlen(o->name) == n - 2 && strncmp(o->name, word + 2, n - 2) == 0) return o;
    }
    return NULL;
}

static void read_word(struct line *l, const char *word)
{
    if (l->pending) {
        l->pending = NULL;
    } else if (!l->no_options && strcmp(word, "--") == 0) {
        l->no_options = true;
    } else if (!l->no_options && word[0] == '-' && word[1]) {
        const struct option_row *o = find_option(l->command, word, strcspn(word, "="));
        if (o && o->argument && *o->argument != '[' && !strchr(word, '=')) l->pending = o;
    } else {
        l->operands[l->n_operands++] = word;
    }
}

static void complete_option(const struct candidates *c, const struct command *command)
{
    for (const struct option_row *o = command->options;; o++) {
        const bool last = !o || !o->name;
        const struct option_row *row = last ? &option_row_help : o;
        char *word = xasprintf("--%s", row->name), *help = option_help(row);
        candidate_add(c, word, help);
        free(help);
        free(word);
        if (last) return;
    }
}

static void complete_word(struct line *l, const char *word, struct candidates *c)
{
    const char *equals = strchr(word, '=');
    const struct option_row *o =
        !l->no_options && word[0] == '-' && equals ? find_option(l->command, word, (size_t)(equals - word)) : NULL;
    if (l->pending) {
        complete_argument(c, l->command, l->pending, l->operands, l->n_operands);
    } else if (o && o->argument) {
        char *before = xstrndup(word, (size_t)(equals - word) + 1);
        c->word = equals + 1;
        c->before = before;
        complete_argument(c, l->command, o, l->operands, l->n_operands);
        free(before);
    } else if (!l->no_options && word[0] == '-') {
        complete_option(c, l->command);
    } else {
        complete_operand(c, l->command, l->operands, l->n_operands);
    }
}

static void complete_command(const struct candidates *c, const struct commands *all)
{
    for (size_t i = 0; i < all->n; i++)
        if (!all->list[i]->hidden) candidate_add(c, all->list[i]->name, all->list[i]->summary);
    candidate_add(c, "--help", "what dse is");
    candidate_add(c, "--version", "version and commit; with --verbose what it was built of");
}

static int run(const struct invocation *in)
{
    const char *word = in->n_operands ? in->operands[in->n_operands - 1] : "";
    struct candidates c = {.word = word, .before = ""};
    struct line l = {.command = in->n_operands > 1 ? command_find(in->all, in->operands[0]) : NULL};
    if (in->n_operands <= 1) {
        complete_command(&c, in->all);
    } else if (l.command) {
        l.operands = xcalloc(in->n_operands, sizeof *l.operands);
        for (size_t i = 1; i + 1 < in->n_operands; i++) read_word(&l, in->operands[i]);
        complete_word(&l, word, &c);
        if (c.files) puts(":files");
        free(l.operands);
    }
    return 0;
}

const struct command command_complete = {
    .name = "complete",
    .operands = "WORD...",
    .summary = "what may stand next on a command line, for completion in shells",
    .help =
        "The words behind \"dse\" and a --; the last one is to be completed. Each candidate is a line, with its meaning behind a "
        "tab;\n"
        "\":files\" is one where the name of a file may stand.\n",
    .hidden = true,
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .run = run,
};
