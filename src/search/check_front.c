#include "search/check_front.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "search/check_internal.h"
#include "search/cover.h"
#include "store/query.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- problems -------------------------------------------------------------------------------------------------------------- */

void checking_begin(struct checking *c)
{
    c->wrong = 0;
}

void checking_end(struct checking *c, const char *name, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *found = xvasprintf(fmt, ap), count[TEXT_NUMBER_MAX];
    va_end(ap);
    struct check_line line = {.name = name, .ok = c->wrong == 0, .detail = found};
    if (!line.ok) {
        line.detail = xasprintf("%s %s%s", text_count(count, c->wrong), c->wrong == 1 ? "problem in " : "problems in ", found);
        free(found);
    }
    c->out->lines = xrealloc(c->out->lines, c->out->n + 1, sizeof *c->out->lines);
    c->out->lines[c->out->n++] = line;
    c->out->whole = c->out->whole && line.ok;
}

bool checking_wrong(struct checking *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *what = xvasprintf(fmt, ap);
    va_end(ap);
#pragma omp critical(checking_wrong)
    {
        if (c->wrong++ < FRONT_CHECK_ERRORS) diags_runtime(c->diags, c->db, "%s", what);
    }
    free(what);
    return false;
}

bool checking_stopped(const struct checking *c)
{
    return c->options->interrupt && *c->options->interrupt;
}

/* ---- finding --------------------------------------------------------------------------------------------------------------- */

size_t checking_space(const struct checking *c, const char *model)
{
    for (size_t m = 0; m < c->n_spaces; m++)
        if (strcmp(space_model(c->spaces[m].space)->desc->name, model) == 0) return m;
    return SIZE_MAX;
}

size_t checking_row(const struct checking *c, size_t space, uint64_t point)
{
    size_t lo = 0, hi = c->n_rows;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        const struct checked_row *r = &c->rows[mid];
        if (r->space == space && r->point == point) return mid;
        if (r->space < space || (r->space == space && r->point < point))
            lo = mid + 1;
        else
            hi = mid;
    }
    return SIZE_MAX;
}

bool checking_is_of_front(const struct checking *c, size_t space, size_t axis)
{
    const struct checked_space *s = &c->spaces[space];
    const struct schema *params = &space_model(s->space)->params;
    bool sources[SPACE_AXES_MAX];
    for (size_t i = 0; i < c->sweep->n_per; i++) {
        const struct field *f = schema_find(params, c->sweep->per[i]);
        if (!f) continue;
        lattice_sources(s->lattice, schema_index(params, f), sources);
        if (sources[axis]) return true;
    }
    return false;
}

/* Add "tiles = 2", or "tiles = 2 .. 8" of two ends. */
static void add_ends(const struct checked_space *s, const uint32_t *lo, const uint32_t *hi, struct text *t)
{
    const size_t size = space_model(s->space)->desc->params_size;
    void *low = xmalloc(size), *high = xmalloc(size);
    char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX];
    uint32_t n;
    space_point(s->space, lattice_index(s->lattice, lo), low);
    space_point(s->space, lattice_index(s->lattice, hi), high);
    for (size_t k = 0; k < s->axes; k++) {
        const struct field *f = lattice_axis(s->lattice, k, &n);
        text_addf(t, "%s%s = %s", k ? ", " : "", f->name, value_text(f, field_get(f, low), a));
        if (lo[k] != hi[k]) text_addf(t, " .. %s", value_text(f, field_get(f, high), b));
    }
    free(low);
    free(high);
}

char *checking_box_name(const struct checking *c, size_t space, size_t box)
{
    const struct checked_space *s = &c->spaces[space];
    const uint32_t *lo = s->ends + box * 2 * s->axes;
    struct text t;
    text_init(&t);
    text_addf(&t, "box %" PRIu64 " of %s (", s->boxes[box].number, space_model(s->space)->desc->name);
    add_ends(s, lo, lo + s->axes, &t);
    text_add(&t, ")");
    return text_detach(&t);
}

/* ---- the cover --------------------------------------------------------------------------------------------------------------- */

static void say_hole(struct checking *c, size_t space, const uint32_t *lo, const uint32_t *hi)
{
    struct text t;
    text_init(&t);
    add_ends(&c->spaces[space], lo, hi, &t);
    checking_wrong(c, "the boxes of %s have a hole: none holds all points of %s", space_model(c->spaces[space].space)->desc->name,
                   t.n ? t.s : "the lattice");
    text_release(&t);
}

static void cover_space(struct checking *c, size_t space)
{
    const struct checked_space *s = &c->spaces[space];
    struct cover cover = {.lo = xcalloc(s->axes + 1, sizeof(uint32_t)), .hi = xcalloc(s->axes + 1, sizeof(uint32_t))};
    cover_check(s->ends, s->n, s->places, s->axes, &cover);
    if (cover.state == COVER_HOLE) say_hole(c, space, cover.lo, cover.hi);
    if (cover.state == COVER_TANGLED)
        checking_wrong(c, "the boxes of %s do not divide its lattice", space_model(s->space)->desc->name);
    if (cover.state == COVER_OVERLAP) {
        char *a = checking_box_name(c, space, cover.a), *b = checking_box_name(c, space, cover.b);
        checking_wrong(c, "boxes overlap: %s and %s", a, b);
        free(a);
        free(b);
    }
    free(cover.lo);
    free(cover.hi);
}

