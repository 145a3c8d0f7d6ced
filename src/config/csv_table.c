#include "config/csv_table.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <csv.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 20, RAGGED_MAX = 10 };

/* What the callbacks of libcsv build up. */
struct reader {
    struct csv_table *table;
    size_t required; /* columns that a header cannot go without */
    struct diags *diags;
    char **cells; /* of the row being read; grown as needed, and kept for the next */
    size_t n_cells, capacity;
    char *free_text; /* where the next cell's text goes */
    int line;        /* of the row being read */
    bool have_header, ok;
    bool is_other; /* it is another table, by its header or by many rows: no more rows are looked at */
    size_t n_ragged;
};

/* All that cells say has room in one block as large as the file: a byte ends each in the file, as NUL does there. */
static void on_cell(void *data, size_t size, void *user)
{
    struct reader *r = user;
    if (r->n_cells == r->capacity) {
        r->capacity = r->capacity ? 2 * r->capacity : 16;
        r->cells = xrealloc(r->cells, r->capacity, sizeof *r->cells);
    }
    r->cells[r->n_cells++] = r->free_text;
    if (data) memcpy(r->free_text, data, size);
    r->free_text[data ? size : 0] = '\0';
    r->free_text += data ? size + 1 : 1;
}

/* The cells of the row being read, as a list of their own. */
static char **keep_cells(const struct reader *r)
{
    char **ret = xcalloc(r->n_cells, sizeof *ret);
    memcpy(ret, r->cells, r->n_cells * sizeof *ret);
    return ret;
}

static void check_header(struct reader *r)
{
    struct csv_table *t = r->table;
    bool same = t->columns && r->n_cells >= r->required && r->n_cells <= t->n_columns;
    for (size_t i = 0; same && i < r->n_cells; i++) same = strcmp(r->cells[i], t->columns[i]) == 0;
    r->have_header = true;
    t->header_line = r->line;
    if (!t->columns) { /* whatever it has */
        t->own_columns = keep_cells(r);
        t->n_columns = r->n_cells;
        t->columns = (const char *const *)t->own_columns;
        return;
    }
    if (same) {
        t->n_columns = r->n_cells;
        return;
    }
    struct text wanted;
    text_init(&wanted);
    for (size_t i = 0; i < t->n_columns; i++)
        text_addf(&wanted, "%s%s", i == 0 ? "the header is: " : i == r->required ? "; optional: " : ",", t->columns[i]);
    r->ok = diags_input(r->diags, csv_table_header_loc(t), t->text, wanted.s, "the header is not that of such a table");
    r->is_other = true;
    text_release(&wanted);
}

static void on_row(int terminator, void *user)
{
    struct reader *r = user;
    struct csv_table *t = r->table;
    int newlines = terminator == '\n'; /* of \r\n, both are reported; a quoted cell may hold more */
    for (size_t i = 0; i < r->n_cells; i++)
        for (const char *s = r->cells[i]; (s = strchr(s, '\n')) != NULL; s++) newlines++;
    if (r->n_cells == 0 || r->is_other) { /* an empty line, or a comment */
    } else if (!r->have_header) {
        check_header(r);
    } else if (r->n_cells != t->n_columns) {
        r->ok = diags_input(r->diags, (struct srcloc){t->file, r->line, 1}, t->text, NULL,
                            "%zu cells in this row; the header has %zu", r->n_cells, t->n_columns);
        r->is_other = ++r->n_ragged == RAGGED_MAX;
    } else {
        if ((t->n_rows & (t->n_rows - 1)) == 0) t->rows = xrealloc(t->rows, t->n_rows ? 2 * t->n_rows : 1, sizeof *t->rows);
        t->rows[t->n_rows++] = (struct csv_row){.line = r->line, .cells = keep_cells(r)};
    }
    r->n_cells = 0;
    r->line += newlines;
}

/* Where the settings begin in a comment of n bytes, if it has some; 0: it has none. */
static size_t settings_at(const char *s, size_t n)
{
    static const char plain[] = "# settings:", written[] = "# written by dse profile ";
    if (n >= sizeof plain - 1 && memcmp(s, plain, sizeof plain - 1) == 0) return sizeof plain - 1;
    if (n < sizeof written - 1 || memcmp(s, written, sizeof written - 1) != 0) return 0;
    const char *colon = memchr(s, ':', n);
    return colon ? (size_t)(colon - s) + 1 : 0;
}

static void take_settings(struct csv_table *t, const char *s, size_t n, int line)
{
    size_t at = settings_at(s, n);
    if (at == 0 || t->settings) return;
    while (at < n && s[at] == ' ') at++;
    t->settings = xstrndup(s + at, n - at);
    t->settings_loc.line = line;
    t->settings_loc.column = (int)at + 1;
}

