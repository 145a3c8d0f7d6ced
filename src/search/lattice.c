#include "search/lattice.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    TABLE_MAX = 1 << 22, /* entries of a table over several axes */
    LEVELS_MAX = 32,     /* of a table: powers of two below the places of an axis */
    WALKS = 24,          /* points that every axis is walked from */
    STEPS_MAX = 48,      /* places of an axis that such a walk visits */
    PROOFS = 2048        /* boxes that the tables are held against */
};

struct lattice_axis {
    struct space_axis of;
    uint32_t n;
    uint32_t *digits; /* by place */
    uint32_t *places; /* by digit */
    bool split;
};

/* A number that does not grow with the axes that it follows from: what it can be. The axis with the most places, of those that are
 * not split, is `inner`; entries of level k are the least and the most of 2^k of its neighbouring places. */
struct law {
    const struct field *field;
    size_t inner, outer[SPACE_AXES_MAX], n_outer;
    uint64_t n_inner, rows; /* places of the inner axis; combinations of the others */
    int levels;
    double *least[LEVELS_MAX], *most[LEVELS_MAX]; /* rows * n_inner each */
};

struct lattice {
    const struct space *space;
    size_t n_axes, params_size;
    struct lattice_axis *axes;
    bool *sources;             /* [parameter * n_axes + axis] */
    struct graph_moves *moves; /* by parameter */
    struct law *laws;
    size_t n_laws;
};

/* ---- axes ---------------------------------------------------------------------------------------------------------------- */

struct ranked {
    double value;
    uint32_t digit;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->value != y->value ? (x->value > y->value) - (x->value < y->value) : (x->digit > y->digit) - (x->digit < y->digit);
}

static void make_axis(struct lattice_axis *axis, struct space_axis of)
{
    const bool is_number = field_is_number(of.field);
    struct ranked *ranked = xcalloc(of.n, sizeof *ranked);
    *axis = (struct lattice_axis){.of = of, .n = (uint32_t)of.n, .split = !is_number};
    axis->digits = xcalloc(of.n, sizeof *axis->digits);
    axis->places = xcalloc(of.n, sizeof *axis->places);
    for (uint32_t d = 0; d < axis->n; d++) {
        const struct value *v = &of.values[d];
        ranked[d] = (struct ranked){!is_number ? d : of.field->type == DSE_TYPE_I64 ? (double)v->i64 : v->f64, d};
    }
    qsort(ranked, axis->n, sizeof *ranked, by_value);
    for (uint32_t p = 0; p < axis->n; p++) {
        axis->digits[p] = ranked[p].digit;
        axis->places[ranked[p].digit] = p;
    }
    free(ranked);
}

/* The resolved parameters at a place on each axis. */
static void point_at(const struct lattice *l, const uint32_t *places, void *params)
{
    uint64_t digits[SPACE_AXES_MAX];
    for (size_t a = 0; a < l->n_axes; a++) digits[a] = l->axes[a].digits[places[a]];
    space_point_at(l->space, digits, params);
}

/* ---- what follows from what ------------------------------------------------------------------------------------------------ */

/* xorshift64*: the places to try need only be spread, and the same every time. */
static uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state * UINT64_C(2685821657736338717) >> 16;
}

static void draw_places(const struct lattice *l, uint64_t *state, uint32_t *places)
{
    for (size_t a = 0; a < l->n_axes; a++) places[a] = (uint32_t)(draw(state) % l->axes[a].n);
}

/* Walk every axis from a point, and note which parameters change on the way. */
static void walk_from(struct lattice *l, uint32_t *places, void *here, void *there)
{
    const struct schema *schema = &space_model(l->space)->params;
    point_at(l, places, here);
    for (size_t a = 0; a < l->n_axes; a++) {
        const uint32_t home = places[a], n = l->axes[a].n, steps = n < STEPS_MAX ? n : STEPS_MAX;
        for (uint32_t s = 0; s < steps; s++) {
            places[a] = steps < n ? (uint32_t)((uint64_t)s * (n - 1) / (STEPS_MAX - 1)) : s;
            point_at(l, places, there);
            for (size_t i = 0; i < schema->n; i++)
                if (!field_same(&schema->fields[i], here, there)) l->sources[i * l->n_axes + a] = true;
        }
        places[a] = home;
    }
}

/* An axis that moves what is no number, or a number that has no value at some places, is split. */
static void split_movers(struct lattice *l, const void *here)
{
    const struct schema *schema = &space_model(l->space)->params;
    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        if (field_is_number(f) && !isnan(field_number(f, here))) continue;
        for (size_t a = 0; a < l->n_axes; a++)
            if (l->sources[i * l->n_axes + a]) l->axes[a].split = true;
    }
}

