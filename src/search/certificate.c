#include "search/certificate.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "search/lattice.h"
#include "search/row_groups.h"
#include "store/certificates.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const box_end_names[] = {"dominated", "impossible", "refused", "evaluated", "open", "worse", NULL};
_Static_assert(sizeof box_end_names / sizeof *box_end_names == BOX_END_COUNT + 1, "a name for each end");
_Static_assert((int)BOX_END_COUNT == (int)CERTIFICATE_ENDS, "a count for each end");

/* ---- the log ----------------------------------------------------------------------------------------------------------------- */

/* A box takes HEAD words, then lo and hi, a word for each axis, then two words for each objective if it has `best`. */
enum { SPACE, END, CONSTRAINT, BY_SPACE, BY_POINT, BY_POINT_HIGH, ALONG, THAN, HEAD };

struct box_log {
    size_t *n_axes, n_spaces, objectives;
    bool keep;
    uint32_t *words;
    size_t n, capacity;
    size_t *at, n_boxes, boxes_capacity; /* where each box begins */
    uint64_t counts[BOX_END_COUNT];
};

struct box_log *box_log_new(const size_t *n_axes, size_t n_spaces, size_t objectives, bool keep)
{
    struct box_log *log = xcalloc(1, sizeof *log);
    log->n_axes = xcalloc(n_spaces, sizeof *log->n_axes);
    memcpy(log->n_axes, n_axes, n_spaces * sizeof *n_axes);
    log->n_spaces = n_spaces;
    log->objectives = objectives;
    log->keep = keep;
    return log;
}

void box_log_free(struct box_log *log)
{
    if (!log) return;
    free(log->n_axes);
    free(log->words);
    free(log->at);
    free(log);
}

static bool has_best(uint32_t end)
{
    return end == BOX_DOMINATED || end == BOX_OPEN;
}

/* Room for so many more words. */
static uint32_t *extend(struct box_log *log, size_t words)
{
    if (log->n + words > log->capacity) {
        log->capacity = 2 * log->capacity + words + 1024;
        log->words = xrealloc(log->words, log->capacity, sizeof *log->words);
    }
    if (log->n_boxes == log->boxes_capacity) {
        log->boxes_capacity = 2 * log->boxes_capacity + 64;
        log->at = xrealloc(log->at, log->boxes_capacity, sizeof *log->at);
    }
    log->at[log->n_boxes++] = log->n;
    uint32_t *room = log->words + log->n;
    log->n += words;
    return room;
}

void box_log_add(struct box_log *log, const struct certificate_box *box)
{
    log->counts[box->end]++;
    if (!log->keep) return;
    const size_t axes = log->n_axes[box->space], best = has_best(box->end) ? log->objectives : 0;
    uint32_t *w = extend(log, HEAD + 2 * axes + 2 * best);
    w[SPACE] = box->space;
    w[END] = box->end;
    w[CONSTRAINT] = box->constraint;
    w[BY_SPACE] = box->by.space;
    w[BY_POINT] = (uint32_t)box->by.point;
    w[BY_POINT_HIGH] = (uint32_t)(box->by.point >> 32);
    w[ALONG] = box->along;
    w[THAN] = box->than;
    memcpy(w + HEAD, box->lo, axes * sizeof *w);
    memcpy(w + HEAD + axes, box->hi, axes * sizeof *w);
    if (best) memcpy(w + HEAD + 2 * axes, box->best, best * sizeof(double));
}

/* ---- storing ----------------------------------------------------------------------------------------------------------------- */

/* The row that stood in for an incumbent last. */
struct stand_in {
    struct lattice_point by;
    size_t row;
};
enum { STAND_INS = 1 << 16 };

struct storing {
    const struct sweep_file *sweep;
    struct space *const *spaces;
    struct box_log *const *logs;
    size_t n_logs;
    const struct certificate_row *front;
    size_t n_front, *by_point, *by_group; /* rows in the order of space and point, and of the front that they are on */
    char **groups;                        /* of each row */
    struct stand_in *stand_ins;           /* by a hash of the incumbent; row SIZE_MAX: none */
    double tolerance;
    struct certificate_writer *writer;
    struct diags *diags;
    struct text group, places, best;
    void *params; /* of a point */
};