static void take_rule(struct csv_table *t, const char *s, size_t n, int line)
{
    static const char key[] = "# rule: ";
    if (n < sizeof key - 1 || memcmp(s, key, sizeof key - 1) != 0) return;
    t->rules = xrealloc(t->rules, t->n_rules + 1, sizeof *t->rules);
    t->rules[t->n_rules++] = (struct csv_rule){line, xstrndup(s + sizeof key - 1, n - (sizeof key - 1))};
}

/* Empty the comment lines in place, so that lines keep their numbers; join what they say of the source. */
static char *take_comments(struct csv_table *t, char *text)
{
    static const char key[] = "# source:";
    struct text source;
    text_init(&source);
    char *out = text;
    bool quoted = false; /* a line of a cell that has several is no comment */
    int line = 1;
    for (char *s = text; *s; line++) {
        size_t n = strcspn(s, "\n"), said = strcspn(s, "\r\n");
        bool comment = *s == '#' && !quoted;
        if (comment && said >= sizeof key - 1 && memcmp(s, key, sizeof key - 1) == 0) {
            size_t skip = sizeof key - 1 + strspn(s + sizeof key - 1, " ");
            if (source.n) text_add(&source, " ");
            text_add_bytes(&source, s + skip, said - skip);
        }
        if (comment) take_settings(t, s, said, line);
        if (comment) take_rule(t, s, said, line);
        bool newline = s[n] == '\n';
        for (size_t i = 0; i < n && !comment; i++) quoted ^= s[i] == '"';
        if (!comment) {
            memmove(out, s, n);
            out += n;
        }
        if (newline) *out++ = '\n';
        s += n + newline;
    }
    *out = '\0';
    return text_detach(&source);
}

/* What separates the cells of the first line that is not empty. */
static char separator_of(const char *s)
{
    size_t commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false;
    s += strspn(s, "\r\n");
    for (; *s && (quoted || *s != '\n'); s++) {
        if (*s == '"') quoted = !quoted;
        if (quoted) continue;
        commas += *s == ',';
        semicolons += *s == ';';
        tabs += *s == '\t';
    }
    return commas ? ',' : semicolons ? ';' : tabs ? '\t' : ',';
}

/* The place of a byte of the text. */
static struct srcloc place_of(const struct csv_table *t, size_t offset)
{
    struct srcloc loc = {t->file, 1, 1};
    for (const char *s = t->text; s < t->text + offset; s++) {
        loc.column += (*s & 0xC0) != 0x80; /* characters, not bytes */
        if (*s == '\n') loc = (struct srcloc){t->file, loc.line + 1, 1};
    }
    return loc;
}

/* Where the lines of the rows begin, for messages about many of them. */
static void find_rows(struct csv_table *t)
{
    const char *s = t->text;
    int line = 1;
    for (size_t i = 0; i < t->n_rows; i++) {
        for (; line < t->rows[i].line && *s; s++) line += *s == '\n';
        t->rows[i].at = (size_t)(s - t->text);
    }
}

static bool parse(struct reader *r)
{
    const struct csv_table *t = r->table;
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL) != 0) out_of_memory(0);
    csv_set_delim(&parser, (unsigned char)t->separator);
    size_t length = strlen(t->text), done = csv_parse(&parser, t->text, length, on_cell, on_row, r);
    struct srcloc loc =
        done < length ? place_of(t, done) : (struct srcloc){t->file, r->line, 1}; /* a row that does not end, at its begin */
    if (r->ok && (done < length || csv_fini(&parser, on_cell, on_row, r) != 0))
        r->ok = diags_input(r->diags, loc, t->text, NULL, "is not CSV: %s",
                            csv_error(&parser) != CSV_EPARSE ? csv_strerror(csv_error(&parser))
                            : done < length                  ? "a quote in the middle of a cell"
                                                             : "a quote that is not closed");
    csv_free(&parser);
    find_rows(r->table);
    if (!r->ok || r->have_header) return r->ok;
    return diags_input(r->diags, (struct srcloc){t->file, 1, 1}, NULL, NULL, "is empty: it has no header");
}

bool csv_table_read(struct csv_table *t, const char *path, const char *const *columns, size_t n, struct diags *diags)
{
    return csv_table_read_some(t, path, columns, n, n, diags);
}

/* Of a table whose text is there, `size` bytes. */
static bool read_table(struct csv_table *t, size_t required, size_t size, struct diags *diags)
{
    char *text = t->text;
    struct reader r = {.table = t, .required = required, .diags = diags, .line = 1, .ok = true};
    if (strlen(text) != size) r.ok = diags_input(diags, place_of(t, strlen(text)), NULL, NULL, "is not text: it has a NUL byte");
    static const char bom[] = "\xEF\xBB\xBF";
    if (strncmp(text, bom, 3) == 0) memmove(text, text + 3, strlen(text + 3) + 1);
    t->settings_loc.file = t->file;
    t->source = take_comments(t, text);
    t->separator = separator_of(text);
    t->cell_text = r.free_text = xcalloc(size + 2, 1);
    r.ok = r.ok && parse(&r);
    free(r.cells);
    return r.ok;
}

