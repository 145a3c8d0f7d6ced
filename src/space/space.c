#include "space/space_internal.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- count ------------------------------------------------------------------------------------------------------------- */

uint64_t space_count_of(const struct binding *b)
{
    uint64_t count = 1;
    for (size_t i = 0; i < b->model->params.n; i++)
        if (b->given[i].is_given && __builtin_mul_overflow(count, b->given[i].n, &count)) return UINT64_MAX;
    return count;
}

uint64_t space_points_of(const struct sweep_file *s, size_t m)
{
    return s->sample.method == SAMPLE_GRID ? space_count_of(s->bindings[m]) : s->sample.points;
}

/* An axis is expanded before it is walked; one that is too long was not. */
static bool check_axes(const struct sweep_file *s, const struct binding *b, struct diags *diags)
{
    bool ok = true;
    size_t axes = 0;
    for (size_t i = 0; i < b->model->params.n; i++) axes += space_is_axis(b, i);
    if (axes > SPACE_AXES_MAX)
        ok = diags_input(diags, (struct srcloc){.file = s->doc->file}, NULL, NULL, "model %s has %zu axes in the sweep; at most %d",
                         b->model->desc->name, axes, SPACE_AXES_MAX);
    for (size_t i = 0; i < b->model->params.n; i++) {
        const struct given *g = &b->given[i];
        if (!g->is_given || g->values) continue;
        char n[TEXT_NUMBER_MAX], most[TEXT_NUMBER_MAX];
        ok = diags_input(diags, g->loc, s->doc->text, "make the range coarser; --dry-run shows the axes without running",
                         "%s: an axis of %s values; at most %s", b->model->params.fields[i].name, text_about_count(n, (double)g->n),
                         text_count(most, BIND_VALUES_MAX));
    }
    return ok;
}

static bool has_continuous(const struct binding *b)
{
    bool some = false;
    for (size_t i = 0; i < b->model->params.n; i++) some = some || b->given[i].continuous;
    return some;
}

static bool check_sample(const struct sweep_file *s, const struct binding *b, uint64_t max_points, struct diags *diags)
{
    const struct srcloc loc = {.file = s->doc->file};
    char points[TEXT_NUMBER_MAX], most[TEXT_NUMBER_MAX];
    text_count(points, s->sample.points);
    size_t axes = 0;
    for (size_t i = 0; i < b->model->params.n; i++) axes += space_is_axis(b, i);
    if (s->sample.points > max_points)
        return diags_input(diags, loc, NULL, "raise the limit with --max-points", "the sample has %s points; the limit is %s",
                           points, text_count(most, max_points));
    if (!has_continuous(b) && s->sample.points > space_count_of(b))
        return diags_input(diags, loc, NULL, "leave [sample] out, and all of them are evaluated",
                           "the sample has %s points, the grid of %s only %s", points, b->model->desc->name,
                           text_count(most, space_count_of(b)));
    if (s->sample.method == SAMPLE_SOBOL && axes > SAMPLER_SOBOL_AXES_MAX)
        return diags_input(diags, loc, NULL, "method = \"halton\", \"lhs\" or \"random\" in [sample]",
                           "%s has %zu axes; method = \"sobol\" takes at most %d", b->model->desc->name, axes,
                           SAMPLER_SOBOL_AXES_MAX);
    return true;
}

static bool check_count(const struct sweep_file *s, const struct binding *b, uint64_t max_points, struct diags *diags)
{
    if (s->sample.method != SAMPLE_GRID) return check_sample(s, b, max_points, diags);
    if (space_count_of(b) <= max_points) return true;
    struct text sizes;
    text_init(&sizes);
    double product = 1;
    char buf[TEXT_NUMBER_MAX], limit[TEXT_NUMBER_MAX];
    for (size_t i = 0; i < b->model->params.n; i++) {
        if (!space_is_axis(b, i)) continue;
        product *= (double)b->given[i].n;
        text_addf(&sizes, "%s%s %s", sizes.n ? " x " : "", b->model->params.fields[i].name,
                  text_about_count(buf, (double)b->given[i].n));
    }
    diags_input(diags, (struct srcloc){.file = s->doc->file}, NULL,
                "make a range coarser, or raise the limit with --max-points; --dry-run shows the axes without running",
                "the sweep has %s points (%s); the limit is %s", text_about_count(buf, product), sizes.s,
                text_count(limit, max_points));
    text_release(&sizes);
    return false;
}

