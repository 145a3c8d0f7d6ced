/* What arithmetic does to attention: a partial softmax, fixed point, keys and values in few bits. */
#include "attention/measure_layers.h"

#include <math.h>

/* ---- the asynchronous softmax -------------------------------------------------------------------------------------------- */

struct partial_work {
    const struct softmax_partial *softmax;
    struct measured_partial *rows;
};

static size_t partial_size(const void *user, size_t c, size_t heads)
{
    (void)user;
    (void)c;
    return heads * sizeof(struct softmax_partial_result);
}

static bool partial_heads(const void *user, size_t c, const struct head *heads, size_t n, size_t first, void *ret,
                          struct diags *diags)
{
    const struct partial_work *w = user;
    struct softmax_partial_result *results = ret;
    (void)c;
    for (size_t h = 0; h < n; h++)
        if (!softmax_partial_run(&heads[h], w->softmax, first, &results[h], diags)) return false;
    return true;
}

/* Add up shares over vectors; measure_partial divides them at the end. */
static void partial_add(void *user, size_t c, size_t heads, const void *result)
{
    struct measured_partial *row = &((struct partial_work *)user)->rows[c];
    const struct softmax_partial_result *r = result;
    for (size_t h = 0; h < heads; h++, r++) {
        row->vectors += r->vectors;
        row->recomputed += r->recomputed;
        row->lost += r->lost;
        if (r->lost == r->vectors) continue;
        row->output_error = fmax(row->output_error, r->output_error);
        if (r->steps) moments_add(&row->attention_error, r->attention_error);
        row->within_1e_2 += r->within_1e_2 * (double)(r->vectors - r->lost);
        row->within_1e_1 += r->within_1e_1 * (double)(r->vectors - r->lost);
    }
}

bool measure_partial(const struct measure_plan *p, const struct softmax_partial *s, struct measured_partial *rows,
                     struct diags *diags)
{
    for (size_t c = 0; c < p->n_contexts; c++) rows[c] = (struct measured_partial){0};
    struct partial_work w = {s, rows};
    if (!measure_each_layer(p, &(struct measurement){partial_size, partial_heads, partial_add, &w, NULL}, diags)) return false;
    for (size_t c = 0; c < p->n_contexts; c++) {
        double good = (double)(rows[c].vectors - rows[c].lost);
        rows[c].within_1e_2 = good > 0 ? rows[c].within_1e_2 / good : (double)NAN;
        rows[c].within_1e_1 = good > 0 ? rows[c].within_1e_1 / good : (double)NAN;
    }
    return true;
}

/* ---- fixed point --------------------------------------------------------------------------------------------------------- */

struct fixed_work {
    const struct single_pass *options;
    struct measured_fixed *rows;
};

static size_t fixed_size(const void *user, size_t c, size_t heads)
{
    (void)user;
    (void)c;
    return heads * sizeof(struct single_pass_result);
}

static bool fixed_heads(const void *user, size_t c, const struct head *heads, size_t n, size_t first, void *ret,
                        struct diags *diags)
{
    const struct fixed_work *w = user;
    struct single_pass_result *results = ret;
    (void)c;
    for (size_t h = 0; h < n; h++)
        if (!single_pass_run(&heads[h], w->options, first, &results[h], diags)) return false;
    return true;
}

static void fixed_add(void *user, size_t c, size_t heads, const void *result)
{
    struct measured_fixed *row = &((struct fixed_work *)user)->rows[c];
    const struct single_pass_result *r = result;
    for (size_t h = 0; h < heads; h++, r++) {
        row->steps += r->steps;
        row->saturated += r->saturated;
        if (!r->steps) continue;
        row->worst_error = fmax(row->worst_error, r->worst_error);
        moments_add(&row->attention_error, r->output_error);
    }
}

bool measure_fixed(const struct measure_plan *p, const struct single_pass *s, struct measured_fixed *rows, struct diags *diags)
{
    for (size_t c = 0; c < p->n_contexts; c++) rows[c] = (struct measured_fixed){0};
    struct fixed_work w = {s, rows};
    return measure_each_layer(p, &(struct measurement){fixed_size, fixed_heads, fixed_add, &w, NULL}, diags);
}

/* ---- keys and values in few bits ----------------------------------------------------------------------------------------- */

struct format_work {
    const struct kv_format *format;
    struct measured_format *rows;
};

static size_t format_size(const void *user, size_t c, size_t heads)
{
    (void)user;
    (void)c;
    return heads * sizeof(struct kv_format_result);
}

static bool format_heads(const void *user, size_t c, const struct head *heads, size_t n, size_t first, void *ret,
                         struct diags *diags)
{
    const struct format_work *w = user;
    struct kv_format_result *results = ret;
    (void)c;
    for (size_t h = 0; h < n; h++)
        if (!kv_format_run(&heads[h], w->format, first, &results[h], diags)) return false;
    return true;
}

static void format_add(void *user, size_t c, size_t heads, const void *result)
{
    struct measured_format *row = &((struct format_work *)user)->rows[c];
    const struct kv_format_result *r = result;
    for (size_t h = 0; h < heads; h++, r++) {
        if (r->steps) moments_add(&row->attention_error, r->output_error);
        moments_add(&row->key_error, r->key_error);
        moments_add(&row->value_error, r->value_error);
    }
}

bool measure_format(const struct measure_plan *p, const struct kv_format *f, struct measured_format *rows, struct diags *diags)
{
    for (size_t c = 0; c < p->n_contexts; c++) rows[c] = (struct measured_format){0};
    struct format_work w = {f, rows};
    return measure_each_layer(p, &(struct measurement){format_size, format_heads, format_add, &w, NULL}, diags);
}
