#include "space/mix.h"

#include "base/xalloc.h"
#include "space/many_list.h"

#include <dse/units.h>
#include <dse/workload.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct mix {
    const struct request_mix *requests;
    const struct model *model;
    const struct field *phase, *context, *prompt, *generate;        /* NULL: the model has no such parameter */
    const struct field *draft, *chunk, *spread;                     /* of decode steps alone */
    const struct field *rate, *latency, *attention, *energy, *chip; /* or metric */
    const struct field *usd;                                        /* NULL: what a request costs is not known */
    size_t *choices;                                                /* where those of a metric that is a name begin, one a metric */
    size_t n_choices;                                               /* of all together */
};

static const struct field *dollars_of(const struct model *m)
{
    const struct field *usd = schema_find(&m->metrics, "usd_per_mtoken");
    return usd && !usd->without && schema_find(&m->params, "phase") ? usd : NULL;
}

bool mix_knows_dollars(const struct model *m)
{
    return dollars_of(m) != NULL;
}

struct mix *mix_new(const struct sweep_file *s, const struct model *m)
{
    if (s->requests.n == 0) return NULL;
    struct mix *mix = xcalloc(1, sizeof *mix);
    *mix = (struct mix){.requests = &s->requests,
                        .model = m,
                        .phase = schema_find(&m->params, "phase"),
                        .context = schema_find(&m->params, "context"),
                        .prompt = schema_find(&m->params, "prompt"),
                        .generate = schema_find(&m->params, "generate"),
                        .draft = schema_find(&m->params, "draft_tokens"),
                        .chunk = schema_find(&m->params, "chunk_tokens"),
                        .spread = schema_find(&m->params, "context_spread"),
                        .usd = dollars_of(m),
                        .rate = schema_find(&m->metrics, "tokens_per_s"),
                        .latency = schema_find(&m->metrics, "latency_us"),
                        .attention = schema_find(&m->metrics, "attention_us"),
                        .energy = schema_find(&m->metrics, "energy_mj"),
                        .chip = schema_find(&m->metrics, "chip_power_w")};
    mix->choices = xcalloc(m->metrics.n, sizeof *mix->choices);
    for (size_t i = 0; i < m->metrics.n; i++) {
        mix->choices[i] = mix->n_choices;
        for (const char *const *c = m->metrics.fields[i].choices; c && *c; c++) mix->n_choices++;
    }
    return mix;
}

void mix_free(struct mix *mix)
{
    if (!mix) return;
    free(mix->choices);
    free(mix);
}

/* ---- one request ------------------------------------------------------------------------------------------------------------ */

static bool is_prefill(const struct mix *mix, const void *params)
{
    return mix->phase && field_get(mix->phase, params).choice == DSE_PREFILL;
}

static void set_integer(const struct field *f, void *params, int64_t v)
{
    if (f) field_set(f, params, (struct value){.i64 = v});
}

static void set_request(const struct mix *mix, const struct mixed_request *q, void *params)
{
    set_integer(mix->prompt, params, q->prompt);
    set_integer(mix->generate, params, q->generate);
    set_integer(mix->context, params, is_prefill(mix, params) ? q->prompt : request_context(q));
}

void mix_set_mean(const struct mix *mix, void *params)
{
    struct request_point mean = request_mix_mean(mix->requests);
    struct mixed_request q = {.share = 1, .prompt = llround(mean.prompt), .generate = llround(mean.generate)};
    set_request(mix, &q, params);
}

/* The value of a metric; NaN where the model does not have it. */
static double number(const struct field *f, const void *metrics)
{
    return f && !f->without ? field_number(f, metrics) : (double)NAN;
}

/* How much of everything the request takes. NaN where the metrics that tell it are no positive numbers. */
static void weigh(const struct mix *mix, const struct mixed_request *q, const void *params, const void *metrics,
                  double ret[DSE_MEAN_COUNT])
{
    double rate = number(mix->rate, metrics), latency_s = number(mix->latency, metrics) / DSE_US_PER_S;
    double tokens = q->share * (double)(is_prefill(mix, params) ? q->prompt : q->generate);
    bool known = rate > 0 && latency_s > 0;
    double seconds = known ? tokens / rate : (double)NAN, steps = known ? seconds / latency_s : (double)NAN;
    ret[DSE_MEAN_TIME] = seconds;
    ret[DSE_MEAN_STEP] = steps;
    ret[DSE_MEAN_TOKEN] = tokens;
    ret[DSE_MEAN_ATTENTION] = steps * number(mix->attention, metrics);
    ret[DSE_MEAN_ENERGY] = tokens * number(mix->energy, metrics);
    ret[DSE_MEAN_CHIP] = seconds * number(mix->chip, metrics);
    ret[DSE_MEAN_REQUEST] = q->share;
    ret[DSE_MEAN_LARGEST] = ret[DSE_MEAN_BY_UNIT] = 0;
}