/* ---- axes ------------------------------------------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
    const struct axis *x = a, *y = b;
    return strcmp(x->field->name, y->field->name);
}

static void make_axes(struct space *sp)
{
    const struct binding *b = sp->binding;
    const struct schema *schema = &b->model->params;
    for (size_t i = 0; i < schema->n; i++) {
        if (!space_is_axis(b, i)) continue;
        struct axis a = {.field = &schema->fields[i],
                         .n = b->given[i].n,
                         .values = b->given[i].values,
                         .continuous = b->given[i].continuous,
                         .log = b->given[i].log};
        a.follows = follow_list_new(b, a.field);
        sp->axes = xrealloc(sp->axes, sp->n_axes + 1, sizeof *sp->axes);
        sp->axes[sp->n_axes++] = a;
    }
    if (sp->n_axes) qsort(sp->axes, sp->n_axes, sizeof *sp->axes, by_name);
}

/* ---- points ---------------------------------------------------------------------------------------------------------------- */

void space_check_plainly(struct space *sp)
{
    if (!sp->model->plain) return;
    sp->walked = sp->model->many;
    sp->plain = *sp->model;
    sp->plain.desc = sp->model->plain;
    sp->plain.many = NULL;
    sp->model = &sp->plain;
}

void space_step(const struct space *sp, uint64_t *digits)
{
    for (size_t a = sp->n_axes; a-- > 0;) {
        if (++digits[a] < sp->axes[a].n) return;
        digits[a] = 0;
    }
}

void space_point_at(const struct space *sp, const uint64_t *digits, void *params)
{
    space_start_of_digits(sp, digits, params);
    if (sp->model->desc->resolve) sp->model->desc->resolve(params);
}

void space_point(const struct space *sp, uint64_t index, void *params)
{
    space_start_of(sp, index, params);
    if (sp->model->desc->resolve) sp->model->desc->resolve(params);
}

const char *space_axis_name(const struct space *sp, size_t a)
{
    return sp->axes[a].field->name;
}

bool space_is_sample(const struct space *sp)
{
    return sp->sampler != NULL;
}

uint64_t space_index(const struct space *sp, const uint64_t *digits)
{
    uint64_t index = 0;
    for (size_t a = 0; a < sp->n_axes; a++) index = index * sp->axes[a].n + digits[a];
    return index;
}

/* The point itself, or the one that has the row of its machine. */
static uint64_t original_of(const struct space *sp, uint64_t index)
{
    uint64_t digits[SPACE_AXES_MAX];
    if (!sp->n_twins) return index;
    space_digits(sp, index, digits);
    space_original(sp, digits);
    return space_index(sp, digits);
}

size_t space_neighbours(const struct space *sp, uint64_t index, uint64_t *ret)
{
    uint64_t digits[SPACE_AXES_MAX], stride = 1;
    size_t n = 0;
    if (sp->sampler) return 0;
    space_digits(sp, index, digits);
    for (size_t a = sp->n_axes; a-- > 0; stride *= sp->axes[a].n) {
        if (space_has_fronts_of(sp, sp->axes[a].field->name)) continue;
        if (digits[a] > 0) ret[n++] = original_of(sp, index - stride);
        if (digits[a] + 1 < sp->axes[a].n) ret[n++] = original_of(sp, index + stride);
    }
    return n;
}

/* A parameter varies if it changes along any axis alone: by being the axis, by a catalog name, or by resolve(). False, with an
 * error, if there is nothing at one of these points. */
