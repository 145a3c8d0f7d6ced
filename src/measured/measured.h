/* Measured machines: rows that somebody measured on hardware, and what the models say of the same.
 *
 * A directory of measured files holds CSV files of any columns, one a source, and bindings.toml, which says how a model answers
 * their rows (docs/explanation/measured-machines.md):
 *
 *     [[bind]]
 *     file   = "splitwise"                              # splitwise.csv
 *     where  = { quantity = "token_time" }              # rows whose columns have these values
 *     only   = "batch <= 64"                            # and for which this holds; an empty cell is no number
 *     model  = "flashdecoding"
 *     set    = { gpu = "{gpu}", batch = "{batch}", context = "{prompt_tokens + floor(output_tokens / 2)}" }
 *     value  = "latency_us / 1000"
 *     unit   = "ms"
 *     regime = "token time, {gpu}"
 *
 * {...} is a column's text, {column:map} what a table of [maps] or [bands] makes of it, or an expression over the row's numbers.
 * `points` names several designs, whose numbers are "prefill.latency_us" then. Every file has a column `split`: `calibrate` rows
 * may fit constants, `test` rows may not.
 *
 * A row that no binding takes has no answer here; one that the model refuses has, with the reason.
 */
#ifndef DSE_MEASURED_MEASURED_H
#define DSE_MEASURED_MEASURED_H

#include "config/catalog.h"
#include "model/registry.h"

enum measured_split { MEASURED_CALIBRATE, MEASURED_TEST, MEASURED_SPLITS };
extern const char *const measured_split_names[]; /* "calibrate", "test", NULL */

/* One row of a file, as one binding puts it to a model. Strings live as long as the set. */
struct measured_row {
    const char *source, *file;
    int line;
    enum measured_split split;
    const struct model *model;
    const char *regime, *unit;
    double measured;
    double modelled; /* NaN: not answered yet, or `reason` */
    char *reason;    /* why there is no number; or NULL */
    char *settings;  /* of the first of its points, as for `dse eval MODEL`: "--set gpu=h100 ..." */
};

struct measured_set;

/* Read bindings.toml in `dir` and every file that it binds; what its entries.toml has, if there is one, is added to the catalog.
 * NULL with all errors: broken bindings, a file with a number that is none, an unknown split, a unit that is not the binding's, a
 * row twice, a GPU or LLM that the catalog lacks, each with its place. The catalog must outlive it. */
struct measured_set *measured_open(const char *dir, struct catalog *catalog, struct diags *diags);
void measured_close(struct measured_set *s);
/* Answer all rows of a model, or of all (NULL), in closed form, on as many threads as there are. */
void measured_answer(struct measured_set *s, const struct model *model);
const struct measured_row *measured_rows(const struct measured_set *s, size_t *ret_n);
/* Rows of all files that no binding takes. */
size_t measured_unbound(const struct measured_set *s);

/* Errors of the rows of one source, model, regime and split, in percent of what was measured. */
struct measured_sum {
    const char *source, *regime;
    const struct model *model;
    enum measured_split split;
    size_t rows, refused;         /* refused: without an answer; not among rows */
    double mean, mean_abs, worst; /* worst: signed */
    double within_10, within_25;  /* shares of rows, 0 to 1 */
    const struct measured_row *worst_row;
};
/* In the order of the bindings and of their first rows; the caller frees the list. Regimes of which no row was asked (rows and
 * refused 0) are left out. */
struct measured_sum *measured_sums(const struct measured_set *s, const struct model *model, size_t *ret_n);

/* Parameters that were fitted to measured rows and that the numbers of the sum's rows change with, by a few of them: "a, b", or "".
 * The caller frees it. */
char *measured_constants(const struct measured_set *s, const struct measured_sum *sum);
/* What causes.toml says (notes.h); lives as long as the set. */
struct measured_notes;
const struct measured_notes *measured_notes(const struct measured_set *s);

#endif
