/* Points of a model, evaluated into columns. */
#include "library/library.h"

#include "base/xalloc.h"
#include "model/nulls.h"
#include "space/batch.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct dse_points {
    struct dse *dse; /* it owns a share of it */
    const struct model *model;
    struct binding *binding; /* what is set is given in it */
    enum fidelity fidelity;
    struct batch *batch; /* of the last evaluation: the next may be of the same parameters; or NULL */
    const struct field **told;
    size_t n_told;
    char **texts; /* reasons of the last evaluation, made for it */
    size_t n_texts;
};

static void forget_texts(struct dse_points *p)
{
    for (size_t i = 0; i < p->n_texts; i++) free(p->texts[i]);
    p->n_texts = 0;
}

static void forget_batch(struct dse_points *p)
{
    batch_free(p->batch);
    free(p->told);
    p->batch = NULL;
    p->told = NULL;
}

struct dse_points *dse_points_new(const struct dse *d, const char *model, struct dse_problems *problems)
{
    struct call call;
    struct diags *diags = call_begin(&call, problems);
    struct dse_points *p = xcalloc(1, sizeof *p);
    p->model = library_model(d, model, diags);
    if (p->model) {
        p->dse = d->self;
        atomic_fetch_add(&p->dse->owners, 1);
        p->binding = binding_new(p->model, d->catalog, d->data_dir, diags);
    }
    call_end(&call);
    if (p->binding) return p;
    dse_points_free(p);
    return NULL;
}

void dse_points_free(struct dse_points *p)
{
    if (!p) return;
    forget_texts(p);
    forget_batch(p);
    free(p->texts);
    binding_free(p->binding);
    library_release(p->dse);
    free(p);
}

/* ---- what all points have ---------------------------------------------------------------------------------------------------- */

static bool have(const struct dse_points *p, const char *name, const char *what, struct diags *diags)
{
    return library_given(p, "the struct dse_points", diags) && library_given(name, what, diags);
}

static bool set(struct dse_points *p, const char *name, const char *value, struct diags *diags)
{
    if (!have(p, name, "the name of the parameter", diags)) return false;
    const struct field *f = schema_find(&p->model->params, name);
    if (!f) {
        const char **names = schema_names(&p->model->params);
        char *what = xasprintf("%s has no parameter", p->model->desc->name);
        library_unknown(what, name, names, p->model->params.n, diags);
        free(what);
        free(names);
        return false;
    }
    struct given *g = &p->binding->given[schema_index(&p->model->params, f)], before = *g;
    *g = (struct given){0};
    char *assignment = value ? xasprintf("%s=%s", name, value) : NULL;
    const bool ok = !value || binding_set_text(p->binding, assignment, diags);
    if (ok)
        binding_discard(p->binding, &before);
    else
        *g = before;
    free(assignment);
    forget_batch(p);
    return ok;
}

bool dse_points_set(struct dse_points *p, const char *name, const char *value, struct dse_problems *problems)
{
    struct call call;
    const bool ok = set(p, name, value, call_begin(&call, problems));
    call_end(&call);
    return ok;
}

static bool set_fidelity(struct dse_points *p, const char *fidelity, struct diags *diags)
{
    if (!have(p, fidelity, "the fidelity", diags)) return false;
    for (size_t i = 0; i < FIDELITIES; i++) {
        if (strcmp(fidelity, fidelity_names[i]) != 0 || !fidelity_of_model(p->model->desc, (enum fidelity)i)) continue;
        p->fidelity = (enum fidelity)i;
        forget_batch(p);
        return true;
    }
    return diags_input(diags, (struct srcloc){0}, NULL, fidelities_text(p->model->desc), "model %s has no fidelity \"%s\"",
                       p->model->desc->name, fidelity);
}

bool dse_points_set_fidelity(struct dse_points *p, const char *fidelity, struct dse_problems *problems)
{
    struct call call;
    const bool ok = set_fidelity(p, fidelity, call_begin(&call, problems));
    call_end(&call);
    return ok;
}

/* ---- columns ----------------------------------------------------------------------------------------------------------------- */

