/* Between the two lists of operators of a part of a box lie those of all points of it (dse/workload_box.h). */
#include <dse/workload_box.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "llms_test.h"

static int64_t some(int64_t most)
{
    return (int64_t)floor(exp(uniform() * log((double)most + 1)));
}

static int64_t between(int64_t lo, int64_t hi)
{
    const int64_t v = lo + (int64_t)floor(uniform() * (double)(hi - lo + 1));
    return v > hi ? hi : v;
}

static double value(double lo, double hi)
{
    return uniform() < 0.3 ? (uniform() < 0.5 ? lo : hi) : lo + uniform() * (hi - lo);
}

/* Two numbers in order, often the same. */
static void spread(int64_t *lo, int64_t *hi, int64_t a, int64_t b)
{
    if (uniform() < 0.4) b = a;
    *lo = a < b ? a : b;
    *hi = a < b ? b : a;
}

static void draw_box(struct dse_workload *lo, struct dse_workload *hi, const struct dse_llm *llm, const struct dse_llm *draft)
{
    static const int64_t bits[] = {2, 4, 8, 16};
    *lo = (struct dse_workload){
        .llm = llm,
        .phase = uniform() < 0.3 ? DSE_PREFILL : DSE_DECODE,
        .weight_bits = 8,
        .latent_form = (int32_t)between(0, 2),
        .routing = (int32_t)between(0, 2),
        .routing_exponent = 1.5,
        .speculation = {.drafter = (int32_t)between(0, 2), .draft = draft, .acceptance = 0.7, .acceptance_decay = 1}};
    *hi = *lo;
    spread(&lo->batch, &hi->batch, some(256), some(256));
    spread(&lo->context, &hi->context, some(40000), some(40000));
    spread(&lo->kv_bits, &hi->kv_bits, bits[between(0, 3)], bits[between(0, 3)]);
    spread(&lo->activation_bits, &hi->activation_bits, bits[between(0, 3)], bits[between(0, 3)]);
    if (uniform() < 0.3) hi->weight_scale_bits = 0.5;
    if (uniform() < 0.6) {
        spread(&lo->tensor_parallel, &hi->tensor_parallel, (int64_t)1 << between(0, 4), (int64_t)1 << between(0, 4));
        spread(&lo->pipeline_parallel, &hi->pipeline_parallel, some(4), some(4));
        spread(&lo->data_parallel, &hi->data_parallel, some(64), some(64));
        spread(&lo->expert_parallel, &hi->expert_parallel, (int64_t)1 << between(0, 6), (int64_t)1 << between(0, 6));
    } else {
        lo->tensor_parallel = lo->pipeline_parallel = lo->data_parallel = lo->expert_parallel = 1;
        hi->tensor_parallel = hi->pipeline_parallel = hi->data_parallel = hi->expert_parallel = 1;
    }
    if (lo->phase == DSE_PREFILL) return;
    if (uniform() < 0.3) spread(&lo->speculation.draft_tokens, &hi->speculation.draft_tokens, between(0, 5), between(0, 5));
    if (uniform() < 0.3) spread(&lo->chunk_tokens, &hi->chunk_tokens, between(0, 600), between(0, 600));
    if (uniform() < 0.3) spread(&lo->chunk_context, &hi->chunk_context, between(0, 9000), between(0, 9000));
    if (uniform() < 0.1) hi->context_spread = 0.5;
    if (uniform() < 0.1) lo->context_spread = hi->context_spread;
}

static void draw_point(struct dse_workload *w, const struct dse_workload *lo, const struct dse_workload *hi)
{
    *w = *lo;
    w->batch = (int64_t)value((double)lo->batch, (double)hi->batch);
    w->context = (int64_t)value((double)lo->context, (double)hi->context);
    w->kv_bits = (int64_t)value((double)lo->kv_bits, (double)hi->kv_bits);
    w->activation_bits = (int64_t)value((double)lo->activation_bits, (double)hi->activation_bits);
    w->weight_scale_bits = value(lo->weight_scale_bits, hi->weight_scale_bits);
    w->tensor_parallel = between(lo->tensor_parallel, hi->tensor_parallel);
    w->pipeline_parallel = between(lo->pipeline_parallel, hi->pipeline_parallel);
    w->data_parallel = between(lo->data_parallel, hi->data_parallel);
    w->expert_parallel = between(lo->expert_parallel, hi->expert_parallel);
    w->speculation.draft_tokens = between(lo->speculation.draft_tokens, hi->speculation.draft_tokens);
    w->chunk_tokens = between(lo->chunk_tokens, hi->chunk_tokens);
    w->chunk_context = between(lo->chunk_context, hi->chunk_context);
    w->context_spread = value(lo->context_spread, hi->context_spread);
}

