/* Internal to src/toml_model: a model as it is read and compiled. */
#ifndef DSE_TOML_MODEL_INTERNAL_H
#define DSE_TOML_MODEL_INTERNAL_H

#include "toml_model/formula.h"
#include "toml_model/machine.h"
#include "toml_model/shared.h"

#include "desc/schema.h"

#include <dse/model.h>

/* What operators, or groups of attention, a loop runs over. */
enum domain {
    DOMAIN_NONE = -1,
    DOMAIN_LINEAR,
    DOMAIN_SCORES,
    DOMAIN_VALUES,
    DOMAIN_ELEMENTWISE,
    DOMAIN_RECURRENCE,
    DOMAIN_COLLECTIVE,
    DOMAIN_OPERATORS,
    DOMAIN_ATTENTION,
    DOMAINS
};
extern const char *const domain_names[DOMAINS + 1]; /* "linear", ..., NULL */

/* A number that formulas read and no formula makes. Each has a slot of its own. */
enum input_kind {
    INPUT_FIELD,   /* a parameter */
    INPUT_ENTRY,   /* a field of the catalog entry that a parameter names */
    INPUT_SHARED,  /* a quantity of a group of parameters */
    INPUT_ELEMENT, /* a field of the operator that a loop is at */
    INPUT_NAMED,   /* 1 where that has the name `text`, else 0 */
};
struct input {
    enum input_kind kind;
    char *name;
    int slot;
    struct measure measure;
    enum dse_type type; /* of the field */
    size_t offset, ref; /* in the parameters or the element; ENTRY: of the reference among the parameters */
    const struct shared_quantity *shared;
    enum domain domain; /* ELEMENT, NAMED: DOMAIN_ATTENTION, or DOMAIN_OPERATORS for all kinds of them */
    char *text;         /* NAMED */
};

enum equation_kind { EQUATION_SCALAR, EQUATION_ELEMENT, EQUATION_SUM, EQUATION_MOST, EQUATION_LEAST };
enum equation_state { EQUATION_NEW, EQUATION_AT_WORK, EQUATION_DONE, EQUATION_BAD };

/* A named number that a formula gives, or a sum over a loop. */
struct equation {
    enum equation_kind kind;
    enum equation_state state;
    char *name;             /* "gemv_s"; of what has none, what it is: "the time of \"attention\"" */
    bool is_public;         /* other formulas may use it */
    enum domain domain;     /* ELEMENT: of the loop; SUM, ...: that it is over */
    const char *variable;   /* ELEMENT: "op" */
    struct formula formula; /* SCALAR, ELEMENT */
    bool borrows;           /* the formula is a part of another's */
    struct srcloc loc;      /* of its name */
    bool has_measure;       /* the name or the place says its unit */
    struct measure measure;
    const char *unit, *doc; /* doc: or NULL */
    int slot;
    char *code; /* what assigns the slot: "v7=(v1*v2)" */
    int *needs; /* equations, and inputs as -1 - index */
    int n_needs;
    int operand; /* SUM, ...: the element that is summed */
    int phase;   /* 0: of parameters alone; odd: in a loop; even: behind the loop before it */
    int order;   /* every equation stands behind those that it needs */
};

struct function {
    char *name;
    char **arguments;
    int n_arguments;
    struct formula formula;
    bool at_work;
};

/* A loop or a piece of straight code of a plan. */
struct stage {
    enum domain domain;
    char *code; /* or NULL: it only sums */
    struct machine_code machine;
    int *inputs; /* of the elements */
    int n_inputs;
    int *sums; /* equations */
    int n_sums;
};
/* What makes some of the equations. */
struct plan {
    int *inputs;
    int n_inputs;
    struct stage *stages;
    int n_stages;
    bool expands; /* it has a loop */
    bool *made;   /* of each equation: is it computed? */
};

enum total {
    TOTAL_TIME,
    TOTAL_ATTENTION,
    TOTAL_TOKENS,
    TOTAL_ENERGY,
    TOTAL_BYTES,
    TOTAL_OPS,
    TOTAL_PEAK_OPS,
    TOTAL_PEAK_BYTES,
    TOTAL_AREA,
    TOTAL_COMPUTE,
    TOTAL_DRAM,
    TOTAL_LATENCY,
    TOTAL_CHIPS,
    TOTAL_DIE,
    TOTAL_NODE,
    TOTALS
};

struct condition {
    char *reason;
    int equation, needed, there; /* needed, there: of "a <= b", or -1 */
};

enum part_number { PART_TIME, PART_BYTES, PART_OPS, PART_ENERGY, PART_COMPUTE, PART_DRAM, PART_NUMBERS };
struct part_row {
    char *name;
    int depth;
    enum domain domain;          /* a part for each of its elements, with their names; or NONE */
    int equations[PART_NUMBERS]; /* -1: none */
    struct stage stage;          /* of a loop */
};

struct own_metric {
    int equation;
    enum dse_mean mean;
    double scale;
    size_t offset;
};

struct point_context;

struct toml_model {
    struct toml_doc *doc;
    char *file;
    const char **lines; /* of the document, while [claims] is read */