/* What an output is filled with: a field of the parameters or metrics by its type, or what is said of the row. */
enum source {
    FROM_NOTHING,
    FROM_F64,
    FROM_I64,
    FROM_CHOICE,
    FROM_ENTRY,
    FROM_STATUS,
    FROM_REASON,
    FROM_QUALITY,
    FROM_BEYOND,
    FROM_UNKNOWN,
    FROM_NULLS,
    FROM_FIDELITY
};

/* The names of those that are no fields, from FROM_STATUS on. */
static const char *const said[] = {"status", "reason", "quality", "beyond", "why_unknown", "why_null", "fidelity"};
enum { SAID = sizeof said / sizeof *said };
_Static_assert(FROM_STATUS + SAID == FROM_FIDELITY + 1, "all that is said has a name");

struct filled {
    enum source source;
    bool of_params; /* a field of the parameters, not of the metrics */
    size_t offset;
    const char *const *choices;
};

/* One evaluation. */
struct evaluation {
    struct dse_points *points;
    const struct dse_input *inputs;
    const struct dse_output *outputs;
    size_t n_inputs, n_outputs;
    const struct field **told; /* of the inputs */
    char **refusals;           /* of the inputs: made when the first value is refused */
    struct filled *filled;     /* of the outputs */
    const char **last;         /* of the inputs that are texts: the one told last */
};

static bool names_error(const struct evaluation *e, const char *what, const char *name, struct diags *diags)
{
    const struct model *m = e->points->model;
    const size_t n = m->params.n + m->metrics.n;
    const char **names = xcalloc(n + SAID, sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = i < m->params.n ? m->params.fields[i].name : m->metrics.fields[i - m->params.n].name;
    memcpy(names + n, said, sizeof said);
    library_unknown(what, name, names, n + SAID, diags);
    free(names);
    return false;
}

static bool column_error(const char *name, const char *what, struct diags *diags)
{
    return diags_input(diags, (struct srcloc){0}, NULL, NULL, "%s: %s", name, what);
}

static bool check_inputs(struct evaluation *e, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < e->n_inputs; i++) {
        const struct dse_input *in = &e->inputs[i];
        if (!library_given(in->name, "the name of an input", diags)) return false;
        const struct field *f = e->told[i] = schema_find(&e->points->model->params, in->name);
        if (!f) {
            ok = names_error(e, "there is no parameter", in->name, diags);
            continue;
        }
        if (field_is_number(f) ? !in->numbers || in->texts : !in->texts || in->numbers)
            ok = column_error(f->name, field_is_number(f) ? "numbers are needed, and no texts" : "texts are needed, and no numbers",
                              diags);
        if (binding_gives(e->points->binding, f)) ok = column_error(f->name, "it is set for all points already", diags);
        for (size_t k = 0; k < i; k++)
            if (e->told[k] == f) ok = column_error(f->name, "it is an input twice", diags);
    }
    return ok;
}

static struct filled field_source(const struct field *f, bool of_params)
{
    static const enum source sources[] = {
        [DSE_TYPE_F64] = FROM_F64, [DSE_TYPE_I64] = FROM_I64, [DSE_TYPE_ENUM] = FROM_CHOICE, [DSE_TYPE_REF] = FROM_ENTRY};
    return (struct filled){f->without ? FROM_NOTHING : sources[f->type], of_params, f->offset, f->choices};
}

/* What fills the column of that name. False: there is no such column. */
static bool find_source(const struct model *m, const char *name, struct filled *ret, bool *ret_number)
{
    const struct field *param = schema_find(&m->params, name), *f = param ? param : schema_find(&m->metrics, name);
    *ret_number = field_is_number(f);
    if (f) *ret = field_source(f, param != NULL);
    for (size_t i = 0; !f && i < SAID; i++) {
        if (strcmp(name, said[i]) != 0) continue;
        *ret = (struct filled){.source = (enum source)(FROM_STATUS + i)};
        return true;
    }
    return f != NULL;
}

static bool check_outputs(struct evaluation *e, struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < e->n_outputs; i++) {
        const struct dse_output *out = &e->outputs[i];
        bool number;
        if (!library_given(out->name, "the name of an output", diags)) return false;
        if (!find_source(e->points->model, out->name, &e->filled[i], &number))
            ok = names_error(e, "there is no parameter or metric", out->name, diags);
        else if (number ? !out->numbers || out->texts : !out->texts || out->numbers)
            ok = column_error(out->name, number ? "it is numbers, and no texts" : "it is texts, and no numbers", diags);
    }
    return ok;
}

