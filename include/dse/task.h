/* Scores of techniques on tasks, as papers publish them or a user has measured them (catalog/task_quality.csv,
 * docs/explanation/quality.md): an entry is one task and score, "wikitext2-perplexity", and knows what LLMs reach under which
 * technique. Nothing is interpolated: a point has the score of a row of its LLM, method, ratio and settings, or none.
 *
 * All functions are pure and thread-safe; sentences are constants.
 */
#ifndef DSE_TASK_H
#define DSE_TASK_H

#include <dse/catalog.h>

struct dse_task;

struct dse_task_query {
    const struct dse_llm *llm;
    const char *method; /* as in a quality file; NULL: none, which is the LLM by itself */
    double ratio;       /* of the positions kept; NaN: all */
    unsigned given;     /* settings that are known, 1 << enum dse_setting */
    double setting[DSE_SETTINGS];
};

/* Metrics of a point: a model embeds them with DSE_METRIC_EMBED(..., task, struct dse_score, dse_score_metrics). NaN: nobody
 * says. */
struct dse_score {
    double task_score; /* in its own unit, of which more is better or less */
    double task_loss;  /* what is lost of the LLM's own score, as a share of it */
};
extern const struct dse_metric dse_score_metrics[];

/* NULL; or why there is no such row, and then all of *ret is NaN. A row without a reference has no loss. */
const char *dse_task_find(const struct dse_task *t, const struct dse_task_query *q, struct dse_score *ret);

#endif
