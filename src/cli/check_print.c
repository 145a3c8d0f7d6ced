#include "cli/check_print.h"

void check_print(const struct check *c, enum output_format format)
{
    static const char *const columns[] = {"check", "result", "found"};
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < c->n; i++) {
        output_text(o, c->lines[i].name);
        output_coloured(o, c->lines[i].ok ? "ok" : "WRONG", c->lines[i].ok ? "\033[32m" : "\033[31m");
        output_text(o, c->lines[i].detail);
    }
    output_end(o);
}