bool check_cover(struct checking *c)
{
    uint64_t boxes = 0;
    double points = 0;
    char n[TEXT_NUMBER_MAX], of[TEXT_NUMBER_MAX];
    checking_begin(c);
    for (size_t m = 0; m < c->n_spaces; m++) {
        cover_space(c, m);
        boxes += c->spaces[m].n;
        points += (double)space_count(c->spaces[m].space);
    }
    checking_end(c, "cover", "%s boxes, and each of %s points is in one", text_count(n, boxes), text_about_count(of, points));
    return c->wrong == 0;
}

/* ---- the sweep --------------------------------------------------------------------------------------------------------------- */

/* The sweep as the run stores it, with its spaces and lattices. */
static bool make_spaces(struct checking *c, struct catalog *catalog, const char *data_dir)
{
    char *name = xasprintf("%s: the sweep of run %lld", c->db, (long long)c->run.run);
    const size_t before = c->diags->errors;
    c->sweep = sweep_file_read_text_at(name, c->run.sweep_text, fidelity_names[FIDELITY_CLOSED_FORM], catalog, data_dir, c->diags);
    free(name);
    if (!c->sweep || c->diags->errors > before) return false;
    c->spaces = xcalloc(c->sweep->n_models, sizeof *c->spaces);
    for (; c->n_spaces < c->sweep->n_models; c->n_spaces++) {
        struct checked_space *s = &c->spaces[c->n_spaces];
        s->space = space_new(c->sweep, c->n_spaces, LATTICE_POINTS_MAX, c->diags);
        s->lattice = s->space ? lattice_new(s->space, c->diags) : NULL;
        if (!s->lattice) {
            space_free(s->space);
            return false;
        }
        space_check_plainly(s->space);
        s->axes = lattice_axes(s->lattice);
        s->places = xcalloc(s->axes + 1, sizeof *s->places);
        for (size_t a = 0; a < s->axes; a++) lattice_axis(s->lattice, a, &s->places[a]);
        for (size_t j = 0; j < c->sweep->n_objectives; j++) s->columns[j] = space_column(s->space, c->sweep->objectives[j].column);
    }
    for (size_t j = 0; j < c->sweep->n_objectives; j++) c->maximise[j] = c->sweep->objectives[j].maximise;
    return true;
}

static bool can_be_checked(const struct checking *c)
{
    const struct certificate_head *h = &c->run.head;
    if (h->form < 1 || h->form > CERTIFICATE_FORM)
        return diags_runtime(c->diags, c->db, "the certificate of run %lld is of form %lld; this dse knows forms up to %d",
                             (long long)c->run.run, (long long)h->form, (int)CERTIFICATE_FORM);
    if (!h->kept)
        return diags_runtime(
            c->diags, c->db,
            "the boxes of run %lld were not kept: dse front --certificate --fresh writes a certificate that can be checked",
            (long long)c->run.run);
    return true;
}

static bool steps(struct checking *c, struct catalog *catalog, const char *data_dir)
{
    if (!certificate_read_run(c->reader, c->options->run, &c->run, c->diags) || !can_be_checked(c) ||
        !make_spaces(c, catalog, data_dir))
        return false;
    bool (*const all[])(struct checking *) = {check_lattices, check_rows, check_read_boxes, check_cover, check_boxes};
    for (size_t i = 0; i < sizeof all / sizeof *all && !checking_stopped(c); i++)
        if (!all[i](c) && all[i] != check_cover) break; /* what follows would make no sense; a hole leaves boxes to look at */
    return !checking_stopped(c) || diags_runtime(c->diags, c->db, "the check was interrupted: nothing is known");
}

static void release(struct checking *c)
{
    for (size_t m = 0; m < c->n_spaces; m++) {
        struct checked_space *s = &c->spaces[m];
        lattice_free(s->lattice);
        space_free(s->space);
        free(s->places);
        free(s->boxes);
        free(s->ends);
    }
    for (size_t g = 0; g < c->n_groups; g++) free(c->groups[g]);
    free(c->groups);
    free(c->spaces);
    free(c->rows);
    free(c->best);
    sweep_file_free(c->sweep);
    certified_run_release(&c->run);
    reader_close(c->reader);
}

bool front_check(const char *db, const struct front_check_options *options, struct catalog *catalog, const char *data_dir,
                 struct check *ret, struct diags *diags)
{
    *ret = (struct check){.whole = true};
    struct checking c = {.db = db, .options = options, .out = ret, .diags = diags, .reader = reader_open(db, diags)};
    if (!c.reader) return false;
    const size_t before = diags->errors;
    const bool ok = steps(&c, catalog, data_dir);
    if (diags->errors > before) ret->whole = false;
    release(&c);
    return ok;
}
