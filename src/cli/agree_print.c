/* What dse agree prints. */
#include "cli/agree_print.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- cells --------------------------------------------------------------------------------------------------------------- */

/* A difference in percent of the closed form: "+1.24 %" for people, 1.24 for programs. */
static void put_percent(struct output *o, enum output_format format, double v)
{
    if (format != OUTPUT_TABLE || isnan(v)) {
        output_f64(o, 100 * v);
        return;
    }
    char *s = fabs(v) < 5e-5 ? xstrdup("0 %") : xasprintf("%+.*f %%", fabs(v) < 0.1 ? 2 : 1, 100 * v);
    output_text(o, s);
    free(s);
}

static const char *cause_name(int i)
{
    return i < AGREE_CAUSES ? dse_ideal_names[i] : "fill and drain";
}

/* ---- the summary --------------------------------------------------------------------------------------------------------- */

static void put_spread(struct output *o, enum output_format format, const struct agree_spread *s)
{
    const double values[] = {s->min, s->p10, s->median, s->p90, s->max, s->within};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) put_percent(o, format, values[i]);
}

static void put_metrics(struct output *o, const struct agreement *a, enum output_format format)
{
    for (int i = 0; agree_metric_names[i]; i++) {
        struct agree_spread s = agree_spread_of(a, agree_metric, i);
        if (format != OUTPUT_TABLE) output_text(o, a->model->desc->name);
        if (format != OUTPUT_TABLE) output_text(o, "difference");
        output_text(o, agree_metric_names[i]);
        put_spread(o, format, &s);
    }
}

/* The metrics whose causes are told. */
static const int told[] = {AGREE_LATENCY, AGREE_ATTENTION, AGREE_ENERGY};
enum { TOLD = sizeof told / sizeof *told };

static void put_causes(struct output *o, const struct agreement *a, enum output_format format)
{
    for (size_t k = 0; k < TOLD; k++) {
        char *what = xasprintf("cause of %s", agree_metric_names[told[k]]);
        for (int i = 0; i <= AGREE_CAUSES; i++) {
            struct agree_spread s = agree_spread_of(a, agree_cause, told[k] * AGREE_CAUSES_AND_LEFT + i);
            output_text(o, a->model->desc->name);
            output_text(o, what);
            output_text(o, cause_name(i));
            put_spread(o, format, &s);
        }
        free(what);
    }
}

/* Side by side for people: of each metric the tenth, the middle and the ninth of ten points. */
static void print_causes(const struct agreement *a)
{
    static const char *const columns[] = {"CAUSE",  "LATENCY P10", "MEDIAN",     "P90",    "ATTENTION P10",
                                          "MEDIAN", "P90",         "ENERGY P10", "MEDIAN", "P90"};
    struct output *o = output_new(stdout, OUTPUT_TABLE, columns, sizeof columns / sizeof *columns);
    for (int i = 0; i <= AGREE_CAUSES; i++) {
        output_text(o, cause_name(i));
        for (size_t k = 0; k < TOLD; k++) {
            const struct agree_spread s = agree_spread_of(a, agree_cause, told[k] * AGREE_CAUSES_AND_LEFT + i);
            put_percent(o, OUTPUT_TABLE, s.p10);
            put_percent(o, OUTPUT_TABLE, s.median);
            put_percent(o, OUTPUT_TABLE, s.p90);
        }
    }
    output_end(o);
}

/* Print the rows of both tables, for programs. */
void agree_print_summary(const struct agreement *a, size_t n, enum output_format format)
{
    static const char *const columns[] = {"model",      "what",    "name",    "min_pct",   "p10_pct",
                                          "median_pct", "p90_pct", "max_pct", "within_pct"};
    struct output *o = output_new(stdout, format, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < n; i++) {
        put_metrics(o, &a[i], format);
        put_causes(o, &a[i], format);
    }
    output_end(o);
}

/* Of one metric, to sort by. */
struct ranked {
    const struct agree_point *point;
    double size;
};

static int by_size(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->size != y->size ? (x->size < y->size) - (x->size > y->size) : (x->point > y->point) - (x->point < y->point);
}

/* The points that are farthest apart in a metric, each with the shortest command that shows it. */
static void print_worst(const struct agree_shown *s, int metric)
{
    const struct agreement *a = s->agreement;
    struct ranked *list = xcalloc(a->n + 1, sizeof *list);
    size_t n = 0;
    for (size_t i = 0; i < a->n; i++)
        if (a->points[i].settings && fabs(a->points[i].metric[metric]) >= 5e-5)
            list[n++] = (struct ranked){&a->points[i], fabs(a->points[i].metric[metric])};
    qsort(list, n, sizeof *list, by_size);
    if (n > 0 && s->worst > 0) printf("\nFarthest apart in %s:\n", agree_metric_names[metric]);
    for (size_t i = 0; i < n && i < s->worst; i++) {
        char *command = agree_shortest(a, s->catalog, s->options, list[i].point, metric);
        printf("  %+7.2f %%  %s\n", 100 * list[i].point->metric[metric], command);
        free(command);
    }
    free(list);
}

