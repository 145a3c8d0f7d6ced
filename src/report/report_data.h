/* Internal to src/report: what a page shows, read from the database, and its data as JSON. */
#ifndef DSE_REPORT_DATA_H
#define DSE_REPORT_DATA_H

#include "base/text.h"
#include "report/report.h"
#include "store/query.h"
#include "sweep/design.h"
#include "sweep/goal.h"

/* ---- the run and its columns (report_run.c) ------------------------------------------------------------------------------ */

/* KIND_NOTE: what a row's numbers rest on (docs/reference/database.md, quality). */
enum report_kind { KIND_MODEL, KIND_OBJECTIVE, KIND_AXIS, KIND_DESIGN, KIND_NOTE, KIND_METRIC };

/* A column of the front: those that all models have, and the varied parameters of single ones, NULL in the rows of others. */
struct report_column {
    enum report_kind kind;
    char *name, *label, *unit, *doc;
    int direction; /* -1: less is better, 1: more, 0: neither */
    bool is_text;
    /* Is it shown? It is when its values differ among the rows of the page, when it is an objective, and when it is a note that
     * some row has. Other columns tell nothing. */
    bool shown;
};

struct report_run {
    const struct report_options *options;
    struct reader *reader; /* its views show this run */
    int64_t id;
    char *sweep, *sweep_text, *fidelity; /* of table run; or NULL */
    uint64_t done;                       /* points evaluated */
    struct goal goal;
    struct name_list models, axes, shared, own; /* sweep/design.h */
    struct name_list *columns_of;               /* of each model's view */
    struct report_column *columns;
    size_t n_columns;
};

/* Open the run of a report. Release it in any case. */
bool report_run_open(struct report_run *r, const struct report_options *o, struct diags *diags);
void report_run_close(struct report_run *r);
/* The column of that name, or NULL. */
const struct report_column *report_column(const struct report_run *r, const char *name);

/* ---- rows (report_rows.c) ------------------------------------------------------------------------------------------------ */

struct report_cell {
    enum cell_type type; /* CELL_NULL, CELL_REAL (any number) or CELL_TEXT */
    double number;
    char *text;
};

struct report_row {
    size_t model; /* index into run.models */
    uint64_t point;
    struct report_cell *cells; /* one a column of the run */
};

struct report_rows {
    struct report_row *rows;
    size_t n;
};

/* The front, best first objective first; every step-th of the feasible rows, spread over the axes, the same ones each time. All
 * columns, or those shown. */
char *front_sql(const struct report_run *r, bool shown_only);
char *sample_sql(const struct report_run *r, uint64_t feasible, bool shown_only);
/* The rows of one of these, of all columns. Release *ret whatever comes back. */
bool report_rows_read(const struct report_run *r, char *sql, struct report_rows *ret, struct diags *diags);
void report_rows_release(const struct report_run *r, struct report_rows *rows);
/* The cell of a column, or NULL. */
const struct report_cell *report_cell(const struct report_run *r, const struct report_row *row, const char *column);

/* ---- what parameters do, and why points are infeasible (report_effects.c) ------------------------------------------------ */

struct report_effects;
/* Compute all effects in one scan over the rows of the run. NULL with errors. The caller frees it. */
struct report_effects *report_effects_new(const struct report_run *r, struct diags *diags);
void report_effects_free(struct report_effects *e);
uint64_t report_effects_feasible(const struct report_effects *e);
/* "[...]": over all models when there are several, and over each. */
void report_effects_json(const struct report_effects *e, struct text *t);
/* The reasons, most frequent first: "[[reason, points], ...]"; and the query that gives them. */
void report_reasons_json(const struct report_effects *e, struct text *t);
char *reasons_sql(const struct report_run *r);

/* ---- points (report_points.c) -------------------------------------------------------------------------------------------- */

/* "[{command, parts}, ...]", one a row: what carries the point out again, and where its time goes; null where that is not known. */
void report_points_json(const struct report_run *r, const struct report_rows *front, struct text *t, struct diags *diags);

/* ---- JSON (report_json.c) ------------------------------------------------------------------------------------------------ */

/* Fit to stand in a page: there is no "<" in it. A string or null; a number in full, or with six digits; NaN is null. */
void json_text(struct text *t, const char *s);
void json_number(struct text *t, double v);
void json_short_number(struct text *t, double v);
/* Add the name of a member, behind "{" or another member. */
void json_key(struct text *t, const char *name);
void json_cell(struct text *t, const struct report_cell *c, bool short_numbers);

/* Write all data of the page as one JSON object; *said gets its sentences about machines at equal quality, a line each. */
bool report_data(struct report_run *r, struct text *ret, struct text *said, struct diags *diags);

#endif