static void find_sources(struct lattice *l)
{
    uint32_t places[SPACE_AXES_MAX] = {0};
    uint64_t state = 1;
    void *here = xcalloc(1, l->params_size), *there = xcalloc(1, l->params_size);
    for (int w = 0; w < WALKS; w++) {
        walk_from(l, places, here, there);
        split_movers(l, here);
        draw_places(l, &state, places);
    }
    free(here);
    free(there);
}

/* ---- tables ---------------------------------------------------------------------------------------------------------------- */

/* The axes that parameter i follows from, the longest that is not split as the inner one; false: from none that is not split. */
static bool begin_law(const struct lattice *l, size_t i, struct law *law)
{
    *law = (struct law){.field = &space_model(l->space)->params.fields[i], .inner = SIZE_MAX, .rows = 1};
    for (size_t a = 0; a < l->n_axes; a++) {
        const struct lattice_axis *axis = &l->axes[a];
        if (!l->sources[i * l->n_axes + a] || axis->split) continue;
        if (law->inner == SIZE_MAX || axis->n > l->axes[law->inner].n) law->inner = a;
    }
    if (law->inner == SIZE_MAX) return false;
    law->n_inner = l->axes[law->inner].n;
    for (size_t a = 0; a < l->n_axes; a++) {
        if (!l->sources[i * l->n_axes + a] || a == law->inner) continue;
        law->outer[law->n_outer++] = a;
        if (__builtin_mul_overflow(law->rows, l->axes[a].n, &law->rows)) law->rows = UINT64_MAX;
    }
    return true;
}

static void fill_law(const struct lattice *l, struct law *law, void *params)
{
    uint32_t places[SPACE_AXES_MAX] = {0};
    law->least[0] = xcalloc(law->rows * law->n_inner, sizeof(double));
    for (uint64_t row = 0; row < law->rows; row++) {
        uint64_t rest = row;
        for (size_t k = law->n_outer; k-- > 0; rest /= l->axes[law->outer[k]].n)
            places[law->outer[k]] = (uint32_t)(rest % l->axes[law->outer[k]].n);
        for (uint32_t p = 0; p < law->n_inner; p++) {
            places[law->inner] = p;
            point_at(l, places, params);
            law->least[0][row * law->n_inner + p] = field_number(law->field, params);
        }
    }
    law->levels = 1;
}

static void note(struct graph_moves *m, size_t axis, double from, double to)
{
    const uint32_t bit = axis < LATTICE_MOVES_MAX ? UINT32_C(1) << axis : 0;
    if (!(to <= from)) m->up |= bit;
    if (!(to >= from)) m->down |= bit;
}

/* How the number moves along the axes that are not split. */
static struct graph_moves moves_of_law(const struct lattice *l, const struct law *law)
{
    const double *v = law->least[0];
    struct graph_moves ret = {0, 0};
    uint64_t stride = 1; /* rows from one place of an outer axis to the next */
    for (uint64_t i = 0; i < law->rows * law->n_inner; i++)
        if (i % law->n_inner) note(&ret, law->inner, v[i - 1], v[i]);
    for (size_t k = law->n_outer; k-- > 0; stride *= l->axes[law->outer[k]].n) {
        const struct lattice_axis *axis = &l->axes[law->outer[k]];
        for (uint64_t row = 0; !axis->split && row < law->rows; row++)
            for (uint64_t p = 0; row / stride % axis->n && p < law->n_inner; p++)
                note(&ret, law->outer[k], v[(row - stride) * law->n_inner + p], v[row * law->n_inner + p]);
    }
    return ret;
}

static void free_law(struct law *law)
{
    for (int k = 1; k < law->levels; k++) {
        free(law->least[k]);
        free(law->most[k]);
    }
    free(law->least[0]);
}

/* The levels above the numbers themselves. */
static void raise_law(struct law *law)
{
    const uint64_t n = law->rows * law->n_inner;
    law->most[0] = law->least[0];
    for (; law->n_inner >> law->levels; law->levels++) {
        const int k = law->levels;
        const uint64_t step = UINT64_C(1) << (k - 1);
        law->least[k] = xcalloc(n, sizeof(double));
        law->most[k] = xcalloc(n, sizeof(double));
        for (uint64_t i = 0; i + 2 * step <= n; i++) { /* what runs into the next row is not asked for */
            law->least[k][i] = fmin(law->least[k - 1][i], law->least[k - 1][i + step]);
            law->most[k][i] = fmax(law->most[k - 1][i], law->most[k - 1][i + step]);
        }
    }
}

