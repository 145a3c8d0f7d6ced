/* The hash of a space: everything that its rows depend on, written as canonical text and hashed as it goes. */
#include "space/space_internal.h"

#include "config/catalog_kinds.h"
#include "quality/quality.h"
#include "workload/measured.h"
#include "workload/task.h"

#include <dse/costs.h>
#include <dse/hw.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add_text(uint64_t *h, const char *s)
{
    *h = text_hash(*h, s, strlen(s) + 1);
}

static void add_number(uint64_t *h, double v)
{
    char buf[TEXT_NUMBER_MAX];
    add_text(h, text_number(buf, v));
}

static void add_numbers(uint64_t *h, const double *v, size_t n)
{
    for (size_t i = 0; i < n; i++) add_number(h, v[i]);
}

static void add_pattern(uint64_t *h, const struct field *f, const struct dse_pattern *p)
{
    struct text t;
    text_init(&t);
    pattern_text(f, p, &t);
    add_text(h, t.s);
    text_release(&t);
}

enum { SAMPLES = 32 }; /* how many points of a curve, beside its first, stand for it */

static void add_measured(uint64_t *h, const struct dse_measured *m)
{
    char *text = measured_text(m);
    add_text(h, text);
    free(text);
}

static void add_retention(uint64_t *h, const struct dse_retention *r)
{
    add_measured(h, dse_retention_measured(r));
    const char *policy;
    for (size_t i = 0; (policy = dse_retention_policy(r, i)) != NULL; i++) {
        double lo, hi;
        dse_retention_range(r, policy, &lo, &hi);
        add_text(h, policy);
        for (int c = 0; c <= SAMPLES; c++)
            for (int k = 1; k < SAMPLES; k++) {
                struct dse_retained at = {(double)NAN, (double)NAN};
                dse_retention_at(r, policy, lo + (hi - lo) * c / SAMPLES, (double)k / SAMPLES, &at);
                add_number(h, at.mass);
                add_number(h, at.error);
            }
    }
}

static void add_recording(uint64_t *h, const struct dse_recording *r)
{
    size_t n, heads = dse_recording_heads(r), steps = dse_recording_steps(r);
    const double *contexts = dse_recording_contexts(r, &n);
    add_measured(h, dse_recording_measured(r));
    for (size_t i = 0; i < n * heads * steps; i++) {
        double context = contexts[i / steps / heads];
        struct dse_recorded at = dse_recording_at(r, context, i / steps % heads, i % steps);
        const double v[] = {context, at.centers, at.large, at.active, at.updates, at.hits};
        add_numbers(h, v, sizeof v / sizeof *v);
    }
}

static void add_profile(uint64_t *h, const struct dse_profile *p)
{
    double lo, hi;
    dse_profile_range(p, &lo, &hi);
    add_measured(h, dse_profile_measured(p));
    for (int i = 0; i <= SAMPLES; i++) {
        double context = lo + (hi - lo) * i / SAMPLES;
        struct dse_locality l = dse_profile_at(p, context);
        const double v[] = {l.centers, l.large, l.active, l.updates, l.hit_ratio};
        add_numbers(h, v, sizeof v / sizeof *v);
        struct dse_locality_error e = dse_profile_error_at(p, context);
        if (isnan(e.attention_error)) continue;
        add_number(h, e.attention_error);
        add_number(h, e.false_negative);
    }
}

static void add_quality_number(void *user, double v)
{
    add_number(user, v);
}

static void add_quality(uint64_t *h, const struct dse_quality *q)
{
    const struct dse_quality_surface *s;
    add_measured(h, quality_measured(q));
    for (size_t i = 0; (s = dse_quality_surface_at(q, i)) != NULL; i++) add_text(h, dse_surface_method(s));
    quality_numbers(q, add_quality_number, h);
}

static void add_task(uint64_t *h, const struct dse_task *t)
{
    for (size_t i = 0; i < t->n; i++) {
        const struct task_row *r = &t->rows[i];
        const double v[] = {r->ratio, r->value, r->reference, r->more};
        add_text(h, r->method);
        add_text(h, r->llm);
        add_numbers(h, v, sizeof v / sizeof *v);
        add_numbers(h, r->setting, DSE_SETTINGS);
    }
}

static void add_costs(uint64_t *h, const struct dse_costs *book)
{
    for (int id = 0; id < DSE_CONSTANT_COUNT; id++)
        for (int y = 0; y < DSE_PRICE_YEARS; y++)
            for (int band = 0; band < DSE_BANDS; band++) add_number(h, dse_constant(book, id, band, DSE_PRICE_YEAR_FIRST + y));
}

static void add_technology(uint64_t *h, const struct dse_technology *t)
{
    const double v[] = {t->node_nm, t->vdd_v, t->area, t->energy, t->delay, t->power};
    add_numbers(h, v, sizeof v / sizeof *v);
    if (!isnan(t->sram_area)) add_number(h, t->sram_area);
}

static void add_sram(uint64_t *h, const struct dse_sram_table *t)
{
    double lo, hi;
    dse_sram_range(t, &lo, &hi);
    for (int i = 0; i <= SAMPLES; i++) {
        struct dse_sram s;
        if (dse_sram_at(t, lo + (hi - lo) * i / SAMPLES, 256, &s)) add_number(h, s.area_mm2);
    }
}

