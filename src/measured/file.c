/* The CSV files of measured machines. */
#include "measured/internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const measured_split_names[] = {"calibrate", "test", NULL};

size_t measured_column(const struct measured_file *f, const char *name)
{
    for (size_t i = 0; i < f->table.n_columns; i++)
        if (strcmp(f->table.columns[i], name) == 0) return i;
    return SIZE_MAX;
}

static bool read_numbers(struct measured_file *f, struct diags *diags)
{
    const struct csv_table *t = &f->table;
    f->numbers = xcalloc(t->n_rows * t->n_columns, sizeof *f->numbers);
    f->is_taken = xcalloc(t->n_rows, sizeof *f->is_taken);
    bool ok = true;
    for (size_t i = 0; i < t->n_rows; i++)
        for (size_t k = 0; k < t->n_columns; k++) {
            double *v = &f->numbers[i * t->n_columns + k];
            if (!text_parse_f64(t->rows[i].cells[k], v) || isinf(*v)) *v = (double)NAN;
        }
    for (size_t i = 0; i < t->n_rows; i++) {
        const char *split = t->rows[i].cells[f->split];
        if (strcmp(split, measured_split_names[0]) == 0 || strcmp(split, measured_split_names[1]) == 0) continue;
        ok =
            diags_input(diags, csv_table_cell_loc(t, i, f->split), t->text, "calibrate: constants may be fitted to it; test: never",
                        "split: \"%s\" is neither calibrate nor test", split);
    }
    return ok;
}

static bool read_file(struct measured_file *f, const char *path, struct diags *diags)
{
    if (!csv_table_read_any(&f->table, path, diags) || !csv_table_check_names(&f->table, diags)) return false;
    f->split = measured_column(f, "split");
    f->source = measured_column(f, "source");
    f->unit = measured_column(f, "unit");
    if (f->split == SIZE_MAX || f->source == SIZE_MAX)
        return diags_input(diags, csv_table_header_loc(&f->table), f->table.text, "each row says where it is from, and its split",
                           "there is no column %s", f->split == SIZE_MAX ? "split" : "source");
    return read_numbers(f, diags);
}

struct measured_file *measured_file_read(struct measured_set *s, const char *name, struct srcloc loc, struct diags *diags)
{
    for (size_t i = 0; i < s->n_files; i++)
        if (strcmp(s->files[i].name, name) == 0) return &s->files[i];
    if (!text_is_file_name(name)) {
        diags_input(diags, loc, s->doc->text, TEXT_FILE_NAME_RULE, "file: \"%s\" is no name of a file", name);
        return NULL;
    }
    struct measured_file *f = &s->files[s->n_files++];
    *f = (struct measured_file){.name = xstrdup(name)};
    char *path = xasprintf("%s/%s.csv", s->dir, name);
    bool ok = read_file(f, path, diags);
    free(path);
    return ok ? f : NULL;
}

void measured_file_release(struct measured_file *f)
{
    csv_table_release(&f->table);
    free(f->name);
    free(f->numbers);
    free(f->is_taken);
}

/* ---- rows twice ------------------------------------------------------------------------------------------------------------ */

/* A row by all that says what was measured: every cell but the numbers that were. */
struct keyed {
    uint64_t hash;
    size_t row;
};

static int by_hash(const void *a, const void *b)
{
    const struct keyed *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool is_result(const char *column)
{
    static const char *const results[] = {"time_us", "value", "split", "repeats", "note", "plus_minus"};
    for (size_t i = 0; i < sizeof results / sizeof *results; i++)
        if (strcmp(column, results[i]) == 0) return true;
    return false;
}

static bool same_row(const struct csv_table *t, size_t a, size_t b)
{
    for (size_t k = 0; k < t->n_columns; k++)
        if (!is_result(t->columns[k]) && strcmp(t->rows[a].cells[k], t->rows[b].cells[k]) != 0) return false;
    return true;
}

bool measured_file_check(const struct measured_file *f, struct diags *diags)
{
    const struct csv_table *t = &f->table;
    struct keyed *list = xcalloc(t->n_rows, sizeof *list);
    size_t n = 0;
    bool ok = true;
    for (size_t i = 0; i < t->n_rows; i++) {
        if (!f->is_taken[i]) continue;
        list[n] = (struct keyed){TEXT_HASH_INIT, i};
        for (size_t k = 0; k < t->n_columns; k++)
            if (!is_result(t->columns[k]))
                list[n].hash = text_hash(list[n].hash, t->rows[i].cells[k], strlen(t->rows[i].cells[k]) + 1);
        n++;
    }
    qsort(list, n, sizeof *list, by_hash);
    for (size_t i = 1; i < n; i++)
        if (list[i].hash == list[i - 1].hash && same_row(t, list[i].row, list[i - 1].row))
            ok = diags_input(diags, csv_table_loc(t, list[i].row), t->text, NULL, "the same was measured in line %d",
                             t->rows[list[i - 1].row].line);
    free(list);
    return ok;
}
