/* Matched rows side by side. Where both runs have the same points in the same order, which is tried first, each thread takes a part
 * of them; else the rows are matched by their keys, and each thread takes a part of the pairs. What the threads found is put
 * together in their order, so that the answer does not depend on how many there were. */
#include "diff/diff_internal.h"

#include "base/text.h"
#include "base/threads.h"
#include "base/xalloc.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

/* What a thread has to do, and what it found. */
struct part {
    const struct reading *reading;
    const uint64_t *pairs; /* NULL: points are matched by their number */
    uint64_t first, end;   /* of the pairs, or the points */
    struct reader *reader[2];
    struct run_rows *rows[2];
    struct diff_column *columns; /* counts; the texts are owned */
    uint64_t matched, changed, *changes;
    size_t capacity;
    bool others, failed; /* points or keys are not the same in both */
    struct diags diags;
};

/* ---- one pair of rows ------------------------------------------------------------------------------------------------------ */

static bool same_text(struct run_rows *a, struct run_rows *b, size_t i)
{
    const size_t n = (size_t)run_rows_cells(a)[i].bytes;
    return (size_t)run_rows_cells(b)[i].bytes == n && memcmp(run_rows_text(a, i), run_rows_text(b, i), n) == 0;
}

static inline bool same_cell(const struct part *p, const struct run_cell *a, const struct run_cell *b, size_t i)
{
    if (run_cell_is_number(a) && run_cell_is_number(b)) return a->f64 == b->f64;
    if (a->type != b->type) return false;
    return a->type == CELL_NULL || same_text(p->rows[0], p->rows[1], i);
}

static char *cell_text(struct run_rows *rows, size_t i)
{
    char buf[TEXT_NUMBER_MAX];
    const enum cell_type type = run_rows_type(rows, i);
    if (type == CELL_REAL) return xstrdup(text_number(buf, run_rows_f64(rows, i)));
    const char *s = type == CELL_NULL ? NULL : run_rows_text(rows, i);
    return s ? xstrdup(s) : NULL;
}

/* Keep these two values as the column's example. */
static void keep_example(struct part *p, struct diff_column *c, size_t i)
{
    free(c->from);
    free(c->to);
    for (int s = 0; s < 2; s++) c->point[s] = run_rows_point(p->rows[s]);
    c->from = cell_text(p->rows[0], i);
    c->to = cell_text(p->rows[1], i);
}

/* Is there a distance to it? */
static bool is_measurable(const struct run_cell *c)
{
    return run_cell_is_number(c) && isfinite(c->f64);
}

/* A cell that is not the same. Does it differ beyond the tolerance? */
static bool note_change(struct part *p, struct diff_column *c, size_t i)
{
    const struct run_cell *from = &run_rows_cells(p->rows[0])[i], *to = &run_rows_cells(p->rows[1])[i];
    if (!is_measurable(from) || !is_measurable(to)) {
        c->changed++;
        if (c->appeared++ == 0 && c->largest == 0) keep_example(p, c, i);
        return true;
    }
    const double a = from->f64, b = to->f64;
    if (fabs(b - a) <= c->rel * fmax(fabs(a), fabs(b))) return false;
    const double change = relative_size(a, b - a);
    c->changed++;
    c->sum += fabs(change);
    if (fabs(change) > fabs(c->largest)) {
        c->largest = change;
        keep_example(p, c, i);
    }
    return true;
}

static void note_changed_row(struct part *p)
{
    if (p->changed == p->capacity)
        p->changes = xrealloc(p->changes, p->capacity = p->capacity ? 2 * p->capacity : 64, 2 * sizeof *p->changes);
    for (int s = 0; s < 2; s++) p->changes[2 * p->changed + (size_t)s] = run_rows_point(p->rows[s]);
    p->changed++;
}

/* Compare the rows that both stand on. False: their keys differ. */
static bool compare_pair(struct part *p)
{
    const struct diff_model *m = p->reading->model;
    const struct run_cell *a = run_rows_cells(p->rows[0]), *b = run_rows_cells(p->rows[1]);
    for (size_t i = 0; i < m->n_keys; i++)
        if (!same_cell(p, &a[i], &b[i], i)) return false;
    bool changed = false;
    for (size_t i = m->n_keys; i < m->n_keys + m->n_columns; i++)
        if (!same_cell(p, &a[i], &b[i], i)) changed |= note_change(p, &p->columns[i - m->n_keys], i);
    p->matched++;
    if (changed) note_changed_row(p);
    return true;
}

/* ---- a part ---------------------------------------------------------------------------------------------------------------- */

/* Points by their number: both sides must have the same. */
static void compare_points(struct part *p)
{
    int rc[2];
    for (int s = 0; s < 2; s++) rc[s] = run_rows_at(p->rows[s], p->first, &p->diags);
    for (;;) {
        bool here[2];
        for (int s = 0; s < 2; s++) here[s] = rc[s] > 0 && run_rows_point(p->rows[s]) < p->end;
        if (rc[0] < 0 || rc[1] < 0 || (!here[0] && !here[1])) return;
        if (here[0] != here[1] || run_rows_point(p->rows[0]) != run_rows_point(p->rows[1]) || !compare_pair(p)) {
            p->others = true;
            return;
        }
        for (int s = 0; s < 2; s++) rc[s] = run_rows_next(p->rows[s], &p->diags);
    }
}

static void compare_pairs(struct part *p)
{
    for (uint64_t i = p->first; i < p->end; i++) {
        for (int s = 0; s < 2; s++)
            if (run_rows_at(p->rows[s], p->pairs[2 * i + (uint64_t)s], &p->diags) <= 0) return;
        compare_pair(p); /* keys that differ have the same hash by chance: then the rows are not matched */
    }
}