/* The words of a box, and how many axes its space has. */
struct kept {
    const uint32_t *words;
    size_t axes;
};

static int by_space_and_lo(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->words[SPACE] != y->words[SPACE]) return x->words[SPACE] < y->words[SPACE] ? -1 : 1;
    for (size_t i = HEAD; i < HEAD + 2 * x->axes; i++)
        if (x->words[i] != y->words[i]) return x->words[i] < y->words[i] ? -1 : 1;
    return 0;
}

/* The kept boxes of all logs in the order of their lower corners, which does not depend on who closed them. */
static struct kept *sort_boxes(const struct storing *s, size_t *ret_n)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_logs; i++) n += s->logs[i]->n_boxes;
    struct kept *list = xcalloc(n, sizeof *list);
    *ret_n = n;
    n = 0;
    for (size_t i = 0; i < s->n_logs; i++) {
        const struct box_log *log = s->logs[i];
        for (size_t k = 0; k < log->n_boxes; k++) {
            const uint32_t *words = log->words + log->at[k];
            list[n++] = (struct kept){words, log->n_axes[words[SPACE]]};
        }
    }
    if (n) qsort(list, n, sizeof *list, by_space_and_lo);
    return list;
}

static int compare_rows(const struct certificate_row *x, struct lattice_point y)
{
    if (x->at.space != y.space) return x->at.space < y.space ? -1 : 1;
    return x->at.point < y.point ? -1 : x->at.point > y.point;
}

static int by_space_and_point(const void *a, const void *b, void *storing)
{
    const struct storing *s = storing;
    return compare_rows(&s->front[*(const size_t *)a], s->front[*(const size_t *)b].at);
}

static int by_group_and_number(const void *a, const void *b, void *storing)
{
    const struct storing *s = storing;
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const int c = strcmp(s->groups[x], s->groups[y]);
    return c ? c : (x > y) - (x < y);
}

