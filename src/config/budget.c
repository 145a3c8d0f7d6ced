#include "config/budget.h"

#include "base/xalloc.h"

#include <dse/model.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const budget_metrics[] = {"attention_error", "task_loss", "retained_mass", NULL};

bool budget_is_least(enum budget_metric m)
{
    return m == BUDGET_RETAINED_MASS;
}

void budget_init(struct budget *b)
{
    *b = (struct budget){.trust = BUDGET_ANY_TRUST};
    for (int m = 0; m < BUDGET_METRICS; m++)
        for (size_t i = 0; i < BUDGETS_MAX; i++) b->limit[m][i] = (double)NAN;
}

void budget_set_default(struct budget *b)
{
    b->limit[BUDGET_ATTENTION_ERROR][0] = BUDGET_DEFAULT_ERROR;
    b->n = 1;
    b->by_default = true;
}

/* ---- rows ------------------------------------------------------------------------------------------------------------------ */

static bool is_within(const struct budget *b, enum budget_metric m, size_t i, double value)
{
    return budget_is_least(m) ? value >= b->limit[m][i] : value <= b->limit[m][i];
}

static bool loses_nothing(const struct budget_row *row, enum budget_metric m)
{
    if (!row->quality) return !row->has[m];
    return strcmp(row->quality, dse_quality_names[DSE_QUALITY_EXACT]) == 0 ||
           strcmp(row->quality, dse_quality_names[DSE_QUALITY_ROUNDED]) == 0;
}

/* A loss that nobody knows, or of a mean over requests not of all, in the metric, where that keeps the row apart. */
static bool is_unknown(const struct budget *b, const struct budget_row *row, enum budget_metric m)
{
    const bool in_part = m != BUDGET_TASK_LOSS && row->quality && strcmp(row->quality, dse_quality_names[DSE_QUALITY_UNKNOWN]) == 0;
    return budget_limits(b, m) && (isnan(row->value[m]) || in_part) && !loses_nothing(row, m) && b->trust != DSE_QUALITY_UNKNOWN;
}

/* Where the word stands in the order of trust; of a model that does not say, behind all. */
static int32_t trust_of(const struct budget_row *row)
{
    int32_t t = 0;
    while (row->quality && dse_quality_names[t] && strcmp(row->quality, dse_quality_names[t]) != 0) t++;
    return row->quality ? t : DSE_QUALITY_COUNT;
}

static bool is_trusted(const struct budget *b, const struct budget_row *row)
{
    return trust_of(row) <= b->trust || b->trust == DSE_QUALITY_UNKNOWN;
}

unsigned budget_fronts(const struct budget *b, const struct budget_row *row)
{
    if (b->n == 0) return 1;
    if (!is_trusted(b, row)) return 0;
    unsigned fronts = (1u << b->n) - 1;
    bool unknown = false;
    for (int m = 0; m < BUDGET_METRICS; m++) {
        const bool lacks = is_unknown(b, row, (enum budget_metric)m);
        const bool known = budget_limits(b, (enum budget_metric)m) && !isnan(row->value[m]) && !lacks;
        unknown |= lacks;
        for (size_t i = 0; i < b->n && known; i++)
            if (!is_within(b, (enum budget_metric)m, i, row->value[m])) fronts &= ~(1u << i);
    }
    return fronts && unknown ? BUDGET_UNKNOWN : fronts; /* what is known to be over is over, whatever else is not known */
}

static double excess_of(const struct budget *b, enum budget_metric m, double value)
{
    const double limit = b->limit[m][0];
    if (is_within(b, m, 0, value)) return 0;
    return isinf(value) ? 1 : fabs(value - limit) / (fabs(value) + fabs(limit));
}

double budget_excess(const struct budget *b, const struct budget_row *row)
{
    if (b->n == 0) return 0;
    double sum = is_trusted(b, row) ? 0 : 1;
    for (int m = 0; m < BUDGET_METRICS; m++) {
        if (is_unknown(b, row, (enum budget_metric)m))
            sum += 1;
        else if (budget_limits(b, (enum budget_metric)m) && !isnan(row->value[m]))
            sum += excess_of(b, (enum budget_metric)m, row->value[m]);
    }
    return sum;
}

static const char over[] = "over budget";
#define OVER "over budget: "

const char *budget_reason(const struct budget *b, const struct budget_row *row)
{
    static const char *const untrusted[DSE_QUALITY_COUNT + 1] = {[DSE_QUALITY_EXACT] = OVER "quality is exact",
                                                                 [DSE_QUALITY_ROUNDED] = OVER "quality is rounded",
                                                                 [DSE_QUALITY_MEASURED] = OVER "quality is measured",
                                                                 [DSE_QUALITY_EXTENDED] = OVER "quality is extended",
                                                                 [DSE_QUALITY_OTHER_LLM] = OVER "quality is other-llm",
                                                                 [DSE_QUALITY_UNKNOWN] = OVER "quality is unknown",
                                                                 [DSE_QUALITY_COUNT] = OVER "the model does not state its loss"};
    return is_trusted(b, row) ? over : untrusted[trust_of(row)];
}

bool budget_is_reason(const char *reason)
{
    return strncmp(reason, over, sizeof over - 1) == 0;
}

/* ---- words ----------------------------------------------------------------------------------------------------------------- */

struct budget budget_only(const struct budget *b, size_t i)
{
    struct budget ret = *b;
    ret.n = i < b->n;
    for (int m = 0; m < BUDGET_METRICS && ret.n; m++) ret.limit[m][0] = b->limit[m][i];
    return ret;
}

