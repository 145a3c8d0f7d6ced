/* dse trace info. */
#include "attention/action.h"
#include "attention/trace.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "command/output.h"

#include <math.h>
#include <stdlib.h>

static void put_ids(struct output *o, const int32_t *ids, size_t n)
{
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < n; i++) text_addf(&t, "%s%ld", i ? " " : "", (long)ids[i]);
    output_text(o, t.s);
    text_release(&t);
}

static void put_file(struct output *o, const char *path, const struct trace_info *info)
{
    char hash[17];
    snprintf(hash, sizeof hash, "%016llx", (unsigned long long)info->hash);
    output_text(o, path);
    output_text(o, info->model);
    put_ids(o, info->layer_ids, info->layers);
    put_ids(o, info->head_ids, info->heads);
    output_i64(o, (int64_t)info->kv_heads);
    output_i64(o, (int64_t)info->n);
    output_i64(o, (int64_t)info->n_steps);
    output_i64(o, (int64_t)info->d);
    output_i64(o, info->bits);
    output_text(o, hash);
    output_text(o, info->source);
}

struct scores {
    double min, max, mean, sd; /* over all causal pairs */
    double first_mass;         /* attention on position 0, mean over the later half of the steps */
};

static struct scores measure(const struct head *h)
{
    struct scores s = {.min = (double)INFINITY, .max = -(double)INFINITY};
    double *x = xcalloc(h->n, sizeof *x), pairs = 0, sum = 0, squares = 0;
    size_t half = h->n / 2, late = 0;
    for (size_t t = 0; t < h->n; t++) {
        if (!head_query(h, t)) continue;
        head_scores(h, t, x);
        pairs += (double)(t + 1);
        double max = x[0], total = 0;
        for (size_t i = 0; i <= t; i++) {
            sum += x[i];
            squares += x[i] * x[i];
            max = fmax(max, x[i]);
            s.min = fmin(s.min, x[i]);
        }
        s.max = fmax(s.max, max);
        for (size_t i = 0; i <= t; i++) total += exp(x[i] - max);
        late += t >= half;
        if (t >= half) s.first_mass += exp(x[0] - max) / total;
    }
    s.first_mass = late ? s.first_mass / (double)late : (double)NAN;
    s.mean = sum / pairs;
    s.sd = sqrt(fmax(0, squares / pairs - s.mean * s.mean));
    free(x);
    return s;
}

static bool put_scores(struct output *o, const char *path, const struct trace *t, struct diags *diags)
{
    const struct trace_info *info = trace_info(t);
    for (size_t i = 0; i < info->layers * info->heads; i++) {
        size_t layer = i / info->heads, head = i % info->heads;
        struct head h;
        if (!trace_head_sampled(t, layer, head, &h, diags)) return false;
        struct scores s = measure(&h);
        head_release(&h);
        output_text(o, path);
        output_i64(o, info->layer_ids[layer]);
        output_i64(o, info->head_ids[head]);
        output_f64(o, s.min);
        output_f64(o, s.max);
        output_f64(o, s.mean);
        output_f64(o, s.sd);
        output_f64(o, s.first_mass);
    }
    return true;
}

int trace_info_run(const struct invocation *in)
{
    static const char *const of_files[] = {"FILE",  "MODEL", "LAYERS", "HEADS", "KV HEADS", "POSITIONS",
                                           "STEPS", "DIM",   "BITS",   "HASH",  "SOURCE"};
    static const char *const of_scores[] = {"FILE", "LAYER", "HEAD", "SCORE MIN", "SCORE MAX", "MEAN", "SD", "MASS ON FIRST"};
    enum output_format format;
    if (!output_parse_format(in, &format)) return 2;
    bool scores = option_has(in, "scores");
    struct output *o = scores ? output_new(stdout, format, of_scores, sizeof of_scores / sizeof *of_scores)
                              : output_new(stdout, format, of_files, sizeof of_files / sizeof *of_files);
    for (size_t i = 1; i < in->n_operands; i++) {
        struct trace *t = trace_open(in->operands[i], in->diags);
        if (t && scores)
            put_scores(o, in->operands[i], t, in->diags);
        else if (t)
            put_file(o, in->operands[i], trace_info(t));
        trace_close(t);
    }
    output_end(o);
    return 0;
}
