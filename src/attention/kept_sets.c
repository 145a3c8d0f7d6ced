#include "attention/kept_sets.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LAYER, HEAD, STEP, KEPT, COLUMNS };
static const char header[] = "layer,head,step,kept";

/* A row of the file. Layers and heads are counted within the trace. */
struct row {
    uint32_t layer, head, step;
    int line, column; /* of the step */
    size_t ranges, n; /* in the list of all */
};

struct kept_sets {
    const struct trace_info *info; /* while reading */
    int32_t *layer_ids;
    size_t layers, heads;
    struct row *rows; /* by layer, head, step */
    size_t n_rows, rows_capacity;
    struct kept_range *ranges;
    size_t n_ranges, ranges_capacity;
    uint32_t *steps;
    size_t n_steps;
};

struct reader {
    struct kept_sets *k;
    struct srcloc loc; /* of the line */
    const char *line;
    struct diags *diags;
};

/* ---- errors with their place --------------------------------------------------------------------------------------------- */

/* An error at a byte of the line being read. False. */
static bool wrong(const struct reader *r, const char *at, const char *hint, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
static bool wrong(const struct reader *r, const char *at, const char *hint, const char *fmt, ...)
{
    struct srcloc loc = r->loc;
    loc.column = 1;
    for (const char *s = r->line; s < at; s++) loc.column += (*s & 0xC0) != 0x80; /* characters, not bytes */
    struct text lines;                                                            /* the line, where a whole file would have it */
    text_init(&lines);
    for (int i = 1; i < loc.line; i++) text_add_bytes(&lines, "\n", 1);
    text_add(&lines, r->line);
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    diags_input(r->diags, loc, lines.s, hint, "%s", message);
    free(message);
    text_release(&lines);
    return false;
}

/* ---- a row --------------------------------------------------------------------------------------------------------------- */

/* Read a whole number up to a separator: *s goes behind its digits. */
static bool read_number(const struct reader *r, const char **s, const char *what, uint32_t *ret)
{
    const char *from = *s;
    uint64_t v = 0;
    while (**s >= '0' && **s <= '9' && v <= UINT32_MAX) v = 10 * v + (uint64_t)(*(*s)++ - '0');
    if (*s == from || v > UINT32_MAX) {
        size_t n = strcspn(from, ", \n");
        return wrong(r, from, NULL, "%s: \"%.*s\" is not a whole number", what, n > 40 ? 40 : (int)n, from);
    }
    *ret = (uint32_t)v;
    return true;
}

/* Read a number that must be one of the ids: its place among them. */
static bool read_id(const struct reader *r, const char **s, const char *what, const int32_t *ids, size_t n, uint32_t *ret)
{
    const char *from = *s;
    uint32_t id = 0;
    if (!read_number(r, s, what, &id)) return false;
    for (*ret = 0; *ret < n; ++*ret)
        if (ids[*ret] >= 0 && (uint32_t)ids[*ret] == id) return true;
    struct text all;
    text_init(&all);
    for (size_t i = 0; i < n; i++) text_addf(&all, "%s%ld", i ? ", " : "it has ", (long)ids[i]);
    wrong(r, from, all.s, "%s: the trace has no %s %lu", what, what, (unsigned long)id);
    text_release(&all);
    return false;
}

static int compare_steps(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static bool read_step(const struct reader *r, const char **s, uint32_t *ret)
{
    const struct trace_info *info = r->k->info;
    const char *from = *s;
    if (!read_number(r, s, "step", ret)) return false;
    if (*ret >= info->n) return wrong(r, from, NULL, "step: %lu is beyond the trace's last, %zu", (unsigned long)*ret, info->n - 1);
    int32_t step = (int32_t)*ret;
    if (info->steps && !bsearch(&step, info->steps, info->n_steps, sizeof step, compare_steps))
        return wrong(r, from, NULL, "step: the trace has no query of step %ld", (long)step);
    return true;
}

static void add_range(struct kept_sets *k, struct kept_range range)
{
    if (k->n_ranges == k->ranges_capacity) {
        k->ranges_capacity = 2 * k->ranges_capacity + 64;
        k->ranges = xrealloc(k->ranges, k->ranges_capacity, sizeof *k->ranges);
    }
    k->ranges[k->n_ranges++] = range;
}

/* "17" or "20-40" */
static bool read_range(const struct reader *r, const char **s, const struct row *row)
{
    const char *from = *s;
    struct kept_range range = {0};
    if (!read_number(r, s, "kept", &range.first)) return false;
    range.last = range.first;
    if (**s == '-') {
        ++*s;
        if (!read_number(r, s, "kept", &range.last)) return false;
    }
    if (**s && **s != ' ') return wrong(r, *s, "positions and ranges, as 0-3 17 20-40", "kept: \"%.1s\" is no part of a range", *s);
    if (range.last < range.first)
        return wrong(r, from, NULL, "kept: the range %lu-%lu ends before it begins", (unsigned long)range.first,
                     (unsigned long)range.last);
    if (range.last > row->step)
        return wrong(r, from, NULL, "kept: position %lu is of the future of step %lu", (unsigned long)range.last,
                     (unsigned long)row->step);
    if (row->n && range.first <= r->k->ranges[r->k->n_ranges - 1].last)
        return wrong(r, from, NULL, "kept: position %lu is not behind the one before it, %lu; they must grow",
                     (unsigned long)range.first, (unsigned long)r->k->ranges[r->k->n_ranges - 1].last);
    add_range(r->k, range);
    return true;
}

static bool read_kept(const struct reader *r, const char *s, struct row *row)
{
    const char *from = s;
    for (s += strspn(s, " "); *s; s += strspn(s, " ")) {
        if (!read_range(r, &s, row)) return false;
        row->n++;
    }
    return row->n || wrong(r, from, NULL, "kept: nothing; a step reads at least one position");
}

static bool skip_comma(const struct reader *r, const char **s)
{
    if (**s != ',') return wrong(r, *s, "the columns are: layer,head,step,kept", "a comma is missing here");
    ++*s;
    return true;
}

static bool read_row(const struct reader *r)
{
    struct kept_sets *k = r->k;
    struct row row = {.line = r->loc.line, .ranges = k->n_ranges};
    const char *s = r->line;
    if (!read_id(r, &s, "layer", k->info->layer_ids, k->layers, &row.layer) || !skip_comma(r, &s)) return false;
    if (!read_id(r, &s, "head", k->info->head_ids, k->heads, &row.head) || !skip_comma(r, &s)) return false;
    row.column = (int)(s - r->line) + 1;
    if (!read_step(r, &s, &row.step) || !skip_comma(r, &s) || !read_kept(r, s, &row)) return false;
    if (k->n_rows == k->rows_capacity) {
        k->rows_capacity = 2 * k->rows_capacity + 64;
        k->rows = xrealloc(k->rows, k->rows_capacity, sizeof *k->rows);
    }
    k->rows[k->n_rows++] = row;
    return true;
}

/* ---- all rows ------------------------------------------------------------------------------------------------------------ */

static int compare_rows(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->layer != y->layer) return x->layer < y->layer ? -1 : 1;
    if (x->head != y->head) return x->head < y->head ? -1 : 1;
    if (x->step != y->step) return x->step < y->step ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static bool fault(const struct reader *r, const struct row *row, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static bool fault(const struct reader *r, const struct row *row, const char *fmt, ...)
{
    struct srcloc loc = {r->loc.file, row ? row->line : 0, row ? row->column : 0};
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    diags_input(r->diags, loc, NULL, NULL, "%s", message);
    free(message);
    return false;
}

/* The name of a head: the model's numbers. */
static char *name_of(const struct kept_sets *k, size_t layer, size_t head)
{
    return xasprintf("layer %ld, head %ld", (long)k->info->layer_ids[layer], (long)k->info->head_ids[head]);
}

static bool is_of(const struct kept_sets *k, size_t at, size_t head)
{
    return at < k->n_rows && k->rows[at].layer == head / k->heads && k->rows[at].head == head % k->heads;
}

/* The rows of a head, from *at on: it must have the steps of the first head in the list, no more and no less. */
static bool check_head(const struct reader *r, size_t head, size_t *at)
{
    const struct kept_sets *k = r->k;
    const struct row *first = k->rows, *extra = NULL, *missing = NULL;
    size_t i = 0;
    for (; !extra && !missing && (i < k->n_steps || is_of(k, *at, head)); i++, ++*at) {
        const struct row *row = is_of(k, *at, head) ? &k->rows[*at] : NULL;
        if (i < k->n_steps && (!row || row->step > first[i].step))
            missing = &first[i];
        else if (i == k->n_steps || row->step < first[i].step)
            extra = row;
    }
    if (!extra && !missing) return true;
    char *name = name_of(k, head / k->heads, head % k->heads), *other = name_of(k, first->layer, first->head);
    if (missing) fault(r, missing, "%s has no step %lu, which %s has", name, (unsigned long)missing->step, other);
    if (extra) fault(r, extra, "%s has no step %lu, which %s has", other, (unsigned long)extra->step, name);
    free(name);
    free(other);
    return false;
}

static bool check_twice(const struct reader *r)
{
    const struct kept_sets *k = r->k;
    for (size_t i = 1; i < k->n_rows; i++) {
        const struct row *row = &k->rows[i];
        if (row->layer != row[-1].layer || row->head != row[-1].head || row->step != row[-1].step) continue;
        char *name = name_of(k, row->layer, row->head);
        fault(r, row, "%s: step %lu stands there twice, first in line %d", name, (unsigned long)row->step, row[-1].line);
        free(name);
        return false;
    }
    return true;
}

/* Sort the rows; every head must have the steps of the first, each once. */
static bool arrange(const struct reader *r)
{
    struct kept_sets *k = r->k;
    if (k->n_rows == 0) return fault(r, NULL, "has no rows");
    qsort(k->rows, k->n_rows, sizeof *k->rows, compare_rows);
    if (!check_twice(r)) return false;
    while (is_of(k, k->n_steps, k->rows->layer * k->heads + k->rows->head)) k->n_steps++;
    for (size_t head = 0, at = 0; head < k->layers * k->heads; head++)
        if (!check_head(r, head, &at)) return false;
    k->steps = xcalloc(k->n_steps, sizeof *k->steps);
    for (size_t i = 0; i < k->n_steps; i++) k->steps[i] = k->rows[i].step;
    return true;
}

/* ---- the file ------------------------------------------------------------------------------------------------------------ */

static bool read_lines(struct reader *r, FILE *f)
{
    char *line = NULL;
    size_t capacity = 0;
    ssize_t n;
    bool ok = true, have_header = false;
    while (ok && (n = getline(&line, &capacity, f)) >= 0) {
        bool bom = ++r->loc.line == 1 && strncmp(line, "\xEF\xBB\xBF", 3) == 0;
        bool nul = strlen(line) != (size_t)n;
        line[strcspn(line, "\r\n")] = 0;
        r->line = line + (bom ? 3 : 0);
        if (nul)
            ok = wrong(r, r->line, NULL, "is not text: it has a NUL byte");
        else if (*r->line == '#' || !*r->line)
            continue;
        else if (have_header)
            ok = read_row(r);
        else if (!(have_header = strcmp(r->line, header) == 0))
            ok = wrong(r, r->line, NULL, "the header is not %s", header);
    }
    free(line);
    if (ok && ferror(f)) ok = diags_input(r->diags, (struct srcloc){r->loc.file, 0, 0}, NULL, NULL, "cannot read the file");
    return ok;
}

static bool read_file(struct reader *r)
{
    const struct srcloc loc = r->loc;
    struct stat st;
    FILE *f = stat(loc.file, &st) == 0 ? fopen(loc.file, "rb") : NULL;
    if (!f) return diags_input(r->diags, loc, NULL, NULL, "cannot read the file: %s", strerror(errno));
    bool ok =
        S_ISDIR(st.st_mode) ? diags_input(r->diags, loc, NULL, NULL, "cannot read the file: Is a directory") : read_lines(r, f);
    fclose(f);
    return ok && arrange(r);
}

struct kept_sets *kept_sets_read(const char *path, const struct trace_info *info, struct diags *diags)
{
    struct kept_sets *k = xcalloc(1, sizeof *k);
    struct reader r = {.k = k, .loc = {.file = path}, .diags = diags};
    *k = (struct kept_sets){.info = info, .layers = info->layers, .heads = info->heads};
    k->layer_ids = xcalloc(k->layers, sizeof *k->layer_ids);
    memcpy(k->layer_ids, info->layer_ids, k->layers * sizeof *k->layer_ids);
    bool ok = read_file(&r);
    k->info = NULL;
    if (ok) return k;
    kept_sets_free(k);
    return NULL;
}

void kept_sets_free(struct kept_sets *k)
{
    if (!k) return;
    free(k->layer_ids);
    free(k->rows);
    free(k->ranges);
    free(k->steps);
    free(k);
}

const uint32_t *kept_sets_steps(const struct kept_sets *k, size_t *ret_n)
{
    *ret_n = k->n_steps;
    return k->steps;
}

const struct kept_range *kept_sets_at(const struct kept_sets *k, size_t layer, size_t head, size_t i, size_t *ret_n)
{
    for (size_t l = 0; l < k->layers && head < k->heads && i < k->n_steps; l++) {
        if ((size_t)k->layer_ids[l] != layer) continue;
        const struct row *row = &k->rows[(l * k->heads + head) * k->n_steps + i];
        *ret_n = row->n;
        return k->ranges + row->ranges;
    }
    return NULL;
}
