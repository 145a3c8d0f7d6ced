/* Scores of techniques on tasks: the row of a point. */
#include "workload/task.h"

#include <math.h>
#include <string.h>

#define S struct dse_score
const struct dse_metric dse_score_metrics[] = {
    DSE_METRIC_F64_OR_NULL(S, task_score, "", DSE_NEITHER, "published score of the technique on the task, in the task's unit",
                           "docs/explanation/quality.md", .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_F64_OR_NULL(S, task_loss, "", DSE_LESS, "share of the LLM's own score that the technique loses",
                           "docs/explanation/quality.md", .mean = DSE_MEAN_TOKEN),
    DSE_METRIC_END,
};
#undef S

static bool has_settings(const struct task_row *r, const struct dse_task_query *q)
{
    for (int i = 0; i < DSE_SETTINGS; i++)
        if (!isnan(r->setting[i]) && (!(q->given >> i & 1) || q->setting[i] != r->setting[i])) return false;
    return true;
}

static bool has_ratio(const struct task_row *r, double ratio)
{
    const double alike = 1e-9;
    return isnan(r->ratio) ? isnan(ratio) : fabs(r->ratio - ratio) <= alike;
}

static void set_score(const struct task_row *r, double value, struct dse_score *ret)
{
    ret->task_score = value;
    if (!isnan(r->reference) && r->reference != 0) ret->task_loss = r->more ? 1 - value / r->reference : value / r->reference - 1;
}

const char *dse_task_find(const struct dse_task *t, const struct dse_task_query *q, struct dse_score *ret)
{
    bool llm = false, method = false;
    *ret = (struct dse_score){(double)NAN, (double)NAN};
    for (size_t i = 0; i < t->n; i++) {
        const struct task_row *r = &t->rows[i];
        if (strcmp(r->llm, q->llm->entry.name) != 0) continue;
        llm = true;
        const bool same = q->method ? strcmp(r->method, q->method) == 0 : !isnan(r->reference);
        if (!same) continue;
        method = true;
        if (q->method && !(has_ratio(r, q->ratio) && has_settings(r, q))) continue;
        set_score(r, q->method ? r->value : r->reference, ret);
        return NULL;
    }
    if (!llm) return "the task has no score for this LLM (task, llm)";
    if (!q->method) return "the task has no score of the LLM without a technique (task)";
    return method ? "the task has this technique only at other ratios or settings (task)"
                  : "the task has no score for this technique (task)";
}
