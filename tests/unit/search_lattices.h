/* Random sweeps of any model of the registry: some of its parameters as axes around their defaults, names of all kinds among them,
 * and some of the metrics that it bounds as objectives. For tests and for ./dev bench. */
#ifndef DSE_TESTS_SEARCH_LATTICES_H
#define DSE_TESTS_SEARCH_LATTICES_H

#include "search_bed.h"
#include "space/bounds.h"

struct lattice_draw {
    uint64_t state;
    const char *data_dir;
    const struct model *model;
    void *defaults; /* resolved */
    struct catalog *catalog;
    const char *metrics[64]; /* that are bounded and have a better direction */
    bool maximise[64];
    size_t n_metrics;
    struct diags diags;
};

static inline uint64_t draw_below(struct lattice_draw *d, uint64_t n)
{
    d->state ^= d->state << 13;
    d->state ^= d->state >> 7;
    d->state ^= d->state << 17;
    return (d->state * UINT64_C(2685821657736338717) >> 20) % n;
}

static inline void find_metrics(struct lattice_draw *d, const struct space *sp)
{
    size_t n, constraint;
    const struct column *columns = space_columns(sp, &n);
    struct bounds *b = bounds_new(sp);
    if (bounds_box(b, d->defaults, d->defaults, &constraint) == BOUNDS_SOME)
        for (size_t c = 0; c < n && d->n_metrics < 64; c++) {
            if (columns[c].role != COLUMN_METRIC || columns[c].type == DSE_TYPE_ENUM || columns[c].better == DSE_NEITHER) continue;
            char *why = bounds_why_none(b, c);
            if (!why) {
                d->maximise[d->n_metrics] = columns[c].better == DSE_MORE;
                d->metrics[d->n_metrics++] = columns[c].field->name;
            }
            free(why);
        }
    bounds_free(b);
}

/* Release it in any case. False: the model has no bound, or its defaults are not feasible. */
static inline bool lattice_draw_init(struct lattice_draw *d, const struct model *m, const char *data_dir, uint64_t seed)
{
    struct search_bed b = {0};
    char *text = xasprintf("[sweep]\nname = \"t\"\nmodels = [\"%s\"]\n[objectives]\ntokens_per_s = \"max\"\n", m->desc->name);
    *d = (struct lattice_draw){.state = seed, .data_dir = data_dir, .model = m};
    d->defaults = xcalloc(1, m->desc->params_size);
    diags_init(&d->diags);
    d->catalog = catalog_new(data_dir, &d->diags);
    if (m->desc->bound && d->catalog && open_search(&b, data_dir, text)) {
        space_point(b.spaces[0], 0, d->defaults);
        find_metrics(d, b.spaces[0]);
    }
    if (m->desc->bound) close_search(&b);
    free(text);
    return d->n_metrics > 0;
}

static inline void lattice_draw_release(struct lattice_draw *d)
{
    catalog_free(d->catalog);
    diags_release(&d->diags);
    free(d->defaults);
}

/* "name = [..]" with up to n values; returns how many, 0 when the parameter has no two. */
static inline size_t add_names(struct lattice_draw *d, const struct field *f, struct text *t)
{
    size_t all = 0, n = 0;
    if (f->type == DSE_TYPE_ENUM)
        while (f->choices[all]) all++;
    else
        while (catalog_at(d->catalog, f->kind, all)) all++;
    if (all < 2) return 0;
    text_addf(t, "%s = [", f->name);
    for (size_t i = 0, skip = all > 3 ? all / 3 : 1; i < all && n < 4; i += 1 + draw_below(d, skip)) {
        const char *name = f->type == DSE_TYPE_ENUM ? f->choices[i] : catalog_at(d->catalog, f->kind, i)->name;
        text_addf(t, "%s\"%s\"", n++ ? ", " : "", name);
    }
    text_add(t, "]\n");
    return n;
}

