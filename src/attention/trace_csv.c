/* Traces from CSV: the rows are read one by one through libcsv, then sorted. */
#include "attention/half.h"
#include "attention/trace_format.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <csv.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { LAYER, HEAD, WHICH, POSITION, KEYS };
static const char *const keys[KEYS] = {"layer", "head", "which", "position"};

struct row {
    int32_t key[KEYS]; /* which: 0, 1, 2 */
    int line;
    size_t at; /* of its values */
};

struct reader {
    struct srcloc loc; /* of the row being read */
    const char *text;  /* of its line */
    struct diags *diags;
    int bits;
    bool have_header, ended, ok; /* ended: a row, with the last line */
    size_t d, cell;
    struct row row;
    struct row *rows;
    float *values;
    size_t n_rows, rows_capacity, n_values, values_capacity;
    int32_t *layer_ids, *head_ids;
    struct trace_info info; /* of all rows */
};

/* ---- errors with their line ---------------------------------------------------------------------------------------------- */

/* An error at a cell of the row being read. */
static void wrong(struct reader *r, size_t cell, const char *hint, const char *fmt, ...) __attribute__((format(printf, 4, 5)));
static void wrong(struct reader *r, size_t cell, const char *hint, const char *fmt, ...)
{
    if (!r->ok) return; /* the first one says it */
    struct srcloc loc = r->loc;
    loc.column = 1;
    const char *s = r->text;
    for (; *s && cell > 0; s++) {
        cell -= *s == ',';
        loc.column += (*s & 0xC0) != 0x80; /* characters, not bytes */
    }
    struct text lines; /* the line, where a whole file would have it */
    text_init(&lines);
    for (int i = 1; i < loc.line; i++) text_add_bytes(&lines, "\n", 1);
    text_add(&lines, r->text);
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    r->ok = diags_input(r->diags, loc, lines.s, hint, "%s", message);
    free(message);
    text_release(&lines);
}

static char *describe(const int32_t *key)
{
    return xasprintf("layer %ld, head %ld, %c of position %ld", (long)key[LAYER], (long)key[HEAD], trace_matrices[key[WHICH]],
                     (long)key[POSITION]);
}

/* ---- rows ---------------------------------------------------------------------------------------------------------------- */

static void read_key(struct reader *r, const char *s)
{
    int32_t *ret = &r->row.key[r->cell];
    if (r->cell == WHICH) {
        *ret = 0;
        while (*ret < 3 && (s[0] != trace_matrices[*ret] || s[1])) ++*ret;
        if (*ret == 3) wrong(r, r->cell, NULL, "which: \"%s\" is none of q, k, v", s);
        return;
    }
    int64_t v, max = r->cell == POSITION ? TRACE_POSITIONS_MAX - 1 : INT32_MAX;
    if (text_parse_i64(s, &v) && v >= 0 && v <= max)
        *ret = (int32_t)v;
    else
        wrong(r, r->cell, NULL, "%s: \"%s\" is not a whole number from 0 to %lld", keys[r->cell], s, (long long)max);
}

static void read_value(struct reader *r, const char *s)
{
    double v;
    if (!text_parse_f64(s, &v) || !isfinite(v)) {
        wrong(r, r->cell, NULL, "\"%s\" is not a finite number", s);
        return;
    }
    bool fits = fabs(v) <= (double)FLT_MAX && (r->bits == 32 || fabs(v) < 65520);
    if (!fits) {
        wrong(r, r->cell, NULL, "%s is too large for %d bits", s, r->bits);
        return;
    }
    if (r->n_values == r->values_capacity) {
        r->values_capacity = 2 * r->values_capacity + 1024;
        r->values = xrealloc(r->values, r->values_capacity, sizeof *r->values);
    }
    r->values[r->n_values++] = (float)v;
}

static void read_header_cell(struct reader *r, const char *s)
{
    if (r->cell < KEYS && strcmp(s, keys[r->cell]) != 0)
        wrong(r, r->cell, "the header is: layer,head,which,position and a name for each element",
              "the header has \"%s\" for \"%s\"", s, keys[r->cell]);
}

static void on_cell(void *data, size_t size, void *user)
{
    struct reader *r = user;
    const char *s = data ? data : "";
    if (r->ok && strlen(s) != size) wrong(r, r->cell, NULL, "is not text: it has a NUL byte");
    if (r->ok && !r->have_header)
        read_header_cell(r, s);
    else if (r->ok && r->cell < KEYS)
        read_key(r, s);
    else if (r->ok && r->cell < KEYS + r->d)
        read_value(r, s);
    r->cell++;
}

