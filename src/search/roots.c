#include "search/roots.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---------------------------------------------------------------------------------------------------------------- */

/* Which axes of space s the parameters of `per` follow from. */
static void find_per(const struct walk_frame *f, size_t s, bool *held)
{
    const struct schema *schema = &space_model(f->spaces[s])->params;
    bool sources[SPACE_AXES_MAX];
    for (size_t i = 0; i < f->sweep->n_per; i++) {
        const struct field *param = schema_find(schema, f->sweep->per[i]);
        if (!param) continue;
        lattice_sources(f->lattices[s], schema_index(schema, param), sources);
        for (size_t a = 0; a < lattice_axes(f->lattices[s]); a++) held[a] = held[a] || sources[a];
    }
}

/* The values of `per` at a point, as one text. */
static void add_key(const struct walk_frame *f, size_t s, const void *params, struct text *key)
{
    const struct schema *schema = &space_model(f->spaces[s])->params;
    char buf[TEXT_NUMBER_MAX];
    key->n = 0;
    for (size_t i = 0; i < f->sweep->n_per; i++) {
        const struct field *param = schema_find(schema, f->sweep->per[i]);
        text_addf(key, "%s\x1f", param ? value_text(param, field_get(param, params), buf) : "");
    }
}

static uint32_t group_of(struct roots *r, const char *key)
{
    for (size_t i = r->n_groups; i-- > 0;)
        if (strcmp(r->keys[i], key) == 0) return (uint32_t)i;
    r->keys = xrealloc(r->keys, r->n_groups + 1, sizeof(char *));
    r->keys[r->n_groups] = xstrdup(key);
    return (uint32_t)r->n_groups++;
}

static void add_root(const struct walk_frame *f, size_t s, const bool *held, const uint32_t *at, void *params, struct text *key,
                     struct roots *r)
{
    struct box *b = box_new(f);
    b->space = (uint32_t)s;
    for (size_t a = 0; a < lattice_axes(f->lattices[s]); a++) {
        uint32_t n;
        lattice_axis(f->lattices[s], a, &n);
        box_lo(b)[a] = held[a] ? at[a] : 0;
        box_hi(f, b)[a] = held[a] ? at[a] : n - 1;
    }
    space_point(f->spaces[s], lattice_index(f->lattices[s], box_lo(b)), params);
    add_key(f, s, params, key);
    b->group = group_of(r, key->n ? key->s : "");
    r->boxes = xrealloc(r->boxes, r->n + 1, sizeof(struct box *));
    r->boxes[r->n++] = b;
}

/* One box for each combination of places on the axes that are held. */
static bool add_roots(const struct walk_frame *f, size_t s, struct roots *r, struct diags *diags)
{
    const size_t axes = lattice_axes(f->lattices[s]);
    bool held[SPACE_AXES_MAX] = {false};
    uint32_t at[SPACE_AXES_MAX] = {0}, n[SPACE_AXES_MAX];
    double boxes = 1;
    find_per(f, s, held);
    for (size_t a = 0; a < axes; a++) {
        lattice_axis(f->lattices[s], a, &n[a]);
        if (held[a]) boxes *= n[a];
    }
    if (boxes > ROOTS_MAX)
        return diags_input(diags, (struct srcloc){.file = f->sweep->doc ? f->sweep->doc->file : NULL}, NULL,
                           "name fewer parameters in per", "the parameters of per have %.3g combinations; at most %d fronts", boxes,
                           (int)ROOTS_MAX);
    void *params = xcalloc(1, space_model(f->spaces[s])->desc->params_size);
    struct text key;
    text_init(&key);
    for (size_t a = axes + 1; a > 0;) {
        add_root(f, s, held, at, params, &key, r);
        for (a = axes; a > 0; a--) {
            if (!held[a - 1]) continue;
            if (++at[a - 1] < n[a - 1]) break;
            at[a - 1] = 0;
        }
    }
    text_release(&key);
    free(params);
    return true;
}

bool roots_make(const struct walk_frame *f, struct roots *ret, struct diags *diags)
{
    *ret = (struct roots){0};
    for (size_t s = 0; s < f->n_spaces; s++)
        if (!add_roots(f, s, ret, diags)) return false;
    return true;
}

void roots_release(struct roots *r)
{
    for (size_t i = 0; i < r->n; i++) free(r->boxes[i]);
    for (size_t i = 0; i < r->n_groups; i++) free(r->keys[i]);
    free(r->boxes);
    free(r->keys);
    *r = (struct roots){0};
}

/* ---- columns --------------------------------------------------------------------------------------------------------------- */

enum { TRIES = 4096 }; /* random points among which a feasible one is sought */

/* Bound a feasible point of the space. False: none was found. */
static bool bound_some_point(const struct walk_frame *f, size_t s, struct walker *w)
{
    uint64_t state = 3;
    double costs[FRONT_OBJECTIVES_MAX];
    struct box *b = box_new(f);
    bool found = false;
    b->space = (uint32_t)s;
    for (int i = 0; i < TRIES && !found; i++) {
        const uint64_t point = roots_draw(&state) % space_count(f->spaces[s]);
        if (!walker_evaluate(w, (uint32_t)s, point, costs)) continue;
        lattice_places(f->lattices[s], point, box_lo(b));
        lattice_places(f->lattices[s], point, box_hi(f, b));
        found = walker_bound(w, b);
    }
    free(b);
    return found;
}

