#include "command/table_fit.h"

#include "base/wrap.h"
#include "base/xalloc.h"

#include <libsmartcols.h>
#include <stdlib.h>
#include <string.h>

enum {
    TEXT_MIN = 24,  /* a column of text is not made narrower than this for others' sake */
    WORD_MAX = 40,  /* a longer word may be cut */
    LONG_TEXT = 30, /* a column of longer texts may leave the table */
    INDENT = 4,
    HEADING_LINES_MAX = 3,
};

/* A column as it is to be printed. */
struct fitted {
    size_t index;        /* in the table; NUMBERS: the row's number */
    size_t min, natural; /* narrowest and widest that make sense */
    size_t cells;        /* widest cell */
    size_t width;
};
enum { NUMBERS = -1 };

struct fit {
    const struct table *t;
    size_t width;
    bool colour;
    struct fitted *columns; /* in the table */
    size_t n;
    size_t *below; /* columns whose cells stand below the row */
    size_t n_below;
};

static const char *cell_text(const struct table *t, size_t row, size_t column)
{
    const char *s = t->cells[row * t->n_columns + column].text;
    return s ? s : "";
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t lines_of(const char *s)
{
    size_t lines = 1;
    for (; (s = strchr(s, '\n')) != NULL; s++) lines++;
    return lines;
}

static char *wrapped(const char *s, size_t width, const char *breaks)
{
    struct text t;
    text_init(&t);
    wrap_add(&t, s, most(width, 1), 0, 0, breaks);
    return text_detach(&t);
}

/* The least width at which a heading has at most so many lines. */
static size_t heading_width(const char *heading, size_t lines)
{
    for (size_t width = wrap_longest(heading, "_");; width++) {
        char *s = wrapped(heading, width, "_");
        bool fits = lines_of(s) <= lines;
        free(s);
        if (fits) return width;
    }
}

static struct fitted measure(const struct table *t, size_t column, size_t width, size_t heading_lines)
{
    struct fitted f = {.index = column};
    size_t word = 0;
    for (size_t row = 0; row < t->n_rows; row++) {
        const char *s = cell_text(t, row, column);
        f.cells = most(f.cells, wrap_width(s));
        word = most(word, wrap_longest(s, NULL));
    }
    const char *heading = t->columns[column].heading;
    size_t broken = heading_width(heading, heading_lines);
    f.natural = most(f.cells, wrap_width(heading));
    f.min = t->columns[column].numeric
                ? most(f.cells, broken)
                : most(broken, most(least(word, least(WORD_MAX, width / 2)), least(f.cells, least(TEXT_MIN, width / 2))));
    return f;
}

static struct fitted measure_numbers(const struct table *t)
{
    char last[32];
    size_t n = (size_t)snprintf(last, sizeof last, "%zu", t->n_rows);
    return (struct fitted){.index = (size_t)NUMBERS, .min = n, .natural = n, .cells = n, .width = n};
}

/* ---- widths -------------------------------------------------------------------------------------------------------------- */

static size_t sum_of_min(const struct fit *f)
{
    size_t sum = f->n ? f->n - 1 : 0;
    for (size_t i = 0; i < f->n; i++) sum += f->columns[i].min;
    return sum;
}

/* Give what is left of the width away: first to the texts, up to one level for all of them, then to headings. */
static void share_width(struct fit *f)
{
    size_t left = f->width - least(f->width, sum_of_min(f));
    for (size_t i = 0; i < f->n; i++) f->columns[i].width = f->columns[i].min;
    for (int headings = 0; headings < 2; headings++) {
        for (bool grown = true; grown && left > 0;) {
            size_t lowest = SIZE_MAX;
            grown = false;
            for (size_t i = 0; i < f->n; i++) {
                const struct fitted *c = &f->columns[i];
                if (c->width < (headings ? c->natural : c->cells)) lowest = least(lowest, c->width);
            }
            for (size_t i = 0; i < f->n && left > 0; i++) {
                struct fitted *c = &f->columns[i];
                if (c->width >= (headings ? c->natural : c->cells) || c->width != lowest) continue;
                c->width++;
                left--;
                grown = true;
            }
        }
    }
}

static bool is_long(const struct fit *f, size_t i)
{
    return f->columns[i].cells > LONG_TEXT && !f->t->columns[f->columns[i].index].numeric;
}

static void move_column_below(struct fit *f, size_t i)
{
    memmove(f->below + 1, f->below, f->n_below++ * sizeof *f->below);
    f->below[0] = f->columns[i].index;
    memmove(f->columns + i, f->columns + i + 1, (--f->n - i) * sizeof *f->columns);
}

/* The first of the last columns that can be left out so that the others have room. All of them are texts, and one is long. f->n
 * when there are none. */
static size_t tail_to_move(const struct fit *f)
{
    struct fit rest = *f;
    bool some = false;
    while (rest.n > 1 && sum_of_min(&rest) > f->width && !f->t->columns[rest.columns[rest.n - 1].index].numeric)
        some |= is_long(f, --rest.n);
    return some && sum_of_min(&rest) <= f->width ? rest.n : f->n;
}

/* Move columns of long texts below the rows, until the rest has room: all at the end of the table, or else the last long ones. */
static void move_below(struct fit *f)
{
    for (size_t from = tail_to_move(f); f->n > from;) move_column_below(f, f->n - 1);
    for (size_t i = f->n; i-- > 1 && sum_of_min(f) > f->width;)
        if (is_long(f, i)) move_column_below(f, i);
}

/* ---- printing ------------------------------------------------------------------------------------------------------------ */

/* The lines of a heading over numbers end where those do. */
static void align_right(char **s, size_t width)
{
    struct text t;
    text_init(&t);
    for (char *rest, *line = strtok_r(*s, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
        text_addf(&t, "%s%*s", t.n ? "\n" : "", (int)width, line);
    free(*s);
    *s = text_detach(&t);
}

/* A cell, or with row = SIZE_MAX a heading. Returns the lines it takes. */
static size_t set_cell(const struct fit *f, struct libscols_line *line, size_t column, size_t row)
{
    const struct fitted *c = &f->columns[column];
    char number[32];
    const char *s = number;
    snprintf(number, sizeof number, "%zu", row + 1);
    bool is_heading = row == SIZE_MAX, is_number = c->index == (size_t)NUMBERS;
    if (is_number && is_heading) *number = '\0';
    if (!is_number) s = is_heading ? f->t->columns[c->index].heading : cell_text(f->t, row, c->index);
    char *cut = f->width ? wrapped(s, c->width, is_heading ? "_" : NULL) : xstrdup(s);
    size_t lines = f->width ? lines_of(cut) : 1;
    if (lines > 1 && is_heading && f->t->columns[c->index].numeric) align_right(&cut, c->width);
    scols_line_set_data(line, column, cut);
    free(cut);
    const char *colour = is_heading || is_number ? NULL : f->t->cells[row * f->t->n_columns + c->index].colour;
    if (colour && f->colour) scols_cell_set_color(scols_line_get_cell(line, column), colour);
    return lines;
}

static size_t add_line(const struct fit *f, struct libscols_table *table, size_t row)
{
    struct libscols_line *line = scols_table_new_line(table, NULL);
    size_t lines = 1;
    for (size_t i = 0; i < f->n; i++) lines = most(lines, set_cell(f, line, i, row));
    return lines;
}

static struct libscols_table *new_table(const struct fit *f)
{
    struct libscols_table *table = scols_new_table();
    scols_table_enable_noheadings(table, 1);
    scols_table_enable_colors(table, f->colour);
    for (size_t i = 0; i < f->n; i++) {
        const struct fitted *c = &f->columns[i];
        bool right = c->index == (size_t)NUMBERS || f->t->columns[c->index].numeric;
        int flags = SCOLS_FL_NOEXTREMES | (right ? SCOLS_FL_RIGHT : 0) | (f->width ? SCOLS_FL_WRAP : 0);
        struct libscols_column *column = scols_table_new_column(table, "", 0, flags);
        if (!f->width) continue;
        scols_column_set_wrapfunc(column, scols_wrapnl_chunksize, scols_wrapnl_nextchunk, NULL);
        scols_column_set_safechars(column, "\n");
    }
    if (f->width) scols_table_set_termwidth(table, f->width);
    if (!f->width) scols_table_enable_nowrap(table, 1);
    scols_table_set_termforce(table, f->width ? SCOLS_TERMFORCE_ALWAYS : SCOLS_TERMFORCE_NEVER);
    return table;
}

/* What stands below a row, or below the headings: the texts that have left the table, with a semicolon between them. */
static void print_below(const struct fit *f, FILE *out, size_t row)
{
    struct text said, lines;
    text_init(&said);
    text_init(&lines);
    for (size_t i = 0; i < f->n_below; i++) {
        const char *s = row == SIZE_MAX ? f->t->columns[f->below[i]].heading : cell_text(f->t, row, f->below[i]);
        text_addf(&said, "%s%s", said.n && *s ? "; " : "", s);
    }
    for (char *p = said.s; said.n && *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = ' ';
    text_addf(&lines, "%*s", INDENT, "");
    wrap_add(&lines, said.s, f->width, INDENT, INDENT, NULL);
    if (said.n) fprintf(out, "%s\n", lines.s);
    text_release(&said);
    text_release(&lines);
}

/* Copy so many lines of s. Returns what is behind them. */
static const char *print_lines(FILE *out, const char *s, size_t lines)
{
    const char *end = s;
    for (; lines > 0 && *end; lines--) {
        end += strcspn(end, "\n");
        end += *end == '\n';
    }
    fwrite(s, 1, (size_t)(end - s), out);
    if (end > s && end[-1] != '\n') fputc('\n', out);
    return end;
}

static void print_grid(const struct fit *f, FILE *out)
{
    struct libscols_table *table = new_table(f);
    size_t *lines = xcalloc(f->t->n_rows + 1, sizeof *lines);
    for (size_t row = 0; row <= f->t->n_rows; row++) lines[row] = add_line(f, table, row - 1);
    if (f->n_below == 0) {
        scols_table_set_stream(table, out);
        scols_print_table(table);
    } else {
        char *all = NULL;
        scols_print_table_to_string(table, &all);
        const char *p = all;
        for (size_t row = 0; all && row <= f->t->n_rows; row++) {
            p = print_lines(out, p, lines[row]);
            print_below(f, out, row - 1);
        }
        free(all);
    }
    free(lines);
    scols_unref_table(table);
}

/* ---- several tables ------------------------------------------------------------------------------------------------------ */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool tells_rows_apart(const struct table *t, size_t column)
{
    const char **s = xcalloc(t->n_rows, sizeof *s);
    for (size_t row = 0; row < t->n_rows; row++) s[row] = cell_text(t, row, column);
    qsort(s, t->n_rows, sizeof *s, by_text);
    bool all = true;
    for (size_t row = 0; row < t->n_rows; row++) all = all && *s[row] && (row == 0 || strcmp(s[row - 1], s[row]) != 0);
    free(s);
    return all;
}

static void print_pieces(const struct fit *f, FILE *out)
{
    bool keyed = tells_rows_apart(f->t, 0);
    struct fit part = *f;
    part.columns = xcalloc(f->n + 1, sizeof *part.columns);
    for (size_t i = keyed ? 1 : 0, pieces = 0; i < f->n; pieces++) {
        part.n = 0;
        part.columns[part.n++] = keyed ? f->columns[0] : measure_numbers(f->t);
        do part.columns[part.n++] = f->columns[i++];
        while (i < f->n && sum_of_min(&part) + 1 + f->columns[i].min <= f->width);
        if (pieces) fputc('\n', out);
        share_width(&part);
        print_grid(&part, out);
    }
    free(part.columns);
}

static void measure_all(struct fit *f, size_t heading_lines)
{
    f->n = f->t->n_columns;
    f->n_below = 0;
    for (size_t i = 0; i < f->n; i++) f->columns[i] = measure(f->t, i, f->width, heading_lines);
}

/* Does the table have room in one piece, whatever it takes? */
static bool make_room(struct fit *f)
{
    for (size_t heading_lines = 1; heading_lines <= HEADING_LINES_MAX; heading_lines++) {
        measure_all(f, heading_lines);
        if (!f->width || sum_of_min(f) <= f->width) return true;
    }
    measure_all(f, 2);
    move_below(f);
    if (sum_of_min(f) <= f->width) return true;
    measure_all(f, 2);
    return false;
}

void table_print(FILE *out, const struct table *t, size_t width, bool colour)
{
    if (t->n_rows == 0 || t->n_columns == 0) return;
    struct fit f = {.t = t, .width = width, .colour = colour};
    f.columns = xcalloc(t->n_columns, sizeof *f.columns);
    f.below = xcalloc(t->n_columns, sizeof *f.below);
    if (make_room(&f)) {
        share_width(&f);
        print_grid(&f, out);
    } else {
        print_pieces(&f, out);
    }
    free(f.columns);
    free(f.below);
}
