#include "command/output.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "command/table_fit.h"

#include <csv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct output {
    FILE *out;
    enum output_format format;
    size_t n, column; /* columns; the next cell's */
    uint64_t rows;
    char **names;
    bool *numeric;            /* table: no text so far in this column */
    struct table_cell *cells; /* table: all so far, row by row */
    size_t n_cells, capacity;
};

bool output_parse_format(const struct invocation *in, enum output_format *ret)
{
    static const char *const names[] = {"table", "csv", "json"};
    const char *s = option_get(in, "format");
    *ret = OUTPUT_TABLE;
    for (size_t i = 0; s && i < sizeof names / sizeof *names; i++) {
        if (strcmp(s, names[i]) != 0) continue;
        *ret = (enum output_format)i;
        s = NULL;
    }
    if (!s) return true;
    usage_error(in, "unknown format \"%s\": table, csv or json", s);
    return false;
}

static void json_string(FILE *out, const char *s)
{
    struct text t;
    text_init(&t);
    text_add_json(&t, s);
    fputs(t.s, out);
    text_release(&t);
}

struct output *output_new(FILE *out, enum output_format format, const char *const *columns, size_t n)
{
    struct output *o = xcalloc(1, sizeof *o);
    *o = (struct output){.out = out, .format = format, .n = n};
    o->names = xcalloc(n, sizeof *o->names);
    o->numeric = xcalloc(n, sizeof *o->numeric);
    for (size_t i = 0; i < n; i++) {
        o->names[i] = xstrdup(columns[i]);
        o->numeric[i] = true;
    }
    if (format == OUTPUT_CSV) {
        for (size_t i = 0; i < n; i++) {
            if (i) fputc(',', out);
            csv_fwrite(out, columns[i], strlen(columns[i]));
        }
        fputc('\n', out);
    } else if (format == OUTPUT_JSON) {
        fputc('[', out);
    }
    return o;
}

static void keep_cell(struct output *o, const char *s)
{
    if (o->n_cells == o->capacity) {
        o->capacity = o->capacity ? 2 * o->capacity : 64;
        o->cells = xrealloc(o->cells, o->capacity, sizeof *o->cells);
    }
    o->cells[o->n_cells++] = (struct table_cell){.text = s ? xstrdup(s) : NULL};
}

/* Write what stands before a cell, and behind the last one of a row. */
static void open_cell(struct output *o)
{
    bool first = o->column == 0;
    if (o->format == OUTPUT_CSV) {
        if (!first) fputc(',', o->out);
    } else if (o->format == OUTPUT_JSON) {
        fputs(first ? (o->rows ? ",\n {" : "\n {") : ", ", o->out);
        json_string(o->out, o->names[o->column]);
        fputs(": ", o->out);
    }
}

static void close_cell(struct output *o)
{
    if (++o->column < o->n) return;
    o->column = 0;
    o->rows++;
    if (o->format == OUTPUT_CSV) fputc('\n', o->out);
    if (o->format == OUTPUT_JSON) fputc('}', o->out);
}

void output_text(struct output *o, const char *s)
{
    open_cell(o);
    if (o->format == OUTPUT_TABLE) {
        if (s && *s) o->numeric[o->column] = false;
        keep_cell(o, s);
    } else if (o->format == OUTPUT_CSV) {
        if (s) csv_fwrite(o->out, s, strlen(s));
    } else if (s) {
        json_string(o->out, s);
    } else {
        fputs("null", o->out);
    }
    close_cell(o);
}

void output_coloured(struct output *o, const char *s, const char *colour)
{
    output_text(o, s);
    if (o->format == OUTPUT_TABLE) o->cells[o->n_cells - 1].colour = colour;
}

static void put_number(struct output *o, const char *s)
{
    open_cell(o);
    if (o->format == OUTPUT_TABLE)
        keep_cell(o, s);
    else
        fputs(s, o->out);
    close_cell(o);
}

void output_f64(struct output *o, double v)
{
    char buf[TEXT_NUMBER_MAX];
    if (isnan(v))
        output_text(o, NULL);
    else if (isinf(v)) /* JSON has no word for it, but numbers that no double holds */
        put_number(o, o->format == OUTPUT_JSON ? v > 0 ? "1e999" : "-1e999" : v > 0 ? "inf" : "-inf");
    else
        put_number(o, o->format == OUTPUT_TABLE ? text_short_number(buf, v) : text_number(buf, v));
}

void output_i64(struct output *o, int64_t v)
{
    char *s = xasprintf("%lld", (long long)v);
    put_number(o, s);
    free(s);
}

static void print_table(const struct output *o)
{
    struct table_column *columns = xcalloc(o->n, sizeof *columns);
    for (size_t i = 0; i < o->n; i++) columns[i] = (struct table_column){o->names[i], o->numeric[i]};
    struct table t = {.columns = columns, .n_columns = o->n, .cells = o->cells, .n_rows = o->rows};
    table_print(o->out, &t, terminal_width(o->out), wants_colour(o->out));
    free(columns);
}

bool output_end(struct output *o)
{
    if (o->format == OUTPUT_TABLE) print_table(o);
    if (o->format == OUTPUT_JSON) fputs("\n]\n", o->out);
    bool ok = fflush(o->out) == 0 && !ferror(o->out);
    for (size_t i = 0; i < o->n; i++) free(o->names[i]);
    for (size_t i = 0; i < o->n_cells; i++) free(o->cells[i].text);
    free(o->cells);
    free(o->names);
    free(o->numeric);
    free(o);
    return ok;
}
