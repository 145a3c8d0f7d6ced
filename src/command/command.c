#include "command/command.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

const struct option_row option_row_help = {'h', "help", NULL, "print this", NULL};

const struct command *command_find(const struct commands *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(name, all->list[i]->name) == 0) return all->list[i];
    return NULL;
}

char *option_help(const struct option_row *o)
{
    char *words = o->words ? text_join(o->words(), ",") : xstrdup("");
    const char *gap = o->words ? strstr(o->help, "%s") : NULL;
    char *help = xasprintf("%.*s%s%s", gap ? (int)(gap - o->help) : INT_MAX, o->help, words, gap ? gap + 2 : "");
    free(words);
    return help;
}

int usage_error(const struct invocation *in, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    char *hint = in->command ? xasprintf("dse %s --help tells more", in->command->name) : xstrdup("dse --help lists the commands");
    diags_input(in->diags, (struct srcloc){0}, NULL, hint, "%s", message);
    free(hint);
    free(message);
    return 2;
}

const char *option_get(const struct invocation *in, const char *name)
{
    for (size_t i = in->n_options; i-- > 0;)
        if (strcmp(in->options[i].row->name, name) == 0) return in->options[i].argument;
    return NULL;
}

const char **option_all(const struct invocation *in, const char *name, size_t *ret_n)
{
    const char **list = xcalloc(in->n_options, sizeof *list);
    *ret_n = 0;
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, name) == 0) list[(*ret_n)++] = in->options[i].argument;
    return list;
}

int usage_unknown(const struct invocation *in, const char *what, const char *word, const char *const *names, size_t n,
                  const char *otherwise)
{
    const char *near = text_nearest(word, names, n);
    return near ? usage_error(in, "%s \"%s\"; did you mean %s?", what, word, near)
                : usage_error(in, "%s \"%s\"%s", what, word, otherwise);
}

bool option_has(const struct invocation *in, const char *name)
{
    for (size_t i = 0; i < in->n_options; i++)
        if (strcmp(in->options[i].row->name, name) == 0) return true;
    return false;
}

long long option_integer(const struct invocation *in, const char *name, long long min, long long max, long long otherwise)
{
    const char *s = option_get(in, name);
    if (!s) return otherwise;
    int64_t v;
    if (text_parse_i64(s, &v) && v >= min && v <= max) return v;
    usage_error(in, "--%s: \"%s\" is not a whole number from %lld to %lld", name, s, min, max);
    return otherwise;
}

long long option_run(const struct invocation *in)
{
    return option_integer(in, "run", 1, INT64_MAX, 0);
}
