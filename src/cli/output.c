#include "cli/output.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <csv.h>
#include <libsmartcols.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct output {
    FILE *out;
    enum output_format format;
    size_t n, column; /* columns; the next cell's */
    uint64_t rows;
    char **names;
    struct libscols_table *table;
    struct libscols_line *line;
    bool *numeric; /* table: no text so far in this column */
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
    if (format == OUTPUT_TABLE) {
        o->table = scols_new_table();
        scols_table_enable_colors(o->table, wants_colour(out));
        for (size_t i = 0; i < n; i++) scols_table_new_column(o->table, columns[i], 0, SCOLS_FL_NOEXTREMES);
    } else if (format == OUTPUT_CSV) {
        for (size_t i = 0; i < n; i++) {
            if (i) fputc(',', out);
            csv_fwrite(out, columns[i], strlen(columns[i]));
        }
        fputc('\n', out);
    } else {
        fputc('[', out);
    }
    return o;
}

/* What stands before a cell, and behind a row. */
static void open_cell(struct output *o)
{
    bool first = o->column == 0;
    if (o->format == OUTPUT_TABLE) {
        if (first) o->line = scols_table_new_line(o->table, NULL);
    } else if (o->format == OUTPUT_CSV) {
        if (!first) fputc(',', o->out);
    } else {
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
        if (s && *s) {
            o->numeric[o->column] = false;
            scols_line_set_data(o->line, o->column, s);
        }
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
    size_t column = o->column;
    output_text(o, s);
    if (o->format != OUTPUT_TABLE || !colour || !wants_colour(o->out)) return;
    scols_cell_set_color(scols_line_get_cell(o->line, column), colour);
}

static void put_number(struct output *o, const char *s)
{
    open_cell(o);
    if (o->format == OUTPUT_TABLE)
        scols_line_set_data(o->line, o->column, s);
    else
        fputs(s, o->out);
    close_cell(o);
}

void output_f64(struct output *o, double v)
{
    char buf[TEXT_NUMBER_MAX];
    if (!isfinite(v))
        output_text(o, NULL);
    else
        put_number(o, o->format == OUTPUT_TABLE ? text_short_number(buf, v) : text_number(buf, v));
}

void output_i64(struct output *o, int64_t v)
{
    char *s = xasprintf("%lld", (long long)v);
    put_number(o, s);
    free(s);
}

bool output_end(struct output *o)
{
    if (o->format == OUTPUT_TABLE) {
        for (size_t i = 0; i < o->n; i++)
            if (o->numeric[i]) scols_column_set_flags(scols_table_get_column(o->table, i), SCOLS_FL_RIGHT);
        scols_table_set_stream(o->table, o->out);
        scols_table_enable_nowrap(o->table, 1);
        scols_table_set_termforce(o->table, SCOLS_TERMFORCE_NEVER);
        if (o->rows) scols_print_table(o->table);
        scols_unref_table(o->table);
    } else if (o->format == OUTPUT_JSON) {
        fputs("\n]\n", o->out);
    }
    bool ok = fflush(o->out) == 0 && !ferror(o->out);
    for (size_t i = 0; i < o->n; i++) free(o->names[i]);
    free(o->names);
    free(o->numeric);
    free(o);
    return ok;
}
