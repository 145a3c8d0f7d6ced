/* The quality entries that ship: how well they are read between their points, and how well few heads stand for all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "config/catalog.h"
#include "config/csv_table.h"
#include "dse_config.h"
#include "rows.h"
#include "quality/quality.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct catalog *shipped(struct diags *diags)
{
    diags_init(diags);
    struct catalog *c = catalog_new(DSE_SOURCE_DATA, diags);
    assert_non_null(c);
    return c;
}

static const char *find(const struct dse_quality *q, const char *method, double context, double ratio,
                        struct dse_quality_place *ret)
{
    return dse_quality_find(q, &(struct dse_quality_query){.method = method, .context = context, .ratio = ratio}, ret);
}

/* What ships keeps what was asked of it: half of the points left out are met within 10 % and 20 %; and its head says what its rows
 * give. */
static void quality__of_real_heads_is_left_out_well(void **state)
{
    (void)state;
    struct diags diags;
    struct catalog *c = shipped(&diags);
    const struct dse_quality *q;
    for (size_t i = 0; (q = (const void *)catalog_at(c, DSE_KIND_QUALITY, i)) != NULL; i++) {
        const struct dse_quality_surface *s;
        for (size_t k = 0; (s = dse_quality_surface_at(q, k)) != NULL; k++)
            for (int m = DSE_Q_RETAINED_MASS; m <= DSE_Q_ATTENTION_ERROR; m++) {
                const struct dse_quality_rule *r = dse_surface_rule(s, (enum dse_quality_metric)m);
                const double most = m == DSE_Q_RETAINED_MASS ? 0.1 : 0.2;
                if (!r) continue;
                const struct dse_quality_rule anew = quality_left_out(s, (enum dse_quality_metric)m, r);
                assert_true(fabs(anew.context_error - r->context_error) <= 0.006 * r->context_error);
                assert_true(r->context_error < most && !(r->ratio_error >= most) && !(r->setting_error >= most));
            }
    }
    catalog_free(c);
    diags_release(&diags);
}

static double cell(const struct csv_table *t, size_t row, size_t column)
{
    double v;
    struct diags diags;
    diags_init(&diags);
    assert_true(csv_table_number(t, row, column, false, &v, &diags));
    return v;
}

struct deviations {
    size_t n, near, within; /* near: within 10 %; within: that, or two standard errors */
    double sum, worst;      /* of |mean / all - 1| */
};

static void add_deviation(struct deviations *d, double mean, double se, double all)
{
    const double off = fabs(mean - all);
    d->n++;
    d->near += off <= 0.1 * all;
    d->within += off <= 0.1 * all || off <= 2 * se;
    d->sum += off / all;
    d->worst = fmax(d->worst, off / all);
}

/* tests/data/attention_means.csv has means over all heads of all layers, found by another program. The 20 and 24 heads that ship
 * are weighed to meet some of these (catalog/means); the others were held out, and say how good the weights are. Before there were
 * such weights 200 of the 250 were within 10 %, and the mean was off by 6.7 %. */
static void quality__of_few_heads_stands_for_all(void **state)
{
    (void)state;
    enum { MODEL, THE_METHOD, THE_METRIC, THE_CONTEXT, THE_RATIO, THE_MEAN, USE };
    struct diags diags;
    struct catalog *c = shipped(&diags);
    struct csv_table t;
    assert_true(csv_table_read_any(&t, DSE_SOURCE_DATA "/tests/data/attention_means.csv", &diags));
    struct deviations matched = {0}, held_out = {0};
    for (size_t i = 0; i < t.n_rows; i++) {
        char **cells = t.rows[i].cells;
        const struct dse_quality *q = (const void *)catalog_find(c, DSE_KIND_QUALITY, cells[MODEL]);
        const enum dse_quality_metric metric = quality_metric_find(cells[THE_METRIC]);
        const double all = cell(&t, i, THE_MEAN);
        struct dse_quality_place at;
        struct dse_quality_value v;
        if (strcmp(cells[USE], "together") == 0) continue;
        if (!q || find(q, cells[THE_METHOD], cell(&t, i, THE_CONTEXT), cell(&t, i, THE_RATIO), &at)) continue;
        assert_true(dse_quality_at(&at, metric, &v));
        add_deviation(strcmp(cells[USE], "matched") == 0 ? &matched : &held_out, v.stat[DSE_Q_MEAN], v.stat[DSE_Q_SE], all);
        if (metric == DSE_Q_RETAINED_MASS && strcmp(cells[MODEL], "tinyllama-1.1b") == 0)
            assert_true(fabs(v.stat[DSE_Q_MEAN] - all) <= 0.1 * all);
    }
    printf("means over all heads: %zu of %zu held out are met within 10 %%, %zu within that or two standard errors, off by %.1f %% "
           "(at most %.0f %%); of those matched %zu of %zu, off by %.1f %%\n",
           held_out.near, held_out.n, held_out.within, 100 * held_out.sum / (double)held_out.n, 100 * held_out.worst, matched.near,
           matched.n, 100 * matched.sum / (double)matched.n);
    assert_true(held_out.n == 250 && matched.n == 52);
    assert_true(held_out.near >= 235 && held_out.within >= 245 && held_out.sum < 0.032 * (double)held_out.n);
    csv_table_release(&t);
    catalog_free(c);
    diags_release(&diags);
}