static bool within(double lo, double v, double hi)
{
    const double slack = 1e-12;
    return lo <= v + slack * fabs(v) && v <= hi + slack * fabs(v);
}

/* NULL, or what of an operator lies outside. */
static const char *outside(const struct dse_op *a, const struct dse_op *x, const struct dse_op *b)
{
    if (strcmp(a->name, x->name) != 0 || strcmp(b->name, x->name) != 0 || a->kind != x->kind) return "name";
    if (!within((double)a->repeat, (double)x->repeat, (double)b->repeat)) return "repeat";
    if (!within(a->copies, x->copies, b->copies)) return "copies";
    if (!within((double)a->m, (double)x->m, (double)b->m)) return "m";
    if (!within((double)a->k, (double)x->k, (double)b->k)) return "k";
    if (!within((double)a->n, (double)x->n, (double)b->n)) return "n";
    if (!within(a->rows, x->rows, b->rows)) return "rows";
    if (!within(a->weight_bytes, x->weight_bytes, b->weight_bytes)) return "weight_bytes";
    if (!within(a->held_bytes, x->held_bytes, b->held_bytes)) return "held_bytes";
    if (!within(a->kv_read_bytes, x->kv_read_bytes, b->kv_read_bytes)) return "kv_read_bytes";
    if (!within(a->kv_write_bytes, x->kv_write_bytes, b->kv_write_bytes)) return "kv_write_bytes";
    if (!within(a->ops, x->ops, b->ops)) return "ops";
    if (x->kind != DSE_OP_COLLECTIVE) return NULL;
    const struct dse_exchange *e = &a->exchange, *f = &x->exchange, *g = &b->exchange;
    if (e->kind != f->kind || e->devices != f->devices || g->devices != f->devices) return "devices";
    if (!within(e->stride, f->stride, g->stride)) return "stride";
    if (!within(e->bytes, f->bytes, g->bytes)) return "bytes";
    return within(e->imbalance, f->imbalance, g->imbalance) ? NULL : "imbalance";
}

static const char *attention_outside(const struct dse_attention *a, const struct dse_attention *x, const struct dse_attention *b)
{
    if (a->mixer != x->mixer || a->heads != x->heads || a->kv_heads != x->kv_heads || a->key_dim != x->key_dim) return "shape";
    if (!within((double)a->layers, (double)x->layers, (double)b->layers)) return "layers";
    if (!within((double)a->sequences, (double)x->sequences, (double)b->sequences)) return "sequences";
    if (!within((double)a->queries, (double)x->queries, (double)b->queries)) return "queries";
    if (!within((double)a->positions, (double)x->positions, (double)b->positions)) return "positions";
    if (!within((double)a->kept, (double)x->kept, (double)b->kept)) return "kept";
    if (!within(a->pairs, x->pairs, b->pairs)) return "pairs";
    return within(a->key_bytes, x->key_bytes, b->key_bytes) ? NULL : "key_bytes";
}

static void fail_point(const struct dse_workload *w, const char *of, const char *what)
{
    fail_msg("%s: %s of %s: batch %g context %g tensor %g pipeline %g data %g expert %g drafts %g chunk %g phase %d routing %d",
             w->llm->entry.name, what, of, (double)w->batch, (double)w->context, (double)w->tensor_parallel,
             (double)w->pipeline_parallel, (double)w->data_parallel, (double)w->expert_parallel,
             (double)w->speculation.draft_tokens, (double)w->chunk_tokens, w->phase, w->routing);
}

static void assert_between(const struct dse_workload_part *part, const struct dse_workload *w, int64_t read_lo, int64_t read_hi)
{
    struct dse_oplist a, x, b;
    const int64_t read = read_lo < 0 ? -1 : (int64_t)value((double)read_lo, (double)read_hi);
    dse_workload_part_expand(part, read_lo, read_hi, &a, &b);
    dse_workload_expand_reading(w, read, &x);
    if (a.n != x.n || b.n != x.n || a.n_attentions != x.n_attentions) fail_point(w, "the list", "operators");
    for (int i = 0; i < x.n; i++) {
        const char *what = outside(&a.op[i], &x.op[i], &b.op[i]);
        if (what) fail_point(w, x.op[i].name, what);
    }
    for (int i = 0; i < x.n_attentions; i++) {
        const char *what = attention_outside(&a.attention[i], &x.attention[i], &b.attention[i]);
        if (what) fail_point(w, "attention", what);
    }
    if (!within(dse_workload_footprint(&part->least), dse_workload_footprint(w), dse_workload_footprint(&part->most)))
        fail_point(w, "memory", "bytes");
    if (!within((double)dse_workload_passes(&part->least), (double)dse_workload_passes(w),
                (double)dse_workload_passes(&part->most)))
        fail_point(w, "a step", "passes");
}