static bool find_varying(struct space *sp, struct diags *diags)
{
    const struct schema *schema = &sp->model->params;
    uint64_t digits[SPACE_AXES_MAX] = {0};
    sp->varies = xcalloc(schema->n, sizeof *sp->varies);
    sp->fixed = xmalloc(sp->model->desc->params_size);
    space_point_at(sp, digits, sp->fixed);
    const size_t size = sp->model->desc->params_size;
    void *other = xmalloc(size), *seen = xmalloc(size); /* seen: the last one whose fields were looked at */
    bool ok = space_check_possible(sp->binding, sp->fixed, diags);
    for (size_t a = 0; a < sp->n_axes; a++) {
        const struct field *axis = sp->axes[a].field;
        sp->varies[schema_index(schema, axis)] = true;
        memcpy(seen, sp->fixed, size);
        for (uint64_t v = 1; v < sp->axes[a].n; v++) {
            digits[a] = v;
            space_point_at(sp, digits, other);
            ok = ok && space_check_possible(sp->binding, other, diags);
            field_set(axis, seen, field_get(axis, other));
            if (memcmp(seen, other, size) == 0) continue; /* nothing but the axis has changed: axes may have a million values */
            for (size_t i = 0; i < schema->n; i++)
                if (!sp->varies[i] && !field_same(&schema->fields[i], sp->fixed, other)) sp->varies[i] = true;
            memcpy(seen, other, size);
        }
        digits[a] = 0;
    }
    free(other);
    free(seen);
    return ok;
}

/* ---- columns ----------------------------------------------------------------------------------------------------------------- */

static void add_column(struct space *sp, const struct field *f, enum column_role role)
{
    sp->columns[sp->n_columns++] = (struct column){
        .name = f->name, .unit = f->unit, .doc = f->doc, .role = role, .type = f->type, .better = f->better, .field = f};
}

const char *const space_notes[] = {"quality", "beyond", "known_tokens", NULL};

static void add_notes(struct space *sp)
{
    static const char *const docs[] = {
        ("loss against exact attention: exact, rounded (but for the bits of weights and cache), measured, extended (beyond the "
         "contexts that were measured), other-llm (on another LLM with the same kind of attention), unknown; the worst that "
         "applies"),
        "what the row's numbers take from beyond what was measured: profile or law, and its range",
        "share of the tokens whose quality is known; of the others nobody measured it",
    };
    for (size_t i = 0; space_notes[i] && (i < 2 || sp->mix); i++)
        sp->columns[sp->n_columns++] = (struct column){
            .name = space_notes[i], .unit = "", .doc = docs[i], .role = COLUMN_NOTE, .type = i < 2 ? DSE_TYPE_ENUM : DSE_TYPE_F64};
}

static void make_columns(struct space *sp)
{
    const struct schema *params = &sp->model->params, *metrics = &sp->metrics;
    enum { NOTES = 3 };
    sp->columns = xcalloc(params->n + metrics->n + sp->sweep->n_derived + NOTES, sizeof *sp->columns);
    for (size_t i = 0; i < params->n; i++)
        if (sp->varies[i]) add_column(sp, &params->fields[i], COLUMN_PARAM);
    for (size_t i = 0; i < metrics->n; i++) add_column(sp, &metrics->fields[i], COLUMN_METRIC);
    sp->derived_at = sp->n_columns;
    for (size_t i = 0; i < sp->sweep->n_derived; i++)
        sp->columns[sp->n_columns++] = (struct column){.name = sp->sweep->derived[i].name,
                                                       .unit = "",
                                                       .doc = sp->sweep->derived[i].expr,
                                                       .role = COLUMN_DERIVED,
                                                       .type = DSE_TYPE_F64};
    add_notes(sp);
}

/* ---- the space ----------------------------------------------------------------------------------------------------------- */

static void make_reasons(struct space *sp)
{
    sp->constraint_reasons = xcalloc(sp->sweep->n_constraints, sizeof *sp->constraint_reasons);
    for (size_t i = 0; i < sp->sweep->n_constraints; i++)
        sp->constraint_reasons[i] = xasprintf("constraint %s: %s", sp->sweep->constraints[i].name, sp->sweep->constraints[i].expr);
}