/* ---- points ------------------------------------------------------------------------------------------------------------------ */

static bool tell_text(struct evaluation *e, struct batch *b, size_t i, const char *text)
{
    struct value v;
    if (text && text == e->last[i]) return true; /* the same string, and told already */
    e->last[i] = NULL;
    if (!text || !value_of_text(e->told[i], e->points->dse->catalog, text, &v)) return false;
    batch_tell(b, i, v);
    e->last[i] = text;
    return true;
}

/* Tell the batch the inputs of point k. NULL, or why one of them cannot be. */
static const char *tell(struct evaluation *e, struct batch *b, size_t k)
{
    for (size_t i = 0; i < e->n_inputs; i++) {
        const struct dse_input *in = &e->inputs[i];
        if (in->numbers ? batch_tell_number(b, i, in->numbers[k]) : tell_text(e, b, i, in->texts[k])) continue;
        if (!e->refusals[i]) e->refusals[i] = value_refusal(e->told[i]);
        return e->refusals[i];
    }
    return NULL;
}

static const char *keep(struct dse_points *p, const char *text)
{
    if (p->n_texts && strcmp(p->texts[p->n_texts - 1], text) == 0) return p->texts[p->n_texts - 1];
    p->texts = xrealloc(p->texts, p->n_texts + 1, sizeof *p->texts);
    return p->texts[p->n_texts++] = xstrdup(text);
}

/* Fill in point k of an output that is a field of `object`; NULL: there is none. */
static void put_field(const struct filled *f, const struct dse_output *out, size_t k, const void *object)
{
    const char *at = object ? (const char *)object + f->offset : NULL;
    const enum source source = at ? f->source : FROM_NOTHING;
    int64_t i64;
    int32_t choice;
    const struct dse_entry *entry;
    switch (source) {
    case FROM_F64: memcpy(&out->numbers[k], at, sizeof(double)); break;
    case FROM_I64:
        memcpy(&i64, at, sizeof i64);
        out->numbers[k] = (double)i64;
        break;
    case FROM_CHOICE:
        memcpy(&choice, at, sizeof choice);
        out->texts[k] = f->choices[choice];
        break;
    case FROM_ENTRY:
        memcpy(&entry, at, sizeof entry);
        out->texts[k] = entry->name;
        break;
    default:
        if (out->numbers)
            out->numbers[k] = (double)NAN;
        else
            out->texts[k] = NULL;
    }
}

/* What is said of a point that is ok. */
static const char *say(const struct evaluation *e, struct batch *b, enum source source)
{
    if (source == FROM_STATUS) return "ok";
    if (source == FROM_REASON) return NULL;
    if (source == FROM_NULLS) {
        char *nulls = nulls_text(e->points->model, &e->points->model->metrics, batch_params(b), batch_metrics(b), NULL);
        const char *ret = *nulls ? keep(e->points, nulls) : NULL;
        free(nulls);
        return ret;
    }
    const struct standing s = batch_standing(b);
    const char *text = source == FROM_QUALITY ? s.quality : source == FROM_BEYOND ? s.beyond : s.unknown;
    return text && source != FROM_QUALITY ? keep(e->points, text) : text;
}

/* Fill in point k. invalid: why it was not evaluated, or NULL. */
static void fill(const struct evaluation *e, struct batch *b, size_t k, const char *invalid, enum batch_end end)
{
    const bool ok = !invalid && end == BATCH_OK;
    const void *params = invalid ? NULL : batch_params(b), *metrics = ok ? batch_metrics(b) : NULL;
    for (size_t i = 0; i < e->n_outputs; i++) {
        const struct dse_output *out = &e->outputs[i];
        const struct filled *f = &e->filled[i];
        if (f->source < FROM_STATUS)
            put_field(f, out, k, f->of_params ? params : metrics);
        else if (f->source == FROM_FIDELITY)
            out->texts[k] = fidelity_of_row(e->points->fidelity, ok && batch_is_measured(b));
        else if (ok)
            out->texts[k] = say(e, b, f->source);
        else if (f->source == FROM_STATUS)
            out->texts[k] = invalid ? "invalid" : "infeasible";
        else
            out->texts[k] = f->source == FROM_REASON ? keep(e->points, invalid ? invalid : batch_reason(b)) : NULL;
    }
}

