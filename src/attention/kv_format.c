#include "attention/kv_format.h"

#include "attention/half.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WHOLE_BITS = 16, BITS_MAX = 8 };

const struct kv_format kv_format_defaults = {.kv_bits = 2, .scales = DSE_SCALES_KIVI, .group = 32, .residual = 128};

#define S struct kv_format
const struct dse_param kv_format_params[] = {
    DSE_PARAM_I64(S, kv_bits, 1, 16, "bits of a key or value: 1 to 8; 16: unchanged", "Sec. 3"),
    DSE_PARAM_ENUM(S, scales, dse_kv_scales_names, "scales per token, per channel, or keys per channel and values per token",
                   "Sec. 3"),
    DSE_PARAM_I64(S, group, 0, 65536, "elements that share a scale; 0: all of a token", "Sec. 3"),
    DSE_PARAM_I64(S, residual, 0, 1048576, "newest positions kept unchanged", "Alg. 1"),
    DSE_PARAM_END,
};
#undef S

static bool keys_by_channel(const struct kv_format *f)
{
    return f->scales != DSE_SCALES_TOKEN;
}

static bool values_by_channel(const struct kv_format *f)
{
    return f->scales == DSE_SCALES_CHANNEL;
}

bool kv_format_check(const struct kv_format *f, size_t d, struct diags *diags)
{
    const struct srcloc nowhere = {0};
    bool ok = true;
    if ((f->kv_bits < 1 || f->kv_bits > BITS_MAX) && f->kv_bits != WHOLE_BITS)
        ok = diags_input(diags, nowhere, NULL, NULL, "%lld bits of a key or value; 1 to 8 are possible, or 16",
                         (long long)f->kv_bits);
    if (f->group < 0 || f->residual < 0)
        return diags_input(diags, nowhere, NULL, NULL, "groups of %lld, %lld positions as they are: below 0", (long long)f->group,
                           (long long)f->residual);
    if (keys_by_channel(f) && f->group == 0)
        return diags_input(diags, nowhere, NULL, "say how many positions share one",
                           "a scale for all of a channel changes with every position");
    if (keys_by_channel(f) && f->residual % f->group != 0)
        ok = diags_input(diags, nowhere, NULL, NULL, "%lld positions as they are: no multiple of a group of %lld by channel",
                         (long long)f->residual, (long long)f->group);
    if (!values_by_channel(f) && (size_t)f->group > d)
        ok = diags_input(diags, nowhere, NULL, NULL, "a group of %lld by token; a token has %zu elements", (long long)f->group, d);
    return ok;
}

static size_t small_positions(const struct kv_format *f, bool by_channel, size_t n)
{
    size_t residual = (size_t)f->residual, group = (size_t)f->group;
    if (f->kv_bits == WHOLE_BITS) return 0;
    if (by_channel) return n - n % (residual ? residual : group);
    return n > residual ? n - residual : 0;
}

size_t kv_format_keys(const struct kv_format *f, size_t n)
{
    return small_positions(f, keys_by_channel(f), n);
}

size_t kv_format_values(const struct kv_format *f, size_t n)
{
    return small_positions(f, values_by_channel(f), n);
}

/* ---- groups -------------------------------------------------------------------------------------------------------------- */

static float half(float x)
{
    return half_to_float(half_from_float(x));
}

/* n elements, `stride` apart. */
static void quantise(float *x, size_t n, size_t stride, int64_t bits)
{
    float low = x[0], high = x[0];
    for (size_t i = 1; i < n; i++) {
        low = fminf(low, x[i * stride]);
        high = fmaxf(high, x[i * stride]);
    }
    float most = (float)((1 << bits) - 1), zero = half(low), scale = half((high - low) / most);
    for (size_t i = 0; i < n; i++) {
        float q = scale > 0 ? roundf((x[i * stride] - zero) / scale) : 0;
        x[i * stride] = zero + scale * fminf(fmaxf(q, 0), most);
    }
}

/* The first n of the rows of d elements. */
static void quantise_rows(float *x, size_t n, size_t d, const struct kv_format *f, bool by_channel)
{
    size_t group = f->group ? (size_t)f->group : d;
    for (size_t t = 0; t < n && !by_channel; t++)
        for (size_t j = 0; j < d; j += group) quantise(x + t * d + j, j + group < d ? group : d - j, 1, f->kv_bits);
    for (size_t t = 0; t + group <= n && by_channel; t += group)
        for (size_t j = 0; j < d; j++) quantise(x + t * d + j, group, d, f->kv_bits);
}

