/* What the files of this room share. */
#ifndef DSE_MEASURED_INTERNAL_H
#define DSE_MEASURED_INTERNAL_H

#include "config/bind.h"
#include "config/csv_table.h"
#include "measured/measured.h"
#include "measured/notes.h"
#include "space/expr.h"

/* A CSV file: its table, and its cells as numbers (NaN: empty, or a text). */
struct measured_file {
    char *name; /* without ".csv" */
    struct csv_table table;
    double *numbers;            /* rows * columns */
    bool *is_taken;             /* by some binding, a row */
    size_t split, source, unit; /* columns; SIZE_MAX: there is none */
};

/* "{...}" in a text: pieces that are joined. */
struct piece {
    char *text;                  /* as it stands; or NULL */
    size_t column;               /* its text; SIZE_MAX: none */
    struct expr *expr;           /* a number; or NULL */
    const struct toml_node *map; /* what becomes of the column's text; or NULL */
    const char *map_name;
    bool is_band; /* the map goes by number: the first entry that is not below it */
};
struct template
{
    const struct toml_node *node;
    struct piece *pieces;
    size_t n;
};

/* NAME = TEMPLATE. */
struct setting {
    const char *name;
    struct template value;
};

/* A design that a binding asks a model about. */
struct asked {
    const char *name; /* "" where there is but one */
    struct setting *settings;
    size_t n;
};

/* A name in a binding's value. */
struct wanted {
    char *text;
    size_t point, column;      /* of a design; SIZE_MAX: it is the row's number in that column */
    const struct field *field; /* of a design: a parameter, a metric or an equation */
    int kind;                  /* 0, 1, 2 */
    double number;             /* what the expression reads */
};
enum { WANTED_MAX = 32, POINTS_MAX = 4 };

struct measured_bind {
    struct measured_set *set;
    const struct toml_node *table;
    struct measured_file *file;
    const struct toml_node *where;
    double *numbers;   /* of the row at hand, one a column: what expressions read */
    struct expr *only; /* or NULL */
    const struct model *model;
    struct binding *defaults; /* of the model */
    struct asked points[POINTS_MAX];
    size_t n_points;
    struct wanted wanted[WANTED_MAX];
    size_t n_wanted;
    struct expr *value;
    size_t measured; /* column */
    const char *unit;
    struct template regime;
};

/* What is asked of a row: the settings of each point. */
struct question {
    const struct measured_bind *bind;
    size_t row;
    char **assignments[POINTS_MAX];
    double values[WANTED_MAX];
};

struct measured_set {
    struct catalog *catalog;
    char *dir;
    struct toml_doc *doc;
    struct measured_notes *notes;
    struct measured_file *files;
    size_t n_files;
    struct measured_bind *binds;
    size_t n_binds;
    struct measured_row *rows;
    struct question *questions; /* as many */
    size_t n_rows;
    char **texts; /* regimes, each once */
    size_t n_texts;
};

/* Read a file, unless it is there. NULL with errors. (file.c) */
struct measured_file *measured_file_read(struct measured_set *s, const char *name, struct srcloc loc, struct diags *diags);
void measured_file_release(struct measured_file *f);
/* The column of that name; SIZE_MAX: there is none. */
size_t measured_column(const struct measured_file *f, const char *name);
/* Errors of rows that a binding takes: a row twice. */
bool measured_file_check(const struct measured_file *f, struct diags *diags);

/* Compile a text with "{...}". (template.c) */
bool template_init(struct template *t, struct measured_bind *b, const struct toml_node *node, struct diags *diags);
void template_release(struct template *t);
/* The text for the row whose numbers stand in b->numbers; NULL with *ret_why (the caller frees it) where a map lacks the value or
 * the number has none. The caller frees the text. */
char *template_text(const struct template *t, const struct measured_bind *b, size_t row, char **ret_why);

/* An expression over the numbers of the row at hand. */
struct expr *measured_row_expr(struct measured_bind *b, const char *text, const struct toml_node *node, size_t offset,
                               struct diags *diags);

/* Read one [[bind]]. (bindings.c) */
bool measured_bind_read(struct measured_bind *b, struct measured_set *s, const struct toml_node *table, struct diags *diags);
void measured_bind_release(struct measured_bind *b);

/* Make the rows of a binding and what is asked of them. (questions.c) */
bool measured_ask(struct measured_set *s, struct measured_bind *b, struct diags *diags);
void question_release(struct question *q);

/* The number that the binding's value has with these parameters of its points; metrics and equations are for working in. One thread
 * at a time. (constants.c) */
double question_number(const struct question *q, void *const *params, void *metrics, void *equations);
/* Parameters of each point, which the caller frees; false: the model refuses one, and some may be set. */
bool question_params(const struct question *q, void **ret);

#endif