static void end_header(struct reader *r)
{
    r->have_header = true;
    r->d = r->cell < KEYS ? 0 : r->cell - KEYS;
    if (r->d < 1 || r->d > TRACE_DIM_MAX)
        wrong(r, 0, "the header is: layer,head,which,position and a name for each element",
              "the header has %zu columns; %d and 1 to %d elements are needed", r->cell, KEYS, TRACE_DIM_MAX);
}

static void end_row(struct reader *r)
{
    if (r->cell != KEYS + r->d) {
        wrong(r, 0, NULL, "%zu cells in this row; the header has %zu", r->cell, KEYS + r->d);
        return;
    }
    if (r->n_rows == r->rows_capacity) {
        r->rows_capacity = 2 * r->rows_capacity + 64;
        r->rows = xrealloc(r->rows, r->rows_capacity, sizeof *r->rows);
    }
    r->row.line = r->loc.line;
    r->row.at = r->n_rows * r->d;
    r->rows[r->n_rows++] = r->row;
}

static void on_row(int terminator, void *user)
{
    (void)terminator;
    struct reader *r = user;
    if (r->ok && r->cell && !r->have_header)
        end_header(r);
    else if (r->ok && r->cell)
        end_row(r);
    r->cell = 0;
    r->ended = true;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

/* Feed the parser line by line, so that errors know theirs. */
static void read_lines(struct reader *r, FILE *f)
{
    struct csv_parser parser;
    if (csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL | CSV_APPEND_NULL) != 0) out_of_memory(0);
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    while (r->ok && (n = getline(&line, &capacity, f)) >= 0) {
        char *s = line;
        if (++r->loc.line == 1 && strncmp(s, "\xEF\xBB\xBF", 3) == 0) s += 3;
        if (*s == '#') continue;
        size_t length = (size_t)n - (size_t)(s - line);
        r->text = s;
        r->ended = false;
        if (csv_parse(&parser, s, length, on_cell, on_row, r) != length)
            wrong(r, 0, NULL, "is not CSV: %s", csv_strerror(csv_error(&parser)));
        else if (!r->ended && line[n - 1] == '\n')
            wrong(r, 0, NULL, "is not CSV: a quote is not closed in this line");
    }
    if (r->ok && csv_fini(&parser, on_cell, on_row, r) != 0) wrong(r, 0, NULL, "is not CSV: %s", csv_strerror(csv_error(&parser)));
    if (r->ok && ferror(f)) r->ok = diags_input(r->diags, (struct srcloc){r->loc.file, 0, 0}, NULL, NULL, "cannot read the file");
    csv_free(&parser);
    free(line);
    r->text = "";
}

static void read_file(struct reader *r)
{
    struct srcloc loc = {.file = r->loc.file};
    struct stat st;
    FILE *f = stat(loc.file, &st) == 0 ? fopen(loc.file, "rb") : NULL;
    if (!f) {
        r->ok = diags_input(r->diags, loc, NULL, NULL, "cannot read the file: %s", strerror(errno));
        return;
    }
    if (S_ISDIR(st.st_mode))
        r->ok = diags_input(r->diags, loc, NULL, NULL, "is a directory, a file is needed");
    else
        read_lines(r, f);
    fclose(f);
}

/* ---- order --------------------------------------------------------------------------------------------------------------- */

static int compare_rows(const void *a, const void *b)
{
    const struct row *ra = a, *rb = b;
    for (size_t i = 0; i < KEYS; i++)
        if (ra->key[i] != rb->key[i]) return ra->key[i] < rb->key[i] ? -1 : 1;
    return ra->line < rb->line ? -1 : ra->line > rb->line;
}

static int compare_ids(const void *a, const void *b)
{
    int32_t ia, ib;
    memcpy(&ia, a, sizeof ia);
    memcpy(&ib, b, sizeof ib);
    return ia < ib ? -1 : ia > ib;
}

/* The different values of a key, in growing order; the caller frees them. */
static int32_t *distinct(const struct reader *r, size_t key, size_t *ret_n)
{
    int32_t *ids = xcalloc(r->n_rows, sizeof *ids);
    for (size_t i = 0; i < r->n_rows; i++) ids[i] = r->rows[i].key[key];
    qsort(ids, r->n_rows, sizeof *ids, compare_ids);
    *ret_n = 0;
    for (size_t i = 0; i < r->n_rows; i++)
        if (i == 0 || ids[i] != ids[i - 1]) ids[(*ret_n)++] = ids[i];
    return ids;
}