static void print_head(const struct agree_shown *s)
{
    const struct agreement *a = s->agreement;
    uint64_t tried = 0;
    size_t found = 0, measured = 0;
    for (size_t i = 0; i < a->n; i++) {
        tried += a->points[i].tried;
        found += a->points[i].settings != NULL;
        measured += a->points[i].is_measured;
    }
    char points[TEXT_NUMBER_MAX], draws[TEXT_NUMBER_MAX];
    terminal_say(stdout, "%s: event level over closed form, at %s points %s (%s drawn)", a->model->desc->name,
                 text_count(points, found), s->from, text_count(draws, tried));
    if (measured)
        terminal_say(stdout,
                     "%s more take their kernels whole from measurements (`measured-kernel`): they say nothing of agreement",
                     text_count(points, measured));
    putchar('\n');
}

void agree_print_report(const struct agree_shown *s)
{
    static const char *const metrics[] = {"METRIC", "MIN", "P10", "MEDIAN", "P90", "MAX", "95 % WITHIN"};
    print_head(s);
    if (agree_spread_of(s->agreement, agree_metric, 0).n == 0) {
        printf("No point ran at both levels%s.\n",
               s->agreement->spent ? ": a run of this model takes longer than the budget leaves it (--budget)" : "");
        return;
    }
    struct output *o = output_new(stdout, OUTPUT_TABLE, metrics, sizeof metrics / sizeof *metrics);
    put_metrics(o, s->agreement, OUTPUT_TABLE);
    output_end(o);
    if (!s->options->no_causes) {
        printf("\nOf the differences, in percent of the closed form:\n\n");
        print_causes(s->agreement);
    }
    fflush(stdout);
    for (size_t k = 0; k < TOLD; k++) print_worst(s, told[k]);
}

void agree_print_rankings(const struct agreement *list, size_t n, const struct sweep_file *s)
{
    const struct agree_flips f = agree_flips_of(list, n, s);
    char flips[TEXT_NUMBER_MAX], pairs[TEXT_NUMBER_MAX];
    struct text t;
    text_init(&t);
    for (size_t k = 0; k < s->n_objectives; k++) text_addf(&t, "%s%s", k ? ", " : "", s->objectives[k].column);
    for (size_t k = 0; k < s->n_per; k++) text_addf(&t, "%s%s", k ? ", " : " per ", s->per[k]);
    terminal_say(stdout, "rankings that flip: %s of %s pairs more than %g %% apart (%s)", text_count(flips, f.flips),
                 text_count(pairs, f.pairs), 100 * AGREE_APART, t.s);
    text_release(&t);
    if (!f.better) return;
    printf("The farthest in %s: %.1f %% better in closed form, %.1f %% worse at event level\n  %s\nthan\n  %s\n",
           s->objectives[f.objective].column, 100 * f.closed, -100 * f.events,
           f.better->command ? f.better->command : f.better->group, f.worse->command ? f.worse->command : f.worse->group);
}

/* ---- for programs: a row a point ----------------------------------------------------------------------------------------- */

/* Start a table of points: model, point, then the metrics and causes as NAME_pct. */
static struct output *output_of_points(enum output_format format)
{
    char *names[32];
    size_t n = 0;
    names[n++] = xstrdup("model");
    names[n++] = xstrdup("point");
    for (int i = 0; agree_metric_names[i]; i++) names[n++] = xasprintf("%s_pct", agree_metric_names[i]);
    for (size_t k = 0; k < TOLD; k++)
        for (int i = 0; i <= AGREE_CAUSES; i++)
            names[n++] = xasprintf("%s%s%s_pct", k ? agree_metric_names[told[k]] : "", k ? "_" : "",
                                   i < AGREE_CAUSES ? dse_ideal_names[i] : "left");
    names[n++] = xstrdup("failure");
    names[n++] = xstrdup("command");
    struct output *o = output_new(stdout, format, (const char *const *)names, n);
    for (size_t i = 0; i < n; i++) free(names[i]);
    return o;
}

void agree_print_points(const struct agreement *list, size_t n, enum output_format format)
{
    struct output *o = output_of_points(format);
    for (size_t m = 0; m < n; m++) {
        for (size_t i = 0; i < list[m].n; i++) {
            const struct agree_point *p = &list[m].points[i];
            output_text(o, list[m].model->desc->name);
            output_i64(o, (int64_t)i + 1);
            for (int k = 0; agree_metric_names[k]; k++) put_percent(o, format, agree_metric(p, k));
            for (size_t k = 0; k < TOLD; k++)
                for (int c = 0; c <= AGREE_CAUSES; c++) put_percent(o, format, agree_cause(p, told[k] * AGREE_CAUSES_AND_LEFT + c));
            output_text(o, p->failure);
            output_text(o, p->command);
        }
    }
    output_end(o);
}