/* ---- reasons ---------------------------------------------------------------------------------------------------------------- */

/* A reason that a request was refused with. The model's are constants: the pointer tells them apart. */
struct said {
    const char *reason;
    char *text;
    struct said *next;
};

struct mixer {
    const struct mix *mix;
    struct runner *runner;
    struct judge *judge;
    void *params, *metrics;         /* of one request */
    struct many_list *own, *others; /* requests in the phase of the row, and in the other; NULL: they are run one by one */
    double *mean;                   /* one a metric; unused for names */
    double *known;                  /* the weight of what is in it, of a metric that may be NULL */
    double *choices;                /* the weight of each value that a name can have */
    double total[DSE_MEAN_COUNT];
    bool serves; /* what requests cost is asked for, and can be known */
    void *other; /* metrics of the request's other phase */
    struct served_sum served;
    struct said **said; /* one list a request */
};

static const char *say(struct mixer *r, size_t request, const char *reason)
{
    struct said **at = &r->said[request];
    for (; *at; at = &(*at)->next)
        if ((*at)->reason == reason) return (*at)->text;
    const struct mixed_request *q = &r->mix->requests->requests[request];
    *at = xcalloc(1, sizeof **at);
    (*at)->reason = reason;
    (*at)->text = xasprintf("request of %lld + %lld tokens: %s", (long long)q->prompt, (long long)q->generate, reason);
    return (*at)->text;
}

/* ---- requests at once -------------------------------------------------------------------------------------------------------- */

enum { AT_ONCE_MIN = 8 /* requests */ };

/* Requests stand on one axis: what does not depend on them is computed once for all. */
static struct many_list *list_of_requests(const struct mix *mix)
{
    const struct model *m = mix->model;
    const struct field *const varied[] = {mix->context, mix->prompt, mix->generate};
    if (mix->requests->n < AT_ONCE_MIN) return NULL;
    uint32_t *axes = xcalloc(m->params.n, sizeof *axes);
    for (size_t i = 0; i < sizeof varied / sizeof *varied; i++)
        if (varied[i]) axes[schema_index(&m->params, varied[i])] = 1;
    return many_list_new(m, 1, axes);
}

/* ---- the mean --------------------------------------------------------------------------------------------------------------- */

struct mixer *mixer_new(const struct mix *mix, struct runner *runner, struct judge *judge, bool serves)
{
    struct mixer *r = xcalloc(1, sizeof *r);
    r->mix = mix;
    r->runner = runner;
    r->judge = judge;
    r->serves = serves && mix->usd && runner_fidelity(runner) == FIDELITY_CLOSED_FORM;
    r->params = xcalloc(1, mix->model->desc->params_size);
    r->metrics = xcalloc(1, mix->model->desc->metrics_size);
    r->other = xcalloc(1, mix->model->desc->metrics_size);
    r->mean = xcalloc(mix->model->metrics.n, sizeof *r->mean);
    r->known = xcalloc(mix->model->metrics.n, sizeof *r->known);
    r->choices = xcalloc(mix->n_choices, sizeof *r->choices);
    r->said = xcalloc(mix->requests->n, sizeof(struct said *));
    if (runner_fidelity(runner) == FIDELITY_CLOSED_FORM) r->own = list_of_requests(mix);
    if (r->own && r->serves) r->others = list_of_requests(mix);
    return r;
}

void mixer_free(struct mixer *r)
{
    if (!r) return;
    many_list_free(r->own);
    many_list_free(r->others);
    for (size_t i = 0; i < r->mix->requests->n; i++)
        for (struct said *s = r->said[i], *next; s; s = next) {
            next = s->next;
            free(s->text);
            free(s);
        }
    free(r->params);
    free(r->metrics);
    free(r->other);
    free(r->mean);
    free(r->known);
    free(r->choices);
    free(r->said);
    free(r);
}

/* The mean moves towards a number by its part of all so far, and so stays where all are equal. NaN stays. */
static double taken_in(double mean, double v, enum dse_mean by, const double part[DSE_MEAN_COUNT])
{
    if (by != DSE_MEAN_LARGEST) return mean + (v - mean) * part[by];
    return isnan(mean) || v <= mean ? mean : v;
}