bool csv_table_read_some(struct csv_table *t, const char *path, const char *const *columns, size_t required, size_t n,
                         struct diags *diags)
{
    *t = (struct csv_table){.file = xstrdup(path), .columns = columns, .n_columns = n};
    size_t size;
    return text_read_file(path, FILE_MAX, &t->text, &size, diags) && read_table(t, required, size, diags);
}

bool csv_table_read_text(struct csv_table *t, const char *name, const char *text, const char *const *columns, size_t n,
                         struct diags *diags)
{
    *t = (struct csv_table){.file = xstrdup(name), .text = xstrdup(text), .columns = columns, .n_columns = n};
    return read_table(t, n, strlen(text), diags);
}

bool csv_table_read_any(struct csv_table *t, const char *path, struct diags *diags)
{
    return csv_table_read_some(t, path, NULL, 0, 0, diags);
}

char *csv_table_read_source(const char *path, struct diags *diags)
{
    struct csv_table t = {.file = xstrdup(path)};
    size_t size, head = 0;
    char *source = NULL;
    if (text_read_file(path, FILE_MAX, &t.text, &size, diags)) {
        while (t.text[head] == '#') {
            head += strcspn(t.text + head, "\n");
            head += t.text[head] == '\n';
        }
        t.text[head] = '\0';
        source = take_comments(&t, t.text);
    }
    csv_table_release(&t);
    return source;
}

bool csv_table_read_any_text(struct csv_table *t, const char *name, const char *text, struct diags *diags)
{
    return csv_table_read_text(t, name, text, NULL, 0, diags);
}

bool csv_table_check_names(const struct csv_table *t, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < t->n_columns && ok; i++) {
        for (size_t k = 0; k < i && ok; k++)
            if (strcmp(t->columns[i], t->columns[k]) == 0)
                ok = diags_input(diags, csv_table_header_loc(t), t->text, NULL, "column %s stands twice in the header",
                                 t->columns[i]);
        if (!*t->columns[i]) ok = diags_input(diags, csv_table_header_loc(t), t->text, NULL, "column %zu has no name", i + 1);
    }
    return ok;
}

void csv_table_release(struct csv_table *t)
{
    for (size_t i = 0; i < t->n_rows; i++) free(t->rows[i].cells);
    free(t->rows);
    free(t->own_columns);
    free(t->cell_text);
    free(t->file);
    free(t->text);
    free(t->source);
    free(t->settings);
    for (size_t i = 0; i < t->n_rules; i++) free(t->rules[i].text);
    free(t->rules);
    *t = (struct csv_table){0};
}

struct srcloc csv_table_header_loc(const struct csv_table *t)
{
    return (struct srcloc){t->file, t->header_line, 1};
}

struct srcloc csv_table_loc(const struct csv_table *t, size_t row)
{
    return (struct srcloc){t->file, t->rows[row].line, 1};
}

struct srcloc csv_table_cell_loc(const struct csv_table *t, size_t row, size_t column)
{
    struct srcloc loc = csv_table_loc(t, row);
    const char *s = t->text + t->rows[row].at;
    bool quoted = false;
    for (; *s && column > 0; s++) {
        if (*s == '"') quoted = !quoted;
        column -= *s == t->separator && !quoted;
        loc.column += (*s & 0xC0) != 0x80; /* characters, not bytes */
        if (*s == '\n') loc = (struct srcloc){t->file, loc.line + 1, 1};
    }
    return loc;
}

bool csv_table_number(const struct csv_table *t, size_t row, size_t column, bool may_be_empty, double *ret, struct diags *diags)
{
    const char *s = t->rows[row].cells[column];
    if (!*s && may_be_empty) {
        *ret = (double)NAN;
        return true;
    }
    if (text_parse_f64(s, ret) && isfinite(*ret)) return true;
    return diags_input(diags, csv_table_cell_loc(t, row, column), t->text,
                       strchr(s, ',') ? "numbers have a decimal point, and nothing between thousands" : NULL,
                       "%s: \"%s\" is not a finite number", t->columns[column], s);
}

bool csv_table_quantity(const struct csv_table *t, size_t row, size_t column, bool may_be_empty, struct csv_range range,
                        double *ret, struct diags *diags)
{
    char v[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
    if (!csv_table_number(t, row, column, may_be_empty, ret, diags)) return false;
    if (isnan(*ret) || (*ret >= range.least && *ret <= range.most)) return true;
    const bool below = *ret < range.least;
    return diags_input(diags, csv_table_cell_loc(t, row, column), t->text, NULL, "%s: %s is %s %s", t->columns[column],
                       text_number(v, *ret), below ? "below the minimum" : "above the maximum",
                       text_number(limit, below ? range.least : range.most));
}

bool csv_table_check_rows(const struct csv_table *t, size_t most, struct diags *diags)
{
    char rows[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
    if (t->n_rows <= most) return true;
    return diags_input(diags, csv_table_loc(t, most), t->text, NULL, "the table has %s rows; at most %s",
                       text_count(rows, t->n_rows), text_count(limit, most));
}