/* Have a batch with these inputs: that of the last evaluation, if it will do. */
static bool have_batch(const struct evaluation *e, struct diags *diags)
{
    struct dse_points *p = e->points;
    const struct schema *params = &p->model->params;
    const size_t bytes = e->n_inputs * sizeof(const struct field *);
    if (p->batch && p->n_told == e->n_inputs && memcmp(p->told, e->told, bytes) == 0) return true;
    forget_batch(p);
    struct setting *fixed = xcalloc(params->n, sizeof *fixed);
    size_t n = 0;
    for (size_t i = 0; i < params->n; i++)
        if (p->binding->given[i].is_given) fixed[n++] = (struct setting){&params->fields[i], p->binding->given[i].values[0]};
    p->batch = batch_new(p->binding, fixed, n, e->told, e->n_inputs, p->fidelity, NULL, diags);
    p->n_told = e->n_inputs;
    p->told = xcalloc(p->n_told, sizeof *p->told);
    memcpy(p->told, e->told, bytes);
    free(fixed);
    return p->batch != NULL;
}

/* Points from `first` on, at once where the model can. */
static bool evaluate_some(struct evaluation *e, size_t first, size_t n, struct diags *diags)
{
    struct batch *b = e->points->batch;
    const char *invalid[BATCH_KEPT_MAX];
    const bool keeps = batch_keeps(b);
    for (size_t i = 0; i < n && keeps; i++) {
        invalid[i] = tell(e, b, first + i);
        if (!invalid[i]) batch_keep(b);
    }
    if (keeps) batch_run_kept(b);
    for (size_t i = 0, kept = 0; i < n; i++) {
        if (!keeps) invalid[i] = tell(e, b, first + i);
        const enum batch_end end = invalid[i] ? BATCH_INFEASIBLE : keeps ? batch_take(b, kept++) : batch_run(b);
        if (end == BATCH_BUG) return diags_runtime(diags, NULL, "%s, at point %zu", batch_reason(b), first + i);
        fill(e, b, first + i, invalid[i], end);
    }
    return true;
}

static bool evaluate(struct evaluation *e, size_t n, struct diags *diags)
{
    struct dse_points *p = e->points;
    if (!library_given(p, "the struct dse_points", diags) || (e->n_inputs && !library_given(e->inputs, "the inputs", diags)) ||
        (e->n_outputs && !library_given(e->outputs, "the outputs", diags)))
        return false;
    forget_texts(p);
    const bool inputs = check_inputs(e, diags);
    if (!check_outputs(e, diags) || !inputs || !have_batch(e, diags)) return false;
    bool ok = true;
    for (size_t k = 0; k < n && ok; k += BATCH_KEPT_MAX)
        ok = evaluate_some(e, k, n - k < BATCH_KEPT_MAX ? n - k : BATCH_KEPT_MAX, diags);
    return ok;
}

bool dse_points_evaluate(struct dse_points *p, size_t n, const struct dse_input *inputs, size_t n_inputs,
                         const struct dse_output *outputs, size_t n_outputs, struct dse_problems *problems)
{
    struct call call;
    struct evaluation e = {.points = p, .inputs = inputs, .outputs = outputs, .n_inputs = n_inputs, .n_outputs = n_outputs};
    e.told = xcalloc(n_inputs, sizeof *e.told);
    e.last = xcalloc(n_inputs, sizeof *e.last);
    e.refusals = xcalloc(n_inputs, sizeof *e.refusals);
    e.filled = xcalloc(n_outputs, sizeof *e.filled);
    const bool ok = evaluate(&e, n, call_begin(&call, problems));
    for (size_t i = 0; i < n_inputs; i++) free(e.refusals[i]);
    free(e.filled);
    free(e.refusals);
    free(e.last);
    free(e.told);
    call_end(&call);
    return ok;
}