/* Sides of the first part are read through the connections that are open. */
static void do_part(struct part *p, bool own_readers)
{
    const struct reading *r = p->reading;
    bool ok = true;
    for (int s = 0; ok && s < 2; s++) {
        const struct diff_side *side = &r->diff->side[s];
        p->reader[s] = own_readers ? reader_open_again(side->reader, &p->diags) : side->reader;
        p->rows[s] = p->reader[s] ? run_rows_new(p->reader[s], r->model->name, side->run, r->names, r->n, &p->diags) : NULL;
        ok = p->rows[s] != NULL;
    }
    if (ok && p->pairs) compare_pairs(p);
    if (ok && !p->pairs) compare_points(p);
    for (int s = 0; s < 2; s++) {
        run_rows_free(p->rows[s]);
        if (own_readers) reader_close(p->reader[s]);
    }
}

/* ---- all parts ------------------------------------------------------------------------------------------------------------- */

static void add_column_counts(struct diff_column *to, const struct diff_column *from)
{
    const bool larger = fabs(from->largest) > fabs(to->largest), first = from->changed && !to->changed;
    if (larger || first) {
        free(to->from);
        free(to->to);
        to->from = from->from ? xstrdup(from->from) : NULL;
        to->to = from->to ? xstrdup(from->to) : NULL;
        memcpy(to->point, from->point, sizeof to->point);
        to->largest = from->largest;
    }
    to->changed += from->changed;
    to->appeared += from->appeared;
    to->sum += from->sum;
}

static void add_part(struct diff_model *m, const struct part *p)
{
    for (size_t i = 0; i < m->n_columns; i++) add_column_counts(&m->columns[i], &p->columns[i]);
    m->changes = xrealloc(m->changes, m->changed + p->changed + 1, 2 * sizeof *m->changes);
    if (p->changed) memcpy(m->changes + 2 * m->changed, p->changes, p->changed * 2 * sizeof *m->changes);
    m->changed += p->changed;
    m->matched += p->matched;
}

static void release_part(struct part *p, size_t n_columns)
{
    for (size_t i = 0; i < n_columns; i++) {
        free(p->columns[i].from);
        free(p->columns[i].to);
    }
    free(p->columns);
    free(p->changes);
    diags_release(&p->diags);
}

/* Compare n points, or pairs. False with errors; *ret_others: the points are not the same in both, and nothing was counted. */
static bool compare_parts(const struct reading *r, const uint64_t *pairs, uint64_t n, bool *ret_others, struct diags *diags)
{
    enum { PART_MIN = 10000, PARTS_MAX = 64 };
    const size_t columns = r->model->n_columns;
    int parts = threads_available(omp_get_num_procs());
    if (parts > PARTS_MAX) parts = PARTS_MAX;
    if ((uint64_t)parts > n / PART_MIN) parts = n / PART_MIN ? (int)(n / PART_MIN) : 1;
    struct part *list = xcalloc((size_t)parts, sizeof *list);
    for (int i = 0; i < parts; i++) {
        const __uint128_t all = n;
        list[i] = (struct part){.reading = r, .pairs = pairs, .columns = xcalloc(columns + 1, sizeof *list[i].columns)};
        list[i].first = (uint64_t)(all * (unsigned)i / (unsigned)parts);
        list[i].end = (uint64_t)(all * ((unsigned)i + 1) / (unsigned)parts);
        for (size_t c = 0; c < columns; c++) list[i].columns[c].rel = r->model->columns[c].rel;
        diags_init(&list[i].diags);
    }
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int i = 0; i < parts; i++) do_part(&list[i], i > 0);
    bool ok = true;
    *ret_others = false;
    for (int i = 0; i < parts; i++) {
        ok = ok && list[i].diags.errors == 0;
        *ret_others |= list[i].others;
        diags_move(diags, &list[i].diags);
    }
    for (int i = 0; i < parts; i++) {
        if (ok && !*ret_others) add_part(r->model, &list[i]);
        release_part(&list[i], columns);
    }
    free(list);
    return ok;
}

/* The points of the larger of the two spaces. */
static bool count_points(const struct reading *r, uint64_t *ret, struct diags *diags)
{
    char *table = xasprintf("%s_fixed", r->model->name);
    *ret = 0;
    bool ok = true;
    for (int s = 0; ok && s < 2; s++) {
        struct text sql;
        text_init(&sql);
        text_add(&sql, "SELECT points FROM ");
        sql_add_name(&sql, table);
        text_addf(&sql, " WHERE run = %lld", (long long)r->diff->side[s].run);
        struct query *q = query_new(r->diff->side[s].reader, sql.s, (struct srcloc){0}, diags);
        ok = q && query_step(q, diags) > 0;
        if (ok && (uint64_t)query_i64(q, 0) > *ret) *ret = (uint64_t)query_i64(q, 0);
        query_free(q);
        text_release(&sql);
    }
    free(table);
    return ok;
}

bool compare_rows(struct reading *r, struct diags *diags)
{
    struct diff_model *m = r->model;
    bool others;
    uint64_t points, n_pairs = 0, *pairs = NULL;
    if (!count_points(r, &points, diags) || !compare_parts(r, NULL, points, &others, diags)) return false;
    bool ok = true;
    if (others) {
        pairs = match_rows(r, &n_pairs, diags);
        ok = pairs && compare_parts(r, pairs, n_pairs, &others, diags);
    } else {
        m->rows[0] = m->rows[1] = m->matched;
    }
    for (int s = 0; s < 2; s++) m->only[s] = m->rows[s] - m->matched;
    ok = ok && compare_fronts(r->diff, m, pairs, n_pairs, diags);
    free(pairs);
    return ok;
}