    /* what the descriptor is made of */
    struct dse_model desc;
    struct dse_param *params;
    size_t n_params;
    struct dse_metric *metrics, *equation_rows;
    const char **without;
    struct schema schema; /* of params */
    struct shared_groups groups;
    unsigned can;
    struct dse_trend *trends;
    size_t n_trends;
    char *defaults;                 /* as defaults.toml would have them */
    char *claims_csv, *claims_toml; /* the same of claims; or NULL */
    char ***choices;
    size_t n_choices;

    struct function *functions;
    int n_functions;
    struct equation *equations;
    int n_equations, n_ordered;
    struct input *inputs;
    int n_inputs;
    int n_slots;
    int terms;           /* of the formulas that are compiled */
    size_t shared_bytes; /* that simplify() has looked at */
    struct machine_room room;

    struct condition *conditions;
    int n_conditions;
    int totals[TOTALS]; /* equations, or -1 */
    struct own_metric *own;
    int n_own;
    struct own_metric *shown; /* equations that --equations prints */
    int n_shown;
    struct part_row *parts;
    int n_parts;

    struct plan check, shortage, estimate, breakdown, equate;

    struct point_context *_Atomic *pool;
};

/* ---- names.c: what a name means ---- */

int add_equation(struct toml_model *m, struct equation e);
int new_slot(struct toml_model *m);
int find_equation(const struct toml_model *m, const char *name, enum domain domain);
/* The input of that name in a loop over `domain` (or none), made if need be; -1: there is no such. */
int find_input(struct toml_model *m, const char *name);
int element_input(struct toml_model *m, enum domain domain, const char *field);
int named_input(struct toml_model *m, enum domain domain, const char *text);
/* Names that a formula may use, or fields that an element of the domain has, for the nearest; the caller frees the array alone. */
const char **known_names(const struct toml_model *m, enum domain domain, size_t *ret_n);
enum domain domain_find(const char *name);

/* ---- compile.c ---- */

/* Compile an equation and what it needs. False with an error added. */
bool compile_equation(struct toml_model *m, int i, struct diags *diags);

/* ---- plan.c ---- */

/* The plan of these equations; behind `before`, unless that is NULL, without those that it makes. */
void plan_make(struct toml_model *m, const int *roots, int n, const struct plan *before, struct plan *ret);
/* Make it shorter. It keeps the equations `roots`, and what is read in the plan `behind`, unless that is NULL. */
void plan_simplify(struct toml_model *m, struct plan *p, const int *roots, int n, const struct plan *behind);
/* The stage that makes the elements `roots` for one operator. */
void stage_make(struct toml_model *m, enum domain domain, const int *roots, int n, struct stage *ret);
void plan_release(struct plan *p);
void stage_release(struct stage *s);

/* ---- simplify.c ---- */

/* The same code without the slots that nobody keeps, where that makes it shorter. The caller frees it. */
char *simplify(struct toml_model *m, const char *code, const bool *keep);
/* Add how often the code names each slot. */
void count_slots(const char *code, int *uses);

/* ---- point.c ---- */

const char *point_check(const struct toml_model *m, const void *params);
bool point_shortage(const struct toml_model *m, const void *params, const char *reason, struct dse_shortage *ret);
void point_estimate(const struct toml_model *m, const void *params, void *metrics, struct dse_breakdown *breakdown);
void point_equate(const struct toml_model *m, const void *params, void *equations);
void point_resolve(const struct toml_model *m, void *params);
void point_stand(const struct toml_model *m, const void *params, struct dse_standing *ret);
const char *point_why_null(const struct toml_model *m, const void *params, const char *metric);
/* Make the programs of all plans. False with an error added: a formula is too deep. */
bool point_prepare(struct toml_model *m, struct diags *diags);
void point_pool_release(struct toml_model *m);

/* ---- read.c, tables.c ---- */

/* NULL with errors added. Takes the document. */
struct toml_model *toml_model_new(struct toml_doc *doc, struct diags *diags);
void toml_model_free(struct toml_model *m);
/* parameters.c: [parameters], the shared groups, [defaults]. */
bool read_parameters(struct toml_model *m, struct diags *diags);
/* formulas.c: [functions], [equations], [for.X], [check], [step], [metrics], [[parts]]. */
bool read_formulas(struct toml_model *m, struct diags *diags);
/* Do names and calls of all of them fit? */
bool compile_all(struct toml_model *m, struct diags *diags);
/* claims.c: [claims]. */
bool read_claims(struct toml_model *m, struct diags *diags);
/* trends.c: [trends], of a model whose metrics are read. */
bool read_trends(struct toml_model *m, struct diags *diags);
/* tables.c: rows of metrics and equations, and the plans, of a model that compiles. */
void make_tables(struct toml_model *m);
/* A string of the table; NULL: there is none, or, with an error added, another thing. */
const char *string_of(const struct toml_model *m, const struct toml_node *table, const char *key, struct diags *diags);
/* Is it a name that may stand in a formula and in SQL? Else an error at the key. */
bool check_name(const struct toml_model *m, const struct toml_node *key, struct diags *diags);
/* The functions of the descriptor, for a model that stays; false: there are too many. */
bool toml_model_place(struct toml_model *m);

#endif