struct space *space_new(const struct sweep_file *s, size_t m, uint64_t max_points, struct diags *diags)
{
    const struct binding *b = s->bindings[m];
    bool ok = space_check(s, m, diags);
    if (!check_count(s, b, max_points, diags) || !check_axes(s, b, diags) || !ok) return NULL;
    struct space *sp = xcalloc(1, sizeof *sp);
    sp->sweep = s;
    sp->index = m;
    sp->binding = b;
    sp->model = b->model;
    sp->count = space_points_of(s, m);
    metrics_with_added(s, sp->model, &sp->metrics);
    sp->baseline = baseline_new(s, sp->model);
    sp->mix = mix_new(s, sp->model);
    sp->base = space_start(b);
    if (sp->mix) mix_set_mean(sp->mix, sp->base);
    make_axes(sp);
    space_find_twins(sp);
    if (s->sample.method != SAMPLE_GRID)
        sp->sampler = sampler_new(&s->sample, sp->n_axes, has_continuous(b) ? UINT64_MAX : space_count_of(b));
    ok = find_varying(sp, diags) && space_check_equal(sp, diags);
    make_columns(sp);
    make_reasons(sp);
    for (int i = 0; i < BUDGET_METRICS; i++) {
        const bool limited = budget_limits(&s->budget, (enum budget_metric)i);
        sp->budgeted[i] = limited ? schema_find(&sp->metrics, budget_metrics[i]) : NULL;
    }
    space_find_applying(sp);
    if (ok) return sp;
    space_free(sp);
    return NULL;
}

static void free_strings(char **list, size_t n)
{
    for (size_t i = 0; list && i < n; i++) free(list[i]);
    free(list);
}

void space_free(struct space *sp)
{
    if (!sp) return;
    for (size_t a = 0; a < sp->n_axes; a++) free(sp->axes[a].follows.follows);
    free_strings(sp->constraint_reasons, sp->sweep->n_constraints);
    schema_release(&sp->metrics);
    sampler_free(sp->sampler);
    baseline_free(sp->baseline);
    mix_free(sp->mix);
    space_free_twins(sp);
    free(sp->axes);
    free(sp->base);
    free(sp->fixed);
    free(sp->varies);
    free(sp->columns);
    free(sp->constraint_applies);
    free(sp->derived_applies);
    free(sp);
}

size_t space_axes(const struct space *sp)
{
    return sp->n_axes;
}

struct space_axis space_axis(const struct space *sp, size_t axis)
{
    const struct axis *a = &sp->axes[axis];
    return (struct space_axis){a->field, a->n, a->values};
}

uint64_t space_count(const struct space *sp)
{
    return sp->count;
}

const struct model *space_model(const struct space *sp)
{
    return sp->model;
}

const struct schema *space_metrics(const struct space *sp)
{
    return &sp->metrics;
}

size_t space_metrics_size(const struct space *sp)
{
    return added_size(sp->model);
}

const struct column *space_columns(const struct space *sp, size_t *ret_n)
{
    *ret_n = sp->n_columns;
    return sp->columns;
}

bool space_constraint_applies(const struct space *sp, size_t i)
{
    return sp->constraint_applies[i];
}

bool space_derived_applies(const struct space *sp, size_t i)
{
    return sp->derived_applies[i];
}

bool space_baseline_takes(const struct space *sp, size_t param)
{
    return sp->baseline && baseline_takes(sp->baseline, param);
}

char *space_baseline_over_budget(const struct space *sp)
{
    return sp->baseline ? baseline_over_budget(sp->baseline, &sp->sweep->budget, sp->fixed) : NULL;
}

const struct request_mix *space_requests(const struct space *sp)
{
    return sp->mix ? &sp->sweep->requests : NULL;
}

const char *space_requests_text(const struct space *sp)
{
    return sp->mix ? sp->sweep->requests_text : NULL;
}

bool space_varies(const struct space *sp, size_t param)
{
    return sp->varies[param];
}

const void *space_fixed(const struct space *sp)
{
    return sp->fixed;
}

size_t space_column(const struct space *sp, const char *name)
{
    for (size_t i = 0; i < sp->n_columns; i++)
        if (strcmp(sp->columns[i].name, name) == 0) return i;
    return SIZE_MAX;
}