static bool too_many(const struct lattice *l, const struct law *law, struct diags *diags)
{
    struct text names;
    text_init(&names);
    for (size_t k = 0; k < law->n_outer; k++) text_addf(&names, "%s, ", l->axes[law->outer[k]].of.field->name);
    text_add(&names, l->axes[law->inner].of.field->name);
    diags_input(diags, (struct srcloc){0}, NULL, "give fewer values of one of them",
                "%s follows from %s, and these have too many values together for the table that an exact search needs",
                law->field->name, names.s);
    text_release(&names);
    return false;
}

/* A table for each number that needs one. */
static bool make_laws(struct lattice *l, struct diags *diags)
{
    const struct schema *schema = &space_model(l->space)->params;
    void *params = xcalloc(1, l->params_size);
    bool ok = true;
    for (size_t i = 0; ok && i < schema->n; i++) {
        struct law law;
        if (!field_is_number(&schema->fields[i]) || !begin_law(l, i, &law)) continue;
        if (law.n_outer && (law.rows > TABLE_MAX || law.rows * law.n_inner > TABLE_MAX)) {
            ok = too_many(l, &law, diags);
            continue;
        }
        fill_law(l, &law, params);
        l->moves[i] = moves_of_law(l, &law);
        if (!l->moves[i].down && l->n_axes <= LATTICE_MOVES_MAX) { /* it needs no table: the ends of a box have its ends */
            free_law(&law);
            continue;
        }
        raise_law(&law);
        l->laws = xrealloc(l->laws, l->n_laws + 1, sizeof *l->laws);
        l->laws[l->n_laws++] = law;
    }
    free(params);
    return ok;
}

/* The least and the most of a number over a box. */
static void law_ends(const struct lattice *l, const struct law *law, const uint32_t *lo, const uint32_t *hi, double *ret_least,
                     double *ret_most)
{
    const uint32_t width = hi[law->inner] - lo[law->inner] + 1;
    const int k = 31 - __builtin_clz(width);
    uint32_t at[SPACE_AXES_MAX];
    for (size_t j = 0; j < law->n_outer; j++) at[j] = lo[law->outer[j]];
    *ret_least = INFINITY;
    *ret_most = -INFINITY;
    for (;;) {
        uint64_t row = 0;
        for (size_t j = 0; j < law->n_outer; j++) row = row * l->axes[law->outer[j]].n + at[j];
        const uint64_t first = row * law->n_inner + lo[law->inner], second = first + width - (UINT32_C(1) << k);
        *ret_least = fmin(*ret_least, fmin(law->least[k][first], law->least[k][second]));
        *ret_most = fmax(*ret_most, fmax(law->most[k][first], law->most[k][second]));
        size_t j = law->n_outer;
        while (j > 0 && at[j - 1] == hi[law->outer[j - 1]]) {
            j--;
            at[j] = lo[law->outer[j]];
        }
        if (j == 0) return;
        at[j - 1]++;
    }
}

static void set_number(const struct field *f, void *params, double v)
{
    field_set(f, params, f->type == DSE_TYPE_I64 ? (struct value){.i64 = (int64_t)v} : (struct value){.f64 = v});
}

void lattice_enclose(const struct lattice *l, const uint32_t *lo, const uint32_t *hi, void *lo_params, void *hi_params)
{
    point_at(l, lo, lo_params);
    point_at(l, hi, hi_params);
    for (size_t i = 0; i < l->n_laws; i++) {
        double least, most;
        law_ends(l, &l->laws[i], lo, hi, &least, &most);
        set_number(l->laws[i].field, lo_params, least);
        set_number(l->laws[i].field, hi_params, most);
    }
}

/* ---- proof ----------------------------------------------------------------------------------------------------------------- */

/* The first parameter of a point that is not between those of its box, or NULL. */
static const struct field *outside(const struct lattice *l, const void *lo, const void *point, const void *hi)
{
    const struct schema *schema = &space_model(l->space)->params;
    for (size_t i = 0; i < schema->n; i++) {
        const struct field *f = &schema->fields[i];
        const bool same = field_same(f, lo, point) && field_same(f, point, hi);
        const double v = field_number(f, point); /* NaN of a name */
        if (!same && !(field_number(f, lo) <= v && v <= field_number(f, hi))) return f;
    }
    return NULL;
}