/* ---- grouped queries ----------------------------------------------------------------------------------------------------- */

static double mean_of(const struct csv_table *t, const char *model, const char *method, double context, double ratio)
{
    for (size_t i = 0; i < t->n_rows; i++) {
        char **cells = t->rows[i].cells;
        if (strcmp(cells[0], model) == 0 && strcmp(cells[1], method) == 0 && strcmp(cells[2], "attention_error") == 0 &&
            cell(t, i, 3) == context && cell(t, i, 4) == ratio)
            return cell(t, i, 5);
    }
    fail_msg("%s %s %g %g", model, method, context, ratio);
    return 0;
}

static void must_say(const char *document, char *line)
{
    if (!strstr(document, line)) fail_msg("docs/explanation/quality.md does not say: %s", line);
    free(line);
}

enum { CONTEXTS = 3, RATIOS = 4, PLACES = CONTEXTS * RATIOS };
static const double contexts[CONTEXTS] = {512, 1024, 2048}, ratios[RATIOS] = {0.1, 0.2, 0.3, 0.5};
static const char grouped[] = "tinyllama-1.1b", own[] = "codellama-13b";

/* How much more the heads of a layer lose that decide as one; where those of TinyLlama lose less than CodeLlama's do alone. */
static void say_together(const struct csv_table *t, const char *document)
{
    double more[2] = {0, 0};
    int below = 0;
    for (int i = 0; i < PLACES; i++) {
        const double n = contexts[i / RATIOS], r = ratios[i % RATIOS];
        const double each = mean_of(t, grouped, "voting-head", n, r), one = mean_of(t, grouped, "voting", n, r),
                     own_each = mean_of(t, own, "voting-head", n, r), own_one = mean_of(t, own, "voting", n, r);
        must_say(document, xasprintf("| %g | %g | %.3f | %.3f | %.3f | %.3f |", n, r, each, one, own_each, own_one));
        more[0] += log(one / each) / PLACES;
        more[1] += log(own_one / own_each) / PLACES;
        below += one < own_each;
    }
    must_say(document, xasprintf("%.2f times what they lose each by itself in TinyLlama, %.2f times in CodeLlama", exp(more[0]),
                                 exp(more[1])));
    must_say(document, xasprintf("at %d of the %d points", below, PLACES));
}

/* The same methods on both. */
static void say_apart(const struct csv_table *t, const char *document)
{
    static const char *const methods[] = {"h2o", "window", "voting-head", "h2o-accumulate"};
    for (size_t k = 0; k < sizeof methods / sizeof *methods; k++) {
        double mean = 0, least = 100, most = 0;
        for (int i = 0; i < PLACES; i++) {
            const double n = contexts[i / RATIOS], r = ratios[i % RATIOS];
            const double share = mean_of(t, grouped, methods[k], n, r) / mean_of(t, own, methods[k], n, r);
            mean += log(share) / PLACES;
            least = fmin(least, share);
            most = fmax(most, share);
        }
        must_say(document, xasprintf("| `%s` | %.2f | %.2f to %.2f |", methods[k], exp(mean), least, most));
    }
}

/* What dse_llm_unlike_measured decides of grouped queries rests on these numbers: the document has them as the files do. */
static void quality__of_grouped_queries_was_decided_by_what_the_document_says(void **state)
{
    (void)state;
    struct diags diags;
    struct csv_table t = {0};
    diags_init(&diags);
    char *document = rows_text(DSE_SOURCE_DATA "/docs/explanation/quality.md");
    assert_true(document && csv_table_read_any(&t, DSE_SOURCE_DATA "/tests/data/attention_means.csv", &diags));
    say_together(&t, document);
    say_apart(&t, document);
    csv_table_release(&t);
    free(document);
    diags_release(&diags);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quality__of_real_heads_is_left_out_well),
        cmocka_unit_test(quality__of_few_heads_stands_for_all),
        cmocka_unit_test(quality__of_grouped_queries_was_decided_by_what_the_document_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