static inline size_t add_numbers(struct lattice_draw *d, const struct field *f, size_t most, struct text *t)
{
    static const double ratios[] = {1.07, 1.2, 1.5, 2};
    const double home = field_number(f, d->defaults), ratio = ratios[draw_below(d, 4)];
    const size_t n = 2 + draw_below(d, most - 1), below = draw_below(d, n);
    double last = -(double)INFINITY, v = (home > 0 ? home : 1) * pow(ratio, -(double)below);
    size_t added = 0;
    if (!isfinite(home)) return 0;
    text_addf(t, "%s = [", f->name);
    for (size_t i = 0; i < n; i++, v *= ratio) {
        double x = fmin(fmax(f->type == DSE_TYPE_I64 ? floor(v + 0.5) : v, f->min), f->max);
        if (f->type == DSE_TYPE_I64 && x <= last) x = last + 1;
        if (x <= last || x > f->max) continue;
        char buf[TEXT_NUMBER_MAX];
        text_number(buf, last = x);
        text_addf(t, "%s%s", added++ ? ", " : "", buf);
    }
    text_add(t, "]\n");
    return added;
}

/* Has the parameter, or one that it cannot stand beside, been drawn? */
static inline bool is_taken(const struct lattice_draw *d, const bool *taken, size_t i)
{
    const struct field *f = &d->model->params.fields[i];
    for (size_t k = 0; k < d->model->params.n; k++)
        if (taken[k] &&
            (k == i || field_excludes(f, d->model->params.fields[k].name) || field_excludes(&d->model->params.fields[k], f->name)))
            return true;
    return false;
}

static inline size_t pick_parameter(struct lattice_draw *d)
{
    static const char *const often[] = {"batch",    "context",         "clock_ghz",  "bandwidth_gbs", "tiles",
                                        "sram_mib", "apid_width",      "vpu_eas",    "query_rows",    "engine_tflops",
                                        "devices",  "tensor_parallel", "processors", "array_rows",    "window",
                                        "vpu_md",   "channels",        "lanes",      "power"};
    if (draw_below(d, 3)) {
        const struct field *f = schema_find(&d->model->params, often[draw_below(d, sizeof often / sizeof *often)]);
        if (f) return schema_index(&d->model->params, f);
    }
    return draw_below(d, d->model->params.n);
}

/* A metric, unless it is one of the objectives already; returns whether. */
static inline bool add_objective(struct lattice_draw *d, size_t k, bool *chosen, struct text *t)
{
    if (chosen[k]) return false;
    chosen[k] = true;
    text_addf(t, "%s = \"%s\"\n", d->metrics[k], d->maximise[k] ? "max" : "min");
    return true;
}

/* Speed first, then what it costs, then any other. */
static inline void add_objectives(struct lattice_draw *d, size_t n, struct text *t)
{
    static const char *const speeds[] = {"tokens_per_s", "latency_us", "attention_us"};
    static const char *const costs[] = {"area_mm2", "energy_mj", "power_w", "die_usd", "system_usd", "embodied_kgco2"};
    const char *const wanted[] = {speeds[draw_below(d, 3)], costs[draw_below(d, 6)]};
    bool chosen[64] = {false};
    size_t added = 0;
    for (size_t w = 0; w < 2; w++)
        for (size_t k = 0; k < d->n_metrics; k++)
            if (strcmp(d->metrics[k], wanted[w]) == 0) added += add_objective(d, k, chosen, t);
    for (int tries = 0; added < n && tries < 100; tries++) added += add_objective(d, draw_below(d, d->n_metrics), chosen, t);
}

/* A sweep of at most so many points, and of not many fewer; the caller frees its text. */
static inline char *draw_lattice(struct lattice_draw *d, double points, size_t most_values)
{
    bool *taken = xcalloc(d->model->params.n, sizeof *taken);
    double product = 1;
    struct text t;
    text_init(&t);
    text_addf(&t, "[sweep]\nname = \"t\"\nmodels = [\"%s\"]\n[params]\n", d->model->desc->name);
    for (int tries = 0; tries < 200 && product * 2 <= points; tries++) {
        const size_t i = pick_parameter(d), before = t.n;
        const struct field *f = &d->model->params.fields[i];
        const double room = points / product;
        if (is_taken(d, taken, i) || f->reader == READ_BY_EVENT_LEVEL) continue;
        size_t most = room < (double)most_values ? (size_t)room : most_values;
        size_t n = field_is_number(f) ? add_numbers(d, f, most, &t) : room >= 4 ? add_names(d, f, &t) : 0;
        if (n < 2) {
            t.s[t.n = before] = '\0';
            continue;
        }
        taken[i] = true;
        product *= (double)n;
    }
    text_add(&t, "[quality]\nexact = false\ntrust = 'unknown'\n[objectives]\n");
    add_objectives(d, 2 + draw_below(d, 2), &t);
    free(taken);
    return text_detach(&t);
}

#endif