static bool check_twice(const struct reader *r)
{
    for (size_t i = 1; i < r->n_rows; i++) {
        const struct row *a = &r->rows[i - 1], *b = &r->rows[i];
        if (memcmp(a->key, b->key, sizeof a->key) != 0) continue;
        char *what = describe(b->key);
        diags_input(r->diags, (struct srcloc){r->loc.file, b->line, 1}, NULL, NULL, "%s: is in line %d already", what, a->line);
        free(what);
        return false;
    }
    return true;
}

/* Row i of the sorted rows must be number i of all that the shape asks for. */
static bool check_missing(const struct reader *r)
{
    const struct trace_info *t = &r->info;
    size_t total = t->layers * t->heads * 3 * t->n;
    for (size_t i = 0; i < total; i++) {
        size_t matrix = i / t->n, head = matrix / 3;
        int32_t key[KEYS] = {t->layer_ids[head / t->heads], t->head_ids[head % t->heads], (int32_t)(matrix % 3),
                             (int32_t)(i % t->n)};
        if (i < r->n_rows && memcmp(r->rows[i].key, key, sizeof key) == 0) continue;
        const struct row *near = &r->rows[i ? i - 1 : 0];
        char *missing = describe(key), *here = describe(near->key);
        diags_input(r->diags, (struct srcloc){r->loc.file, near->line, 1}, NULL, NULL,
                    "%s: has no row; the nearest is this one of %s", missing, here);
        free(missing);
        free(here);
        return false;
    }
    return true;
}

static bool order(struct reader *r)
{
    struct srcloc loc = {.file = r->loc.file};
    if (!r->rows)
        return diags_input(r->diags, loc, NULL, NULL,
                           r->have_header ? "has no rows below its header" : "is empty: it has no header");
    qsort(r->rows, r->n_rows, sizeof *r->rows, compare_rows);
    r->info.layer_ids = r->layer_ids = distinct(r, LAYER, &r->info.layers);
    r->info.head_ids = r->head_ids = distinct(r, HEAD, &r->info.heads);
    r->info.d = r->d;
    for (size_t i = 0; i < r->n_rows; i++)
        if ((size_t)r->rows[i].key[POSITION] >= r->info.n) r->info.n = (size_t)r->rows[i].key[POSITION] + 1;
    return trace_check(&r->info, loc, r->diags) && check_twice(r) && check_missing(r);
}

/* ---- writing ------------------------------------------------------------------------------------------------------------- */

struct source {
    const struct reader *reader;
    struct trace_picked trace; /* what is picked */
};

static bool pull_csv(void *user, size_t layer, size_t head, struct head *ret, struct diags *diags)
{
    (void)diags;
    const struct source *s = user;
    const struct trace_info *all = &s->reader->info, *t = &s->trace.info;
    size_t from_layer = trace_place(all->layer_ids, all->layers, t->layer_ids[layer]),
           from_head = trace_place(all->head_ids, all->heads, t->head_ids[head]);
    const struct row *rows = s->reader->rows + (from_layer * all->heads + from_head) * 3 * all->n;
    head_init(ret, t->n, t->d);
    float *matrices[3] = {ret->q, ret->k, ret->v};
    for (size_t m = 0; m < 3; m++)
        for (size_t i = 0; i < t->n; i++)
            memcpy(matrices[m] + i * t->d, s->reader->values + rows[m * all->n + i].at, t->d * sizeof(float));
    return true;
}

bool trace_import_csv(const char *from, const struct trace_info *wanted, const struct trace_pick *pick, const char *to,
                      struct diags *diags)
{
    struct reader r = {.loc.file = from, .text = "", .diags = diags, .bits = wanted->bits, .ok = true};
    r.info = (struct trace_info){.model = wanted->model, .source = wanted->source, .bits = wanted->bits};
    struct source s = {.reader = &r};
    read_file(&r);
    bool ok = r.ok && order(&r) && trace_pick_apply(pick, &r.info, &s.trace, (struct srcloc){.file = from}, diags) &&
              trace_write(to, &s.trace.info, pull_csv, &s, diags);
    trace_picked_release(&s.trace);
    free(r.rows);
    free(r.values);
    free(r.layer_ids);
    free(r.head_ids);
    return ok;
}