/* The row of that point, or SIZE_MAX. */
static size_t find_row(const struct storing *s, struct lattice_point at)
{
    size_t lo = 0, hi = s->n_front;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        const int c = compare_rows(&s->front[s->by_point[mid]], at);
        if (c == 0) return s->by_point[mid];
        if (c < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return SIZE_MAX;
}

bool certificate_covers(const double *row, const double *best, const bool *maximise, size_t n, double tolerance)
{
    for (size_t i = 0; i < n; i++) {
        const double slack = tolerance * fabs(best[i]);
        if (maximise[i] ? !(row[i] >= best[i] - slack) : !(row[i] <= best[i] + slack)) return false;
    }
    return true;
}

static bool row_covers(const struct storing *s, size_t row, const double *best)
{
    bool maximise[SWEEP_OBJECTIVES_MAX];
    for (size_t i = 0; i < s->sweep->n_objectives; i++) maximise[i] = s->sweep->objectives[i].maximise;
    return certificate_covers(s->front[row].values, best, maximise, s->sweep->n_objectives, s->tolerance);
}

static const char *group_of(struct storing *s, struct lattice_point at)
{
    space_point(s->spaces[at.space], at.point, s->params);
    return row_group(s->sweep, space_model(s->spaces[at.space]), s->params, &s->group);
}

/* The first row of the incumbent's front that is no worse than `best`; SIZE_MAX: none. */
static size_t search_front(struct storing *s, struct lattice_point by, const double *best)
{
    const char *group = group_of(s, by);
    size_t lo = 0, hi = s->n_front;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (strcmp(s->groups[s->by_group[mid]], group) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < s->n_front && strcmp(s->groups[s->by_group[lo]], group) == 0; lo++)
        if (row_covers(s, s->by_group[lo], best)) return s->by_group[lo];
    return SIZE_MAX;
}

/* The row that stands for the incumbent `by`: itself, or one of its front that is no worse than `best`, either; SIZE_MAX: none. The
 * row that drove an incumbent out stands in for it wherever it was named. */
static size_t find_stand_in(struct storing *s, struct lattice_point by, const double *best)
{
    const size_t same = find_row(s, by);
    if (same != SIZE_MAX && row_covers(s, same, best)) return same;
    const uint64_t hash = (by.point + by.space) * UINT64_C(0x9E3779B97F4A7C15);
    struct stand_in *last = &s->stand_ins[hash >> 48];
    const bool known = last->row != SIZE_MAX && last->by.space == by.space && last->by.point == by.point;
    if (!known || !row_covers(s, last->row, best)) *last = (struct stand_in){by, search_front(s, by, best)};
    return last->row;
}
_Static_assert((int)STAND_INS == 1 << 16, "a hash has 16 bits");

static const char *model_name(const struct storing *s, size_t space)
{
    return space_model(s->spaces[space])->desc->name;
}

static void write_number(struct text *t, uint32_t v)
{
    char digits[TEXT_NUMBER_MAX], *at = digits + sizeof digits - 1;
    *at = '\0';
    do *--at = (char)('0' + v % 10);
    while (v /= 10);
    text_add(t, at);
}

static void write_places(struct text *t, const uint32_t *lo, const uint32_t *hi, size_t axes)
{
    t->n = 0;
    for (size_t a = 0; a < axes; a++) {
        if (a) text_add(t, " ");
        write_number(t, lo[a]);
        if (lo[a] == hi[a]) continue;
        text_add(t, "..");
        write_number(t, hi[a]);
    }
}

/* With all digits: the shortest text of a number takes its time to be found, millions of times. */
static void write_best(struct text *t, const double *best, size_t n)
{
    t->n = 0;
    for (size_t i = 0; i < n; i++) text_addf(t, "%s%.17g", i ? " " : "", best[i]);
}

static bool store_box(struct storing *s, uint64_t number, const struct kept *k)
{
    const uint32_t *w = k->words, *lo = w + HEAD, *hi = lo + k->axes;
    const size_t space = w[SPACE];
    double best[SWEEP_OBJECTIVES_MAX];
    write_places(&s->places, lo, hi, k->axes);
    struct certificate_line line = {
        .box = number, .model = model_name(s, space), .why = box_end_names[w[END]], .places = k->axes ? s->places.s : ""};
    if (w[END] == BOX_REFUSED) line.constraint = sweep_constraint_name(s->sweep, w[CONSTRAINT]);
    if (w[END] == BOX_WORSE) {
        line.along = space_axis_name(s->spaces[space], w[ALONG]);
        line.than = w[THAN];
    }
    if (has_best(w[END])) {
        memcpy(best, hi + k->axes, s->sweep->n_objectives * sizeof *best);
        write_best(&s->best, best, s->sweep->n_objectives);
        line.best = s->best.s;
    }
    if (w[END] == BOX_DOMINATED) {
        const struct lattice_point by = {w[BY_SPACE], (uint64_t)w[BY_POINT_HIGH] << 32 | w[BY_POINT]};
        const size_t row = find_stand_in(s, by, best);
        if (row == SIZE_MAX)
            return diags_runtime(s->diags, NULL,
                                 "a bug of the search: no row of the front is as good as box %s of %s can be at best, %s",
                                 line.places, line.model, line.best);
        line.by_model = model_name(s, s->front[row].at.space);
        line.by_point = (int64_t)s->front[row].at.point;
    }
    return certificate_write_box(s->writer, &line, s->diags);
}

static bool store_boxes(struct storing *s)
{
    size_t n;
    struct kept *list = sort_boxes(s, &n);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) ok = store_box(s, i + 1, &list[i]);
    free(list);
    return ok;
}

/* The value at a place of an axis, as the parameters of a point have it. */
static union cell cell_of(const struct field *f, const void *params)
{
    const struct value v = field_get(f, params);
    switch (f->type) {
    case DSE_TYPE_F64: return (union cell){.f64 = v.f64};
    case DSE_TYPE_I64: return (union cell){.i64 = v.i64};
    case DSE_TYPE_ENUM: return (union cell){.text = f->choices[v.choice]};
    default: return (union cell){.text = v.ref->name};
    }
}

static bool store_places(struct storing *s, size_t m, const struct lattice *l)
{
    const size_t axes = lattice_axes(l);
    uint32_t *places = xcalloc(axes, sizeof *places), n;
    bool ok = true;
    for (size_t a = 0; ok && a < axes; a++) {
        const struct field *f = lattice_axis(l, a, &n);
        for (places[a] = 0; ok && places[a] < n; places[a]++) {
            space_point(s->spaces[m], lattice_index(l, places), s->params);
            const struct certificate_place p = {model_name(s, m), f->name, places[a], f->type, cell_of(f, s->params)};
            ok = certificate_write_place(s->writer, &p, s->diags);
        }
        places[a] = 0;
    }
    free(places);
    return ok;
}