static void add_kinds(uint64_t *h, const struct dse_llm *llm)
{
    struct text t;
    text_init(&t);
    catalog_write_layer_kinds(llm, &t);
    catalog_write_kinds(llm, "", &t);
    if (t.n > 0) add_text(h, t.s);
    text_release(&t);
}

/* The contents of an entry, so that a changed catalog is a changed sweep: its fields, and what they do not tell. */
static void add_entry(uint64_t *h, const struct catalog *catalog, enum dse_kind kind, const struct dse_entry *entry)
{
    add_text(h, entry->name);
    const struct schema *fields = catalog_fields(catalog, kind);
    for (size_t i = 0; i < fields->n; i++) {
        const struct field *f = &fields->fields[i];
        char buf[TEXT_NUMBER_MAX];
        if (f->type == DSE_TYPE_PATTERN)
            add_pattern(h, f, field_get(f, entry).pattern);
        else
            add_text(h, value_text(f, field_get(f, entry), buf));
    }
    switch (kind) {
    case DSE_KIND_LLM: add_kinds(h, (const void *)entry); break;
    case DSE_KIND_PROFILE: add_profile(h, (const void *)entry); break;
    case DSE_KIND_RETENTION: add_retention(h, (const void *)entry); break;
    case DSE_KIND_RECORDING: add_recording(h, (const void *)entry); break;
    case DSE_KIND_TASK: add_task(h, (const void *)entry); break;
    case DSE_KIND_QUALITY: add_quality(h, (const void *)entry); break;
    case DSE_KIND_COSTS: add_costs(h, (const void *)entry); break;
    case DSE_KIND_TECHNOLOGY: add_technology(h, (const void *)entry); break;
    case DSE_KIND_SRAM: add_sram(h, (const void *)entry); break;
    default: break;
    }
}

static void add_value(uint64_t *h, const struct catalog *catalog, const struct field *f, struct value v)
{
    char buf[TEXT_NUMBER_MAX];
    if (f->type == DSE_TYPE_REF)
        add_entry(h, catalog, f->kind, v.ref);
    else
        add_text(h, value_text(f, v, buf));
}

static void add_expressions(uint64_t *h, const char *section, const struct named_expr *list, size_t n)
{
    add_text(h, section);
    for (size_t i = 0; i < n; i++) {
        add_text(h, list[i].name);
        add_text(h, list[i].expr);
    }
}

/* The baseline before resolve(): what it takes from the points has a name and no value. */
static void add_baseline(uint64_t *h, const struct space *sp)
{
    const struct binding *b = sp->sweep->baseline;
    add_text(h, "baseline");
    add_text(h, b->model->desc->name);
    add_number(h, b->model->desc->version);
    for (size_t i = 0; i < b->model->params.n; i++) {
        add_text(h, b->model->params.fields[i].name);
        if (baseline_takes(sp->baseline, i))
            add_text(h, "of the point");
        else
            add_value(h, b->catalog, &b->model->params.fields[i], baseline_value(sp->baseline, i));
    }
}

/* The very requests, so that a changed catalog entry is another sweep. */
static void add_requests(uint64_t *h, const struct request_mix *mix)
{
    add_text(h, "requests");
    for (size_t i = 0; i < mix->n; i++) {
        add_number(h, mix->requests[i].share);
        add_number(h, (double)mix->requests[i].prompt);
        add_number(h, (double)mix->requests[i].generate);
    }
}

static void add_sample(uint64_t *h, const struct sample_section *s)
{
    add_text(h, sample_names[s->method]);
    add_number(h, (double)s->points);
    *h = text_hash(*h, &s->seed, sizeof s->seed);
    if (s->scramble) add_text(h, "scrambled");
}

uint64_t space_hash(const struct space *sp)
{
    uint64_t h = TEXT_HASH_INIT;
    const struct schema *params = &sp->model->params;
    const struct catalog *catalog = sp->binding->catalog;
    add_text(&h, sp->model->desc->name);
    add_number(&h, sp->model->desc->version);
    for (size_t i = 0; i < params->n; i++) {
        if (sp->varies[i]) continue;
        add_text(&h, params->fields[i].name);
        add_value(&h, catalog, &params->fields[i], field_get(&params->fields[i], sp->fixed));
    }
    for (size_t a = 0; a < sp->n_axes; a++) {
        add_text(&h, sp->axes[a].field->name);
        if (sp->axes[a].continuous) add_text(&h, sp->axes[a].log ? "log" : "linear");
        for (uint64_t v = 0; v < sp->axes[a].n; v++) add_value(&h, catalog, sp->axes[a].field, sp->axes[a].values[v]);
    }
    add_expressions(&h, "constraints", sp->sweep->constraints, sp->sweep->n_constraints);
    if (sp->sweep->known_quality) add_text(&h, "quality known");
    char *budget = budget_text(&sp->sweep->budget);
    add_text(&h, budget);
    free(budget);
    add_expressions(&h, "derive", sp->sweep->derived, sp->sweep->n_derived);
    if (sp->sampler) add_sample(&h, &sp->sweep->sample);
    if (sp->baseline) add_baseline(&h, sp);
    if (sp->mix) add_requests(&h, space_requests(sp));
    return h;
}