/* "tokens_per_s, area_mm2": the metrics with bounds of the box that was bounded last. The caller frees it. */
static char *bounded_metrics(const struct walk_frame *f, size_t s, struct bounds *b)
{
    size_t n;
    const struct column *columns = space_columns(f->spaces[s], &n);
    struct text t;
    text_init(&t);
    for (size_t c = 0; c < n; c++) {
        if (columns[c].role != COLUMN_METRIC || columns[c].type == DSE_TYPE_ENUM || columns[c].better == DSE_NEITHER) continue;
        const struct dse_interval i = bounds_column(b, c);
        if (isfinite(i.lo) && isfinite(i.hi)) text_addf(&t, "%s%s", t.n ? ", " : "", columns[c].name);
    }
    return text_detach(&t);
}

/* An error for each objective without a bound. */
static bool check_bounded(const struct walk_frame *f, size_t s, struct bounds *b, const size_t *columns, struct diags *diags)
{
    bool ok = true;
    char *has = NULL;
    for (size_t j = 0; j < f->objectives; j++) {
        char *why = bounds_why_none(b, columns[j]);
        if (!why) continue;
        if (!has) has = bounded_metrics(f, s, b);
        char *hint = has && *has ? xasprintf("%s bounds %s; without a bound, [search] method = \"local\" or \"nsga2\"",
                                             space_model(f->spaces[s])->desc->name, has)
                                 : xasprintf("without a bound, [search] method = \"local\" or \"nsga2\" in `dse sweep`");
        ok = diags_input(diags, f->sweep->objectives[j].loc, f->sweep->doc ? f->sweep->doc->text : NULL, hint,
                         "an exact front needs a bound of every objective: %s", why);
        free(hint);
        free(why);
    }
    free(has);
    return ok;
}

/* What a box is split by, beside the objectives: every metric with a bound and a better direction. Cycles and megabytes that nobody
 * asks for show what the objectives follow from: where they are tight, the objectives are. With the objectives alone 3.3e8 LADs
 * take 2.4 times as many boxes, though the gap of a search that is stopped falls earlier. */
static bool is_guide(const struct column *c)
{
    return c->role == COLUMN_METRIC && c->type != DSE_TYPE_ENUM && c->better != DSE_NEITHER;
}

static void find_guides(const struct walk_frame *f, size_t s, struct bounds *b, const size_t *objectives, struct walk_guides *ret)
{
    size_t n;
    const struct column *columns = space_columns(f->spaces[s], &n);
    *ret = (struct walk_guides){0};
    for (size_t c = 0; c < n; c++) {
        size_t j = 0;
        while (j < f->objectives && objectives[j] != c) j++;
        const bool is_objective = j < f->objectives;
        const struct dse_interval at = bounds_column(b, c);
        if (!is_objective && !(is_guide(&columns[c]) && isfinite(at.lo) && isfinite(at.hi))) continue;
        if (ret->n == WALK_GUIDES_MAX) return;
        ret->columns[ret->n] = c;
        ret->maximise[ret->n++] = is_objective ? f->maximise[j] : columns[c].better == DSE_MORE;
    }
}

bool columns_find(const struct walk_frame *f, size_t s, struct walker *w, size_t *columns, struct walk_guides *guides,
                  struct diags *diags)
{
    struct bounds *b = walker_bounds(w, s);
    const bool found = bound_some_point(f, s, w);
    if (found && !check_bounded(f, s, b, columns, diags)) return false;
    if (found) find_guides(f, s, b, columns, guides);
    return true;
}

/* ---- directions ------------------------------------------------------------------------------------------------------------ */

enum { TRIED = 128, WIDE = 4 }; /* boxes of which it is asked how points move, and how many places they have on an axis at most */

/* A random box of a root box. */
static void draw_box(const struct walk_frame *f, struct box *root, uint64_t *state, uint32_t *lo, uint32_t *hi)
{
    for (size_t a = 0; a < lattice_axes(f->lattices[root->space]); a++) {
        const uint32_t first = box_lo(root)[a], last = box_hi(f, root)[a];
        lo[a] = hi[a] = first + (uint32_t)(roots_draw(state) % (last - first + 1));
        if (lattice_axis_is_split(f->lattices[root->space], a)) continue;
        hi[a] += (uint32_t)(roots_draw(state) % WIDE);
        if (hi[a] > last) hi[a] = last;
    }
}

void roots_find_worse(const struct walk_frame *f, const struct roots *r, size_t s, struct walker *w, struct walk_guides *g)
{
    uint32_t lo[SPACE_AXES_MAX] = {0}, hi[SPACE_AXES_MAX] = {0};
    int above[SPACE_AXES_MAX] = {0}, below[SPACE_AXES_MAX] = {0};
    const size_t axes = lattice_axes(f->lattices[s]);
    uint64_t state = 5;
    if (!walker_knows_moves(w, (uint32_t)s)) return;
    for (size_t i = 0, tried = 0; tried < TRIED && i < TRIED * r->n; i++) {
        struct box *root = r->boxes[i % r->n];
        if (root->space != s) continue;
        draw_box(f, root, &state, lo, hi);
        const struct graph_moves better = walker_better(w, (uint32_t)s, lo, hi);
        for (size_t a = 0; a < axes; a++) {
            below[a] += lo[a] < hi[a] && !(better.up >> a & 1);
            above[a] += lo[a] < hi[a] && !(better.down >> a & 1);
        }
        tried++;
    }
    for (size_t a = 0; a < axes; a++) {
        if (below[a] || above[a]) g->worse |= UINT32_C(1) << a;
        if (above[a] > below[a]) g->upward |= UINT32_C(1) << a;
    }
}