/* Hold the tables against random boxes and a point of each. */
static bool prove(const struct lattice *l, struct diags *diags)
{
    uint64_t state = 2;
    uint32_t at[SPACE_AXES_MAX], lo[SPACE_AXES_MAX], hi[SPACE_AXES_MAX];
    void *point = xcalloc(3, l->params_size), *least = (char *)point + l->params_size, *most = (char *)least + l->params_size;
    const struct field *f = NULL;
    for (int i = 0; i < PROOFS && !f; i++) {
        draw_places(l, &state, at);
        draw_places(l, &state, lo);
        draw_places(l, &state, hi);
        for (size_t a = 0; a < l->n_axes; a++) {
            if (l->axes[a].split || lo[a] > at[a]) lo[a] = at[a];
            if (l->axes[a].split || hi[a] < at[a]) hi[a] = at[a];
        }
        point_at(l, at, point);
        lattice_enclose(l, lo, hi, least, most);
        f = outside(l, least, point, most);
    }
    free(point);
    return !f || diags_input(diags, (struct srcloc){0}, NULL, "fix one of the axes that it follows from",
                             "%s follows from the axes in a way that an exact search cannot enclose", f->name);
}

/* ---- the lattice ----------------------------------------------------------------------------------------------------------- */

struct lattice *lattice_new(const struct space *sp, struct diags *diags)
{
    char count[TEXT_NUMBER_MAX], most[TEXT_NUMBER_MAX];
    if (space_count(sp) > LATTICE_POINTS_MAX) {
        diags_input(diags, (struct srcloc){0}, NULL, "give fewer values of some parameters", "model %s has %s points; at most %s",
                    space_model(sp)->desc->name, text_about_count(count, (double)space_count(sp)),
                    text_about_count(most, (double)LATTICE_POINTS_MAX));
        return NULL;
    }
    struct lattice *l = xcalloc(1, sizeof *l);
    *l = (struct lattice){.space = sp, .n_axes = space_axes(sp), .params_size = space_model(sp)->desc->params_size};
    l->axes = xcalloc(l->n_axes, sizeof *l->axes);
    l->sources = xcalloc(space_model(sp)->params.n * l->n_axes, sizeof *l->sources);
    l->moves = xcalloc(space_model(sp)->params.n + 1, sizeof *l->moves);
    for (size_t a = 0; a < l->n_axes; a++) make_axis(&l->axes[a], space_axis(sp, a));
    find_sources(l);
    if (make_laws(l, diags) && prove(l, diags)) return l;
    lattice_free(l);
    return NULL;
}

void lattice_free(struct lattice *l)
{
    if (!l) return;
    for (size_t i = 0; i < l->n_laws; i++) free_law(&l->laws[i]);
    for (size_t a = 0; a < l->n_axes; a++) {
        free(l->axes[a].digits);
        free(l->axes[a].places);
    }
    free(l->laws);
    free(l->sources);
    free(l->moves);
    free(l->axes);
    free(l);
}

size_t lattice_axes(const struct lattice *l)
{
    return l->n_axes;
}

const struct field *lattice_axis(const struct lattice *l, size_t axis, uint32_t *ret_places)
{
    *ret_places = l->axes[axis].n;
    return l->axes[axis].of.field;
}

bool lattice_axis_is_split(const struct lattice *l, size_t axis)
{
    return l->axes[axis].split;
}

uint64_t lattice_index(const struct lattice *l, const uint32_t *places)
{
    uint64_t index = 0;
    for (size_t a = 0; a < l->n_axes; a++) index = index * l->axes[a].n + l->axes[a].digits[places[a]];
    return index;
}

void lattice_places(const struct lattice *l, uint64_t index, uint32_t *places)
{
    for (size_t a = l->n_axes; a-- > 0; index /= l->axes[a].n) places[a] = l->axes[a].places[index % l->axes[a].n];
}

uint64_t lattice_volume(const struct lattice *l, const uint32_t *lo, const uint32_t *hi)
{
    uint64_t volume = 1;
    for (size_t a = 0; a < l->n_axes; a++) volume *= hi[a] - lo[a] + 1;
    return volume;
}

void lattice_sources(const struct lattice *l, size_t param, bool *ret)
{
    memcpy(ret, l->sources + param * l->n_axes, l->n_axes * sizeof *ret);
}

const struct graph_moves *lattice_moves(const struct lattice *l)
{
    return l->n_axes <= LATTICE_MOVES_MAX ? l->moves : NULL;
}