static bool is_part_of(const struct dse_workload_part *part, const struct dse_workload *w)
{
    const struct dse_workload *lo = &part->lo, *hi = &part->hi;
    return w->tensor_parallel == lo->tensor_parallel && w->pipeline_parallel == lo->pipeline_parallel &&
           w->expert_parallel == lo->expert_parallel && lo->data_parallel <= w->data_parallel &&
           w->data_parallel <= hi->data_parallel && lo->speculation.draft_tokens <= w->speculation.draft_tokens &&
           w->speculation.draft_tokens <= hi->speculation.draft_tokens && lo->chunk_tokens <= w->chunk_tokens &&
           w->chunk_tokens <= hi->chunk_tokens && lo->context_spread <= w->context_spread &&
           w->context_spread <= hi->context_spread && lo->context <= w->context && w->context <= hi->context;
}

static void boxes__hold_the_operators_of_all_their_points(void **state)
{
    (void)state;
    enum { BOXES = 400, POINTS = 6 };
    size_t points = 0, unfollowed = 0, many = 0;
    const struct dse_entry *e;
    for (size_t l = 0; (e = catalog_at(catalog, DSE_KIND_LLM, l)); l++) {
        const struct dse_llm *llm = (const struct dse_llm *)(const void *)e;
        for (int i = 0; i < BOXES; i++) {
            struct dse_workload lo, hi, w;
            struct dse_workload_parts parts;
            struct dse_workload_part part;
            draw_box(&lo, &hi, llm, find_llm("llama2-7b"));
            const int64_t read_lo =
                uniform() < 0.8 || lo.chunk_tokens + hi.chunk_tokens > 0 || lo.phase == DSE_PREFILL ? -1 : some(lo.context);
            const int64_t read_hi = read_lo < 0 ? -1 : between(read_lo, hi.context);
            for (int k = 0; k < POINTS; k++) {
                draw_point(&w, &lo, &hi);
                if (dse_workload_check(&w, DSE_CAN_ALL)) continue;
                if (!dse_workload_parts_begin(&parts, &lo, &hi)) {
                    many++;
                    continue;
                }
                int found = 0;
                while (dse_workload_parts_next(&parts, &part)) {
                    if (!is_part_of(&part, &w)) continue;
                    found++;
                    unfollowed += part.is_followed ? 0 : 1;
                    if (part.is_followed) assert_between(&part, &w, read_lo, read_hi);
                }
                if (found < 1) fail_point(&w, "a box", "parts");
                points++;
            }
        }
    }
    print_message("%zu points; %zu in parts that are not followed, %zu in boxes of too many parts\n", points, unfollowed, many);
    assert_true(points > 10000 && unfollowed < points / 10 && many < points / 10);
}

/* A box of one point is one part, whose lists are the point's. */
static void boxes__of_one_point_are_that_point(void **state)
{
    (void)state;
    enum { POINTS = 500 };
    size_t n = 0;
    while (catalog_at(catalog, DSE_KIND_LLM, n)) n++;
    for (int i = 0; i < POINTS; i++) {
        struct dse_workload lo, hi, w = {0};
        struct dse_workload_parts parts;
        struct dse_workload_part part = {0};
        draw_box(&lo, &hi,
                 (const struct dse_llm *)(const void *)catalog_at(catalog, DSE_KIND_LLM, (size_t)between(0, (int64_t)n - 1)),
                 find_llm("llama2-7b"));
        draw_point(&w, &lo, &hi);
        if (dse_workload_check(&w, DSE_CAN_ALL)) continue;
        assert_true(dse_workload_parts_begin(&parts, &w, &w) && dse_workload_parts_next(&parts, &part));
        assert_true(part.is_followed);
        struct dse_oplist least, most, at;
        dse_workload_part_expand(&part, -1, -1, &least, &most);
        dse_workload_expand(&w, &at);
        assert_int_equal(least.n, at.n);
        for (int k = 0; k < at.n; k++)
            if (least.op[k].ops != at.op[k].ops || most.op[k].ops != at.op[k].ops || most.op[k].rows != at.op[k].rows)
                fail_point(&w, at.op[k].name, "ends");
        assert_false(dse_workload_parts_next(&parts, &part));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes__hold_the_operators_of_all_their_points),
        cmocka_unit_test(boxes__of_one_point_are_that_point),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