/* The same of a metric that may be NULL: the mean of the requests where it is known, NaN where it is known of none. What share of
 * the tokens these are is told beside it (known_tokens). */
static void take_in_known(struct mixer *r, size_t i, double v, enum dse_mean by, double weight)
{
    if (isnan(v)) return;
    bool first = isnan(r->mean[i]);
    r->known[i] += weight;
    double part[DSE_MEAN_COUNT] = {0};
    part[by] = r->known[i] == 0 ? 0 : weight / r->known[i];
    r->mean[i] = first ? v : taken_in(r->mean[i], v, by, part);
}

/* Take in the metrics of a request that has run. */
static void add_request(struct mixer *r, const struct mixed_request *q, const void *params, const void *metrics, bool first)
{
    const struct mix *mix = r->mix;
    double weight[DSE_MEAN_COUNT], part[DSE_MEAN_COUNT];
    weigh(mix, q, params, metrics, weight);
    if (r->judge) judge_add(r->judge, params, weight[DSE_MEAN_TOKEN]);
    for (int k = 0; k < DSE_MEAN_COUNT; k++) {
        r->total[k] = first ? weight[k] : r->total[k] + weight[k];
        part[k] = r->total[k] == 0 ? 0 : weight[k] / r->total[k];
    }
    for (size_t i = 0; i < mix->model->metrics.n; i++) {
        const struct field *f = &mix->model->metrics.fields[i];
        if (f->type == DSE_TYPE_ENUM) {
            r->choices[mix->choices[i] + (size_t)field_get(f, metrics).choice] += weight[f->mean];
        } else {
            double v = field_number(f, metrics);
            if (f->may_be_null)
                take_in_known(r, i, v, f->mean, weight[f->mean]);
            else
                r->mean[i] = first ? v : taken_in(r->mean[i], v, f->mean, part);
        }
    }
}

/* The value of a name that has the largest weight; the first of equal ones. */
static int32_t heaviest(const struct mixer *r, size_t metric)
{
    const double *weights = r->choices + r->mix->choices[metric];
    int32_t most = 0;
    for (int32_t i = 1; r->mix->model->metrics.fields[metric].choices[i]; i++)
        if (weights[i] > weights[most]) most = i;
    return most;
}

static void put_means(const struct mixer *r, void *metrics)
{
    for (size_t i = 0; i < r->mix->model->metrics.n; i++) {
        const struct field *f = &r->mix->model->metrics.fields[i];
        struct value v = {.f64 = r->mean[i]};
        if (f->type == DSE_TYPE_I64) v = (struct value){.i64 = isfinite(r->mean[i]) ? llround(r->mean[i]) : 0};
        if (f->type == DSE_TYPE_ENUM) v = (struct value){.choice = heaviest(r, i)};
        field_set(f, metrics, v);
    }
}

/* ---- what a request costs ---------------------------------------------------------------------------------------------------- */

/* Make the parameters, before resolve(), those of the request's other phase. A prompt is computed without drafts, and without
 * parts of other prompts. */
static void set_other_phase(const struct mix *mix, const struct mixed_request *q, void *params)
{
    const bool prefill = !is_prefill(mix, params);
    field_set(mix->phase, params, (struct value){.choice = prefill ? DSE_PREFILL : DSE_DECODE});
    set_request(mix, q, params);
    if (!prefill) return;
    set_integer(mix->draft, params, 0);
    set_integer(mix->chunk, params, 0);
    if (mix->spread) field_set(mix->spread, params, (struct value){.f64 = 0});
}

/* Make the parameters of a point those of the request's other phase, resolved. */
static void set_other(const struct mix *mix, const struct mixed_request *q, void *params)
{
    const struct dse_model *model = mix->model->desc;
    set_other_phase(mix, q, params);
    if (model->resolve) model->resolve(params);
}

/* Take in what the request costs in the phase of the row, and in the other one: NaN where the model refuses that. */
static void add_served(struct mixer *r, const struct mixed_request *q, bool prefill, double own, double other)
{
    served_add(&r->served, q->share, (double)q->prompt, (double)q->generate, prefill ? own : other, prefill ? other : own);
}

/* Of a request whose metrics in the phase of the row are there. */
static enum run_end serve(struct mixer *r, const struct mixed_request *q, const void *start)
{
    const struct mix *mix = r->mix;
    const struct dse_model *model = mix->model->desc;
    double usd = (double)NAN;
    memcpy(r->params, start, model->params_size);
    set_other(mix, q, r->params);
    if (!model->check || !model->check(r->params)) {
        const enum run_end end = runner_run(r->runner, model, r->params, r->other, NULL);
        if (end != RUN_DONE) return end;
        usd = number(mix->usd, r->other);
    }
    add_served(r, q, is_prefill(mix, start), number(mix->usd, r->metrics), usd);
    return RUN_DONE;
}