static bool store_space(struct storing *s, size_t m)
{
    struct lattice *l = lattice_new(s->spaces[m], s->diags);
    if (!l) return false;
    char hash[TEXT_NUMBER_MAX];
    snprintf(hash, sizeof hash, "%016" PRIx64, space_hash(s->spaces[m]));
    const struct certificate_space space = {.model = model_name(s, m),
                                            .version = space_model(s->spaces[m])->desc->version,
                                            .points = space_count(s->spaces[m]),
                                            .hash = hash};
    bool ok = certificate_write_space(s->writer, &space, s->diags) && store_places(s, m, l);
    lattice_free(l);
    return ok;
}

static struct certificate_head head_of(const struct certificate *c, bool kept)
{
    struct certificate_head h = {.form = CERTIFICATE_FORM,
                                 .tolerance = c->tolerance,
                                 .epsilon = c->epsilon,
                                 .hypervolume_left = c->hypervolume_left,
                                 .seconds = c->seconds,
                                 .complete = c->complete,
                                 .kept = kept,
                                 .evaluations = c->evaluations,
                                 .threads = c->threads};
    memcpy(h.boxes, c->boxes, sizeof h.boxes);
    return h;
}

static void prepare_rows(struct storing *s)
{
    size_t size = 1;
    for (size_t m = 0; m < s->sweep->n_models; m++) {
        const size_t of_model = space_model(s->spaces[m])->desc->params_size;
        if (of_model > size) size = of_model;
    }
    s->params = xmalloc(size);
    s->stand_ins = xcalloc(STAND_INS, sizeof *s->stand_ins);
    for (size_t i = 0; i < STAND_INS; i++) s->stand_ins[i].row = SIZE_MAX;
    s->by_point = xcalloc(s->n_front, sizeof *s->by_point);
    s->by_group = xcalloc(s->n_front, sizeof *s->by_group);
    s->groups = xcalloc(s->n_front, sizeof *s->groups);
    for (size_t i = 0; i < s->n_front; i++) {
        s->by_point[i] = s->by_group[i] = i;
        s->groups[i] = xstrdup(group_of(s, s->front[i].at));
    }
    if (s->n_front) qsort_r(s->by_point, s->n_front, sizeof *s->by_point, by_space_and_point, s);
    if (s->n_front) qsort_r(s->by_group, s->n_front, sizeof *s->by_group, by_group_and_number, s);
}

static void release(struct storing *s)
{
    for (size_t i = 0; i < s->n_front; i++) free(s->groups[i]);
    free(s->groups);
    free(s->by_point);
    free(s->by_group);
    free(s->params);
    free(s->stand_ins);
    text_release(&s->group);
    text_release(&s->places);
    text_release(&s->best);
}

bool certificate_store(struct store *st, const struct sweep_file *sweep, struct space *const *spaces, struct certificate *c,
                       struct box_log *const *logs, size_t n_logs, const struct certificate_row *front, size_t n_front,
                       struct diags *diags)
{
    bool kept = n_logs > 0;
    memset(c->boxes, 0, sizeof c->boxes);
    for (size_t i = 0; i < n_logs; i++) {
        kept = kept && logs[i]->keep;
        for (int e = 0; e < BOX_END_COUNT; e++) c->boxes[e] += logs[i]->counts[e];
    }
    struct storing s = {.sweep = sweep,
                        .spaces = spaces,
                        .logs = logs,
                        .n_logs = n_logs,
                        .front = front,
                        .n_front = n_front,
                        .tolerance = c->tolerance,
                        .diags = diags};
    prepare_rows(&s);
    const struct certificate_head head = head_of(c, kept);
    s.writer = certificate_writer_new(st, &head, diags);
    bool ok = s.writer != NULL;
    for (size_t m = 0; ok && m < sweep->n_models; m++) ok = store_space(&s, m);
    ok = certificate_writer_end(s.writer, ok && store_boxes(&s), diags);
    release(&s);
    return ok;
}