const char *budget_name(const struct budget *b, size_t i, char buf[TEXT_NUMBER_MAX])
{
    return i < b->n ? text_number(buf, b->limit[b->named][i]) : dse_quality_names[DSE_QUALITY_UNKNOWN];
}

static const char default_word[] = "(default)";

char *budget_text(const struct budget *b)
{
    char buf[TEXT_NUMBER_MAX];
    struct text t;
    text_init(&t);
    for (int m = 0; m < BUDGET_METRICS; m++) {
        if (!budget_limits(b, (enum budget_metric)m)) continue;
        text_addf(&t, "%s%s", t.n ? ", " : "", budget_metrics[m]);
        for (size_t i = 0; i < (m == (int)b->named ? b->n : 1); i++) text_addf(&t, " %s", text_number(buf, b->limit[m][i]));
    }
    if (b->by_default) text_addf(&t, " %s", default_word);
    if (b->trust < DSE_QUALITY_COUNT) text_addf(&t, "%strust %s", t.n ? ", " : "", dse_quality_names[b->trust]);
    return text_detach(&t);
}

void budget_add_within(const struct budget *b, struct text *to)
{
    char *text = b->n ? budget_text(b) : NULL;
    if (text) text_addf(to, " within %s", text);
    free(text);
}

/* Reading such a text, word by word. */
struct budget_words {
    struct budget *to;
    enum budget_metric metric;
    bool trust;
};

static void budget_words_begin(struct budget_words *w, struct budget *to)
{
    budget_init(to);
    *w = (struct budget_words){.to = to, .metric = BUDGET_METRICS};
}

static size_t count_of(const struct budget *b, enum budget_metric m)
{
    size_t n = 0;
    while (n < BUDGETS_MAX && !isnan(b->limit[m][n])) n++;
    return n;
}

/* False: it does not go on so. */
static bool budget_words_take(struct budget_words *w, const char *word)
{
    for (int m = 0; m < BUDGET_METRICS; m++)
        if (strcmp(word, budget_metrics[m]) == 0) return w->metric = (enum budget_metric)m, true;
    if (strcmp(word, "trust") == 0) return w->trust = true;
    for (int32_t t = 0; w->trust && t < DSE_QUALITY_COUNT; t++)
        if (strcmp(word, dse_quality_names[t]) == 0) return w->to->trust = t, true;
    if (strcmp(word, default_word) == 0) return w->to->by_default = true;
    double limit;
    if (!text_parse_f64(word, &limit)) return false;
    const size_t n = w->metric < BUDGET_METRICS ? count_of(w->to, w->metric) : BUDGETS_MAX;
    if (isnan(limit) || limit < 0 || n == BUDGETS_MAX) return false;
    w->to->limit[w->metric][n] = limit;
    return true;
}

/* Is what was read a budget, whole? */
static bool budget_words_end(struct budget_words *w)
{
    size_t counts[BUDGET_METRICS], all = 0;
    for (int m = 0; m < BUDGET_METRICS; m++) all += counts[m] = count_of(w->to, (enum budget_metric)m);
    return all > 0 && budget_settle(w->to, counts);
}

bool budget_parse(struct budget *b, const char *text)
{
    struct budget_words w;
    budget_words_begin(&w, b);
    char *copy = xstrdup(text), *rest = copy, *state;
    bool ok = true;
    for (char *word; ok && (word = strtok_r(rest, ", ", &state)) != NULL; rest = NULL) ok = budget_words_take(&w, word);
    free(copy);
    return ok && budget_words_end(&w);
}

char *budget_limits_text(const struct budget *b)
{
    static const char *const words[BUDGET_METRICS] = {"error", "task loss", "retained mass"};
    char buf[TEXT_NUMBER_MAX];
    struct text t;
    text_init(&t);
    for (int m = 0; m < BUDGET_METRICS; m++)
        if (budget_limits(b, (enum budget_metric)m))
            text_addf(&t, "%s%s at %s %s", t.n ? ", " : "", words[m], budget_is_least((enum budget_metric)m) ? "least" : "most",
                      text_number(buf, b->limit[m][0]));
    return text_detach(&t);
}

/* ---- order ----------------------------------------------------------------------------------------------------------------- */

static int by_growth(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The loosest first, each once; returns how many. */
static size_t sort_limits(double *limit, size_t n, bool least)
{
    size_t kept = 0;
    if (n) qsort(limit, n, sizeof *limit, by_growth);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || limit[i] != limit[kept - 1]) limit[kept++] = limit[i];
    for (size_t i = 0; !least && i < kept / 2; i++) {
        const double x = limit[i];
        limit[i] = limit[kept - 1 - i];
        limit[kept - 1 - i] = x;
    }
    for (size_t i = kept; i < n; i++) limit[i] = (double)NAN;
    return kept;
}

bool budget_settle(struct budget *b, const size_t counts[BUDGET_METRICS])
{
    b->n = 0;
    for (int m = 0; m < BUDGET_METRICS; m++) {
        const size_t n = sort_limits(b->limit[m], counts[m], budget_is_least((enum budget_metric)m));
        if (n > 1 && b->n > 1) return false;
        if (n > b->n) b->named = (enum budget_metric)m;
        if (n > b->n) b->n = n;
    }
    for (int m = 0; m < BUDGET_METRICS; m++)
        for (size_t i = 1; i < b->n && m != (int)b->named; i++) b->limit[m][i] = b->limit[m][0];
    return true;
}
