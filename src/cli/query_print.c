#include "cli/query_print.h"

#include "base/xalloc.h"

#include <stdlib.h>

static void put_cell(struct output *o, const struct query *q, int i)
{
    switch (query_type(q, i)) {
    case CELL_INTEGER: output_i64(o, query_i64(q, i)); break;
    case CELL_REAL: output_f64(o, query_f64(q, i)); break;
    case CELL_TEXT: output_text(o, query_text(q, i)); break;
    case CELL_BLOB: output_text(o, "(blob)"); break;
    case CELL_NULL: output_text(o, NULL); break;
    }
}

bool query_print(struct query *q, enum output_format format, FILE *out, struct diags *diags)
{
    int n = query_columns(q);
    const char **names = xcalloc((size_t)n, sizeof *names);
    for (int i = 0; i < n; i++) names[i] = query_column_name(q, i);
    struct output *o = output_new(out, format, names, (size_t)n);
    free(names);
    int status = 0;
    size_t rows = 0;
    while (!ferror(out) && (status = query_step(q, diags)) == 1) {
        if (format == OUTPUT_TABLE && rows == TABLE_ROWS_MAX) {
            terminal_say(stderr, "dse: only the first %d rows are shown; --format csv gives all", TABLE_ROWS_MAX);
            break;
        }
        for (int i = 0; i < n; i++) put_cell(o, q, i);
        rows++;
    }
    bool written = output_end(o);
    return status >= 0 && written;
}