struct served mixer_served(const struct mixer *r)
{
    return served_of(&r->served);
}

/* ---- requests at once: running ----------------------------------------------------------------------------------------------- */

/* Requests from `first` on. */
static void run_listed(const struct mixer *r, const void *start, size_t first, size_t n)
{
    const struct mix *mix = r->mix;
    const struct dse_model *model = mix->model->desc;
    for (size_t i = 0; i < n; i++) {
        const struct mixed_request *q = &mix->requests->requests[first + i];
        const int64_t key = (int64_t)i;
        void *params = many_list_put(r->own, start, &key);
        set_request(mix, q, params);
        if (model->resolve) model->resolve(params);
        if (r->others) set_other(mix, q, many_list_put(r->others, start, &key));
    }
    many_list_run(r->own);
    if (r->others) many_list_run(r->others);
}

static enum run_end add_listed(struct mixer *r, const void *start, size_t request, size_t i)
{
    const struct mix *mix = r->mix;
    const struct mixed_request *q = &mix->requests->requests[request];
    const void *own = many_list_metrics(r->own, i);
    const void *other = r->others && !many_list_reason(r->others, i) ? many_list_metrics(r->others, i) : NULL;
    enum run_end end = runner_check(r->runner, mix->model->desc, own);
    if (end == RUN_DONE) add_request(r, q, many_list_params(r->own, i), own, request == 0);
    if (end == RUN_DONE && other) end = runner_check(r->runner, mix->model->desc, other);
    if (end == RUN_DONE && r->others)
        add_served(r, q, is_prefill(mix, start), number(mix->usd, own), other ? number(mix->usd, other) : (double)NAN);
    return end;
}

static enum run_end run_at_once(struct mixer *r, const void *start, const char **ret_reason)
{
    const size_t all = r->mix->requests->n;
    for (size_t first = 0; first < all; first += MANY_LIST_MAX) {
        const size_t n = all - first < MANY_LIST_MAX ? all - first : MANY_LIST_MAX;
        run_listed(r, start, first, n);
        for (size_t i = 0; i < n; i++) {
            if (many_list_reason(r->own, i)) {
                *ret_reason = say(r, first + i, many_list_reason(r->own, i));
                return RUN_DONE;
            }
            const enum run_end end = add_listed(r, start, first + i, i);
            if (end != RUN_DONE) return end;
        }
    }
    return RUN_DONE;
}

/* ---- all requests ------------------------------------------------------------------------------------------------------------ */

static enum run_end run_one_by_one(struct mixer *r, const void *start, struct dse_breakdown *parts, const char **ret_reason)
{
    const struct request_mix *requests = r->mix->requests;
    const struct dse_model *model = r->mix->model->desc;
    for (size_t i = 0; i < requests->n; i++) {
        memcpy(r->params, start, model->params_size);
        set_request(r->mix, &requests->requests[i], r->params);
        if (model->resolve) model->resolve(r->params);
        const char *reason = model->check ? model->check(r->params) : NULL;
        if (reason) {
            *ret_reason = say(r, i, reason);
            return RUN_DONE;
        }
        enum run_end end = runner_run(r->runner, model, r->params, r->metrics, parts);
        if (end != RUN_DONE) return end;
        add_request(r, &requests->requests[i], r->params, r->metrics, i == 0);
        end = r->serves ? serve(r, &requests->requests[i], start) : RUN_DONE;
        if (end != RUN_DONE) return end;
    }
    return RUN_DONE;
}

enum run_end mixer_run(struct mixer *r, const void *start, void *metrics, struct dse_breakdown *parts, const char **ret_reason)
{
    *ret_reason = NULL;
    r->served = (struct served_sum){.usd = r->serves ? 0 : (double)NAN};
    for (size_t i = 0; i < r->mix->n_choices; i++) r->choices[i] = 0;
    for (size_t i = 0; i < r->mix->model->metrics.n; i++) r->mean[i] = (double)NAN, r->known[i] = 0;
    const enum run_end end = r->own && !parts ? run_at_once(r, start, ret_reason) : run_one_by_one(r, start, parts, ret_reason);
    if (end == RUN_DONE && !*ret_reason) put_means(r, metrics);
    return end;
}
