/* What a run optimises: its objectives, and the parameters for whose every combination there is a front. A run keeps it as text in
 * the database: "max tokens_per_s, min area_mm2 per llm, context within
 * attention_error 0.1".
 */
#ifndef DSE_SWEEP_GOAL_H
#define DSE_SWEEP_GOAL_H

#include "config/sweep_file.h"
#include "store/store.h"

struct goal {
    struct budget budget; /* n = 0: none */
    char *columns[SWEEP_OBJECTIVES_MAX];
    bool maximise[SWEEP_OBJECTIVES_MAX];
    size_t n;
    char **per;
    size_t n_per;
};

void goal_init(struct goal *g);
void goal_release(struct goal *g);
/* Add an objective, or a parameter of `per`. goal_add returns false, and adds nothing, when there are SWEEP_OBJECTIVES_MAX
 * already. */
bool goal_add(struct goal *g, const char *column, bool maximise);
void goal_add_per(struct goal *g, const char *parameter);
/* The goal of a sweep file. The caller releases it. */
void goal_of_sweep(struct goal *g, const struct sweep_file *s);

/* The goal as a text, which the caller frees, and back from a text. goal_parse returns false when the text is no goal; g must be
 * released all the same. */
char *goal_text(const struct goal *g);
bool goal_parse(struct goal *g, const char *text);

/* The columns of a scan that goal_values and goal_fronts go by. */
struct scan_columns goal_columns(const struct goal *g);
/* The fronts that a feasible row of such a scan may be on: budget_fronts. */
unsigned goal_fronts(const struct goal *g, const struct scan_row *row);
/* The values of the objectives in a row of the space; NaN for NULL. */
void goal_values(const struct goal *g, const struct space *sp, const union cell *cells, double *ret);

/* Compute the front of the store's run under the goal and its loosest budget, over all its models together, its hypervolume and the
 * run's notices, and store them; and the front of each budget where there are several, and that of the rows whose loss is unknown,
 * where there are any. Of a run that refines, once it has rows at event level, over those alone. */
bool goal_front(struct store *st, const struct goal *g, size_t *ret_n, struct diags *diags);

#endif