void kv_format_apply(const struct kv_format *f, const struct head *h, float **ret_k, float **ret_v)
{
    size_t n = h->n * h->d;
    *ret_k = xrealloc(NULL, n, sizeof **ret_k);
    *ret_v = xrealloc(NULL, n, sizeof **ret_v);
    memcpy(*ret_k, h->k, n * sizeof **ret_k);
    memcpy(*ret_v, h->v, n * sizeof **ret_v);
    if (f->kv_bits == WHOLE_BITS) return;
    quantise_rows(*ret_k, h->n, h->d, f, keys_by_channel(f));
    quantise_rows(*ret_v, h->n, h->d, f, values_by_channel(f));
}

/* ---- attention ----------------------------------------------------------------------------------------------------------- */

/* A head whose first positions are small and the others as they were. */
struct mixed {
    struct head head; /* its k and v are `small` up to the numbers below, then the head's */
    float *k, *v;     /* all of them small */
    size_t keys, values;
};

static double distance(const float *a, const float *b, size_t n)
{
    double difference = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        norm += (double)b[i] * (double)b[i];
    }
    return norm > 0 ? sqrt(difference / norm) : 0;
}

/* Let what has become small after n positions be so. It stays so: positions only leave the residual. */
static void shrink(struct mixed *m, const struct kv_format *f, size_t n)
{
    size_t d = m->head.d, keys = kv_format_keys(f, n), values = kv_format_values(f, n);
    memcpy(m->head.k + m->keys * d, m->k + m->keys * d, (keys - m->keys) * d * sizeof *m->k);
    memcpy(m->head.v + m->values * d, m->v + m->values * d, (values - m->values) * d * sizeof *m->v);
    m->keys = keys;
    m->values = values;
}

static struct mixed mixed_new(const struct kv_format *f, const struct head *h)
{
    struct mixed m = {.head = *h};
    size_t n = h->n * h->d;
    kv_format_apply(f, h, &m.k, &m.v);
    m.head.k = xrealloc(NULL, n, sizeof *m.head.k);
    m.head.v = xrealloc(NULL, n, sizeof *m.head.v);
    memcpy(m.head.k, h->k, n * sizeof *m.head.k);
    memcpy(m.head.v, h->v, n * sizeof *m.head.v);
    return m;
}

static void mixed_release(struct mixed *m)
{
    free(m->head.k);
    free(m->head.v);
    free(m->k);
    free(m->v);
}

bool kv_format_run(const struct head *h, const struct kv_format *f, size_t first, struct kv_format_result *ret, struct diags *diags)
{
    if (!kv_format_check(f, h->d, diags)) return false;
    if (first >= h->n)
        return diags_input(diags, (struct srcloc){0}, NULL, "the first step is below the number of positions",
                           "no steps: the first is %zu, the head has %zu positions", first, h->n);
    *ret = (struct kv_format_result){0};
    struct mixed m = mixed_new(f, h);
    double *weights = xcalloc(h->n, sizeof *weights), *o = xcalloc(h->d, sizeof *o), *exact = xcalloc(h->d, sizeof *exact);
    for (size_t t = first; t < h->n; t++) {
        double error = 0, norm = 0;
        shrink(&m, f, t + 1);
        if (!head_query(h, t)) continue;
        head_attention(h, t, weights, exact);
        head_attention(&m.head, t, weights, o);
        for (size_t j = 0; j < h->d; j++) {
            error += (o[j] - exact[j]) * (o[j] - exact[j]);
            norm += exact[j] * exact[j];
        }
        if (!(norm > 0)) continue;
        ret->steps++;
        ret->output_error += sqrt(error / norm);
    }
    ret->output_error = ret->steps ? ret->output_error / (double)ret->steps : (double)NAN;
    ret->key_error = distance(m.k, h->k, m.keys * h->d);
    ret->value_error = distance(m.v, h->v, m.values * h->d);
    free(weights);
    free(o);
    free(exact);
    mixed_release(&m);
    return true;
}
