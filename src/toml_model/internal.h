/* Internal to src/toml_model: a model as it is read and compiled.
 *
 * A variant of a model (events.c) is a struct toml_model, too: the same equations compiled once more, with some of them as inputs.
 * What is made of a model's graph (plan.c) and run (point.c) is made and run of a variant alike.
 *
 * Files that call each other: autos, box, built_in, chosen, closed, compile, compile_at, compile_calls, compile_loops,
 * compile_solve,
 * constants, events, formulas, include, many, many_boxes, plan, point, slopes, tables, toml_model, walk: an equation is compiled
 * where another one asks for it, and the tables of a struct dse_model point to functions that run what was compiled.
 */
#ifndef DSE_TOML_MODEL_INTERNAL_H
#define DSE_TOML_MODEL_INTERNAL_H

#include "config/toml.h"
#include "formula/formula.h"
#include "graph/primitive.h"
#include "graph/program.h"
#include "graph/unroll.h"
#include "model/many.h"
#include "model/registry.h"
#include "model/slopes.h"

#include "desc/schema.h"

#include <dse/closed.h>
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

/* A number that formulas read and no formula makes: an input of the graph, whose `what` is its place in the list. */
enum input_kind {
    INPUT_FIELD,       /* a parameter */
    INPUT_ENTRY,       /* a field of the catalog entry that a parameter names */
    INPUT_ENTRY_NAMED, /* 1 where a parameter names the entry `text` of its catalog, else 0 */
    INPUT_POLICY,      /* a trait of the policy of eviction, which is a choice */
    INPUT_NUMBER,      /* a constant of a formula, in a model whose constants are open */
    INPUT_AUTO,    /* of a parameter that may be "auto": 1; at the lower end of a box 0 where it is what its formula gives there */
    INPUT_GIVEN,   /* of a variant: a number that the event level gives in place of an equation */
    INPUT_ELEMENT, /* a field of the operator that a loop is at; from here on all are of an element */
    INPUT_NAMED,   /* 1 where that has the name `text`, else 0 */
    INPUT_ROLE,    /* the same of its role */
    INPUT_MIXER,   /* the same of the mixer of a group of attention */
    INPUT_GIVEN_ELEMENT,
};
struct input {
    enum input_kind kind;
    char *name;
    struct measure measure;
    enum dse_type type; /* of the field */
    size_t offset, ref; /* in the parameters, the element, the policy or the struct of given numbers; FIELD, ENTRY, POLICY: of
                           the parameter */
    enum domain domain; /* ELEMENT and behind: DOMAIN_ATTENTION, or DOMAIN_OPERATORS for all kinds of them */
    char *text;         /* NAMED, ROLE, MIXER, ENTRY_NAMED */
    double number;      /* NUMBER */
};

/* A constant that stands in a formula, of a model whose constants are open. */
struct constant {
    const char *text; /* the formula */
    size_t at;        /* in it */
    struct srcloc loc;
    int input;
    char *name; /* of the equation or function that it stands in */
    bool alone; /* it is all of that */
};

/* A number of [parameters] with the default "auto" (autos.c). */
struct auto_number {
    const char *name;
    size_t offset;
    int equation;
    struct graph_node *steps; /* that compute it: the last one gives it */
    int n_steps;
};

/* Of an equation that is printed: it is that of the point with another value of a parameter, of those that are tried, where `least`
 * is least. The numbers are equations. */
struct trying {
    const struct field *parameter;
    int step, shares, least; /* multiples of `step` are tried, and `shares` over 1, 2, ..., rounded up to one */
    int first, most; /* or whole numbers up to `most`, in steps of a quarter, for the first where `first` is above 0; or -1 */
};

enum equation_kind { EQUATION_SCALAR, EQUATION_ELEMENT };

/* A named number that a formula gives. */
struct equation {
    enum equation_kind kind;
    const struct toml_doc *file; /* that it stands in */
    bool at_work, is_bad;        /* it is being compiled; it has an error */
    char *name;                  /* "gemv_s"; of what has none, what it is: "the time of \"attention\"" */
    bool is_public;              /* other formulas may use it */
    enum domain domain;          /* ELEMENT: of the loop */
    const char *variable;        /* ELEMENT: "op" */
    struct formula formula;
    bool borrows;      /* the formula is a part of another's */
    struct srcloc loc; /* of its name */
    bool has_measure;  /* the name or the place says its unit */
    struct measure measure;
    const char *unit, *doc; /* doc: or NULL */
    const char *source;     /* of [equations] and [metrics]; "" */
    int node;               /* of the model's graph */
    struct trying *trying;  /* or NULL */
    bool is_given;          /* of a variant: the node is an input, in place of the formula */
};

struct function {
    char *name;
    char **arguments;
    int n_arguments;
    struct formula formula;
    bool at_work;
};

/* The files that a model's file includes, a file before those that include it. */
struct includes {
    struct toml_doc **docs;
    int n;
};

/* A constant table: [tables]. */
struct table_column {
    char *name;
    struct measure measure;
};
struct table {
    char *name;
    struct table_column *columns;
    int n_columns, n_rows;
    double *cells; /* row by row, in the own units of their dimensions */
};

/* Equations under other values of parameters: what at() asks for. Context 0 is the model as it is. */
struct setting {
    int input, node;
};
struct made_equation {
    bool is_done;
    int node;
};
/* The nodes of the model's graph that an input reaches, found as far as they are asked for; input -1: the numbers of elements. */
struct reach {
    int input;
    bool *is; /* by node, the first n */
    int n;
};
struct context {
    struct setting *settings; /* by input */
    int n;
    struct made_equation *made; /* by equation */
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
    TOTAL_PEAK_W, /* of a GPU that is bought: its limit, and with no work */
    TOTAL_IDLE_W,
    TOTAL_TOKEN_TIME, /* of boxes alone: what the batch has cancelled in */
    TOTAL_TOKEN_ENERGY,
    TOTALS
};

struct condition {
    char *reason;
    int equation, needed, there; /* needed, there: of "a <= b", or -1 */
};

struct conditions {
    struct condition *list;
    int n;
};

enum part_number { PART_TIME, PART_BYTES, PART_OPS, PART_ENERGY, PART_COMPUTE, PART_DRAM, PART_WHEN, PART_NUMBERS };
/* What a part waits for besides arithmetic and DRAM: "voting engine". */
struct part_limit {
    const char *name;
    int equation; /* seconds */
};
enum { PART_LIMITS_MAX = 4 };
struct part_row {
    char *name;
    int depth;
    struct part_limit limits[PART_LIMITS_MAX];
    int n_limits;
    enum domain domain;          /* a part for each of its elements, with their names; or NONE */
    int equations[PART_NUMBERS]; /* -1: none; PART_WHEN: there is such a part where it is not 0 */
};

struct own_metric {
    int equation;
    const char *const *choices; /* the number is the place of one of these words; NULL: it is a number */
    const char *why_null;       /* where it has no number; or NULL */
    enum dse_mean mean;
    double scale;
    size_t offset;
};

/* A number that an event level reads of the equations, or gives in place of them. */
struct event_number {
    const char *name;              /* "clock_ghz", "op.gemv_s" */
    const struct toml_node *node;  /* where the file has it */
    const struct field *parameter; /* or NULL: */
    int equations[DOMAINS], n;     /* one; of elements those of all loops that have one of that name */
    bool of_elements;
    size_t offset; /* in the struct in C */
};

/* What is asked of a model's graph, each by a program of its own. CHECK comes before ESTIMATE, which goes on from there. */
enum question {
    QUESTION_CHECK,
    QUESTION_ESTIMATE,
    QUESTION_SHORTAGE,
    QUESTION_BREAKDOWN,
    QUESTION_EQUATE,
    QUESTION_STAND,
    QUESTION_CHOOSE,
    QUESTIONS
};

/* What [arithmetic] says of the numbers that attention is computed in: whether their error counts, and the settings. */
enum inexact_number { INEXACT_WHEN, INEXACT_FIRST, INEXACT_SECOND, INEXACT_THIRD, INEXACT_NUMBERS };
enum inexact_method { INEXACT_FIXED, INEXACT_SOFTMAX, INEXACT_METHODS };

/* [chosen.batch]: with any but the first choice of `by`, the parameter is the most that is wanted. Equations: whether a number
 * fits; what it is a multiple of; and what is least at the best one, or null where the most whole rounds are taken. */
enum chosen_number { CHOSEN_FITS, CHOSEN_ROUND, CHOSEN_LEAST, CHOSEN_NUMBERS };
enum { CHOSEN_TRIED_MAX = 64 };
struct chosen {
    const struct field *parameter, *by; /* by: NULL where nothing is chosen */
    int equations[CHOSEN_NUMBERS];
};

struct plan;
struct plans;
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
    const char **only[2]; /* parameters that the closed form alone reads, and the event level alone; closed by NULL, or NULL */
    struct group_places groups;
    unsigned can;
    struct dse_trend *trends;
    size_t n_trends;
    char *defaults;                 /* as defaults.toml would have them */
    char *claims_csv, *claims_toml; /* the same of claims; or NULL */
    char ***choices;
    size_t n_choices;

    struct auto_number *autos;
    int n_autos;

    struct includes includes;
    char *included; /* their texts, of a model that stays */
    struct table *tables;
    int n_tables;
    struct function *functions;
    int n_functions;
    struct equation *equations;
    int n_equations, n_written; /* n_written: those of the file, before those that compiling adds */
    struct input *inputs;
    int n_inputs;
    bool is_open; /* each constant is an input: a twin of a model, which slopes.c differentiates */
    struct constant *constants;
    int n_constants;
    int terms; /* of the formulas that are compiled */
    struct graph graph;
    struct reach varying;  /* of elements */
    struct reach *reaches; /* of inputs that at() sets, while formulas are compiled */
    int n_reaches;
    struct context *contexts; /* while formulas are compiled */
    int n_contexts;
    int n_unknowns;         /* of solve() */
    bool expands;           /* a formula reads the operators of the step */
    int sold_usd, sold_mm2; /* constants of the book of costs: of the computer that the chip is sold in, and of its die; or -1 */
    bool of_rows;           /* these are of one row: dse_workload_expand_row */

    struct conditions check, beyond;          /* what refuses a point; what its numbers take from beyond what was measured */
    int n_refuse;                             /* of check: what is asked before the groups are */
    struct conditions unmeasured;             /* why nobody knows what the output is worth */
    struct part_limit causes[DSE_CAUSES_MAX]; /* of energy: joules */
    int n_causes;
    bool off_by_eviction; /* without eviction nothing depends on what it alone reads */
    bool off_by_decoding; /* the same of LAD's decoding */
    struct dse_technique techniques[3];
    int totals[TOTALS]; /* equations, or -1 */
    const struct field
        *board; /* the parameter that names the FPGA or GPU whose boards are bought; NULL: the bill is of `die`, or there is none */
    struct chosen chosen;
    int inexact[INEXACT_NUMBERS]; /* [arithmetic]: equations; -1: attention is exact */
    enum inexact_method inexact_method;
    struct own_metric *own;
    int n_own;
    size_t n_common;          /* metrics before those */
    struct own_metric *shown; /* equations that --equations prints */
    int n_shown;
    struct part_row *parts;
    int n_parts;

    /* the event level */
    const struct dse_closed_model *built_in; /* or NULL: it is no model of the tree, and has none */
    struct toml_model **variants;
    int n_variants;
    const struct toml_model *of; /* of a variant: the model */
    const char *variant;         /* its name */
    _Atomic bool is_ready;       /* it is compiled */
    const struct dse_closed_variant *table;
    struct event_number *gives, *reads;
    int n_gives, n_reads;

    struct plans *plans;
    struct many many;
    struct slopes slopes;
    struct dse_model plain; /* desc, by walk.c */
    struct point_context *_Atomic *pool;
};

/* A metric of the model's own into its place: NaN where it is no number. */
static inline void own_store(const struct own_metric *own, double number, void *metrics)
{
    void *to = (char *)metrics + own->offset;
    const double x = number / own->scale;
    if (own->choices)
        *(int32_t *)to = (int32_t)x;
    else
        *(double *)to = isfinite(x) ? x : (double)NAN;
}

/* ---- chosen.c: [chosen.PARAMETER] ---- */

bool read_chosen(struct toml_model *m, struct diags *diags);
/* formulas.c: the equation of a key; -1 with an error added. */
int formula_in_unit(struct toml_model *m, const struct toml_node *key, const char *unit, struct diags *diags);
int formula_without_unit(struct toml_model *m, const struct toml_node *key, struct diags *diags);
/* Does the point leave a number to the model? */
bool chooses(const struct toml_model *m, const void *params);
/* Put a number in the place of that parameter. */
void chosen_set(const struct toml_model *m, void *params, double x);
/* Put the number that the model chooses there; `number` answers for other numbers in its place. */
struct chosen_ask {
    double (*number)(void *object, const void *params, enum chosen_number which);
    void *object;
};
void chosen_take(const struct toml_model *m, const struct chosen_ask *ask, void *params);
/* point.c: the same of a point, of which *ret is a copy. */
void point_chosen(const struct toml_model *m, const void *params, void *ret);

/* ---- names.c: what a name means ---- */

int add_equation(struct toml_model *m, struct equation e);
int find_equation(const struct toml_model *m, const char *name, enum domain domain);
/* The input of that name in a loop over `domain` (or none), made if need be; -1: there is no such. */
int find_input(struct toml_model *m, const char *name);
int element_input(struct toml_model *m, enum domain domain, const char *field);
/* The input that is 1 where an element has that name, or (INPUT_ROLE) role, or (INPUT_MIXER) mixer. */
int named_input(struct toml_model *m, enum input_kind kind, enum domain domain, const char *text);
/* The input that is 1 where the parameter names that entry. */
int entry_name_input(struct toml_model *m, const struct field *f, const char *text);
/* "gpu.gemms_from": the choices of that field of the entry that the parameter names; NULL: it is none. And its input. */
const char *const *entry_choices(const struct toml_model *m, const char *name);
int entry_choice_input(struct toml_model *m, const char *name);
/* The same of a model that is compiled. */
int entry_choice_of(const struct toml_model *m, const char *name);
/* The input of a constant that stands there, made if need be, of an open model. `in`: where it stands. */
int number_input(struct toml_model *m, const struct formula *f, const struct formula_node *n, const char *in);
/* The input INPUT_AUTO of a parameter. */
int auto_input(struct toml_model *m, const struct auto_number *a);
/* The input that stands in place of an equation: a number of the struct of given numbers. */
int given_input(struct toml_model *m, const struct equation *e, size_t offset);
static inline bool is_given(const struct input *in)
{
    return in->kind == INPUT_GIVEN || in->kind == INPUT_GIVEN_ELEMENT;
}
/* Names that a formula may use, or fields that an element of the domain has, for the nearest; the caller frees the array alone. */
const char **known_names(const struct toml_model *m, enum domain domain, size_t *ret_n);
enum domain domain_find(const char *name);
/* The group that the parameter there is of; GROUPS: it is the model's own. */
enum group group_of_param(const struct toml_model *m, size_t offset);
/* May resolve() set any number of the group by any other? */
bool group_is_resolved(enum group g);

/* ---- compile.c ---- */

/* Compile an equation and what it needs. False with an error added. */
bool compile_equation(struct toml_model *m, int i, struct diags *diags);
/* Is the node of the element that a loop over operators is at? */
bool compile_varies(struct toml_model *m, int node);
/* ---- compile_at.c: before the first equation is compiled, and behind the last ---- */
void contexts_begin(struct toml_model *m);
void contexts_end(struct toml_model *m);

/* ---- include.c, constants.c: [tables] ---- */

bool includes_read(const struct toml_doc *doc, struct includes *ret, struct diags *diags);
void includes_release(struct includes *i);
/* The texts of all files, one behind the other. The caller frees it. */
char *includes_text(const struct includes *i);
/* [tables] of a file. */
bool read_tables(struct toml_model *m, const struct toml_doc *doc, struct diags *diags);
const struct table *find_table(const struct toml_model *m, const char *name);
int find_column(const struct table *t, const char *name);
/* The table and the column of "tiles.rows"; NULL: it is none. *ret_column: -1 where there is no such column. */
const struct table *table_of_column(const struct toml_model *m, const char *name, int *ret_column);
void constants_free(struct toml_model *m);

/* ---- plan.c: the graph of a model for the operators of a step ---- */

/* Numbers that a program reads: of the point, or of an operator of its step. */
struct plan_input {
    int slot, what, element;
};
struct plan {
    struct plan *next;
    uint64_t *structure; /* struct signature */
    int n_structure;
    bool is_own;      /* the caller's alone: plan_let_go */
    int32_t *choices; /* of a plan for boxes: the model's choices; else NULL */
    struct graph graph;
    struct slots slots;
    struct program programs[QUESTIONS];
    struct plan_input *inputs;
    int n_inputs, n_main; /* n_main: those of CHECK and ESTIMATE, which come first */
    int *main, n_nodes;   /* nodes that CHECK and ESTIMATE need and that are neither inputs nor answers, in their order */
    int *equations;       /* node by equation; -1: it is asked by nobody, or an element's */
    int *parts;           /* of parts of a loop: node by part, element and number */

    /* of a variant that reads: */
    int *reads;                    /* node by number, and by 1 + element; 0: of none; -1: there is none */
    struct program fixed, depends; /* what they need and does not depend on given numbers; then what does */
};
/* The operators that the model's loops run over; of a part of a box those at both ends. */
static inline void expand(const struct toml_model *m, const struct dse_workload *w, struct dse_oplist *ret)
{
    (m->of_rows ? dse_workload_expand_row : dse_workload_expand)(w, ret);
}
static inline void expand_part(const struct toml_model *m, const struct dse_workload_part *part, struct dse_oplist *ret_least,
                               struct dse_oplist *ret_most)
{
    if (m->of_rows)
        dse_workload_part_expand_row(part, ret_least, ret_most);
    else
        dse_workload_part_expand(part, -1, -1, ret_least, ret_most);
}
/* What of a list of operators decides which plan it is. */
struct signature {
    int n;
    uint64_t key[DSE_OPS_MAX + DSE_ATTENTIONS_MAX + 1];
};
/* `list`: NULL of a model that does not read it. */
void signature_of(const struct dse_oplist *list, struct signature *ret);

struct plans *plans_new(void);
void plans_free(struct plans *p);
/* The plan of these operators, made if need be: it stays as long as the model, or, where many are there already, until plan_let_go,
 * which every caller calls. Thread-safe. */
const struct plan *plan_find(const struct toml_model *m, const struct dse_oplist *list, const struct signature *s);
void plan_let_go(const struct plan *p); /* NULL: nothing */
/* The same for boxes and blocks of points, which have the choices of `params`: it has no programs, and gives CHECK and ESTIMATE
 * alone. It stays; NULL where many are there already: the plan of a point serves as well. */
const struct plan *plan_find_chosen(const struct toml_model *m, const struct dse_oplist *list, const struct signature *s,
                                    const void *params);
/* The node of number k of part i at an element. */
int plan_part(const struct toml_model *m, const struct plan *p, int i, int element, int k);
/* The node of number k that the variant reads, at an element or (-1) of none; -1: no equation has one there. */
int plan_read(const struct plan *p, int k, int element);
/* Elements are counted operators first, then groups of attention: is this one in the domain? */
bool element_in(enum domain d, const struct dse_oplist *list, int element);
/* What the structure says of an element, where the input is of that kind. */
bool element_known(const struct input *in, const struct dse_oplist *list, int element, double *ret);
int elements_of(const struct dse_oplist *list);

/* ---- point.c ---- */

const char *point_check(const struct toml_model *m, const void *params);
bool point_shortage(const struct toml_model *m, const void *params, const char *reason, struct dse_shortage *ret);
void point_estimate(const struct toml_model *m, const void *params, void *metrics, struct dse_breakdown *breakdown);
/* The estimate by a variant, at these operators. `given`: its struct in C. */
void point_report(const struct toml_model *variant, const void *params, const struct dse_oplist *list, const void *given,
                  void *metrics, struct dse_breakdown *breakdown);
void point_equate(const struct toml_model *m, const void *params, void *equations);
void point_resolve(const struct toml_model *m, void *params);
void point_stand(const struct toml_model *m, const void *params, struct dse_standing *ret);
const char *point_why_null(const struct toml_model *m, const void *params, const char *metric);
void point_pool_release(struct toml_model *m);
/* The number of an input, in the own unit of its dimension. */
double point_input(const struct toml_model *m, const struct plan_input *i, const void *params, const struct dse_oplist *list);

/* The same of a parameter of the workload, which stands by itself. */
double point_workload_input(const struct toml_model *m, int what, const struct dse_workload *w);

/* The board that is bought at a point, an FPGA or a GPU; NULL: the bill is of dies. */
const struct dse_entry *point_board(const struct toml_model *m, const struct groups *g);
/* Is anything paid for? */
static inline bool has_bill(const struct toml_model *m)
{
    return m->board || m->totals[TOTAL_DIE] >= 0 || m->sold_usd >= 0;
}
/* What the groups refuse at a point, before the file's own check; or NULL. */
const char *point_refusal(const struct toml_model *m, const struct groups *g);
/* The common metrics, from the totals of [step]; of those that it does not say the number is not read. */
void point_common(const struct toml_model *m, const struct groups *g, const double *totals, bool with_bill, struct dse_common *ret);
/* peak_w, idle_w: of a GPU. */
struct bill_numbers {
    double chips, die_mm2, nm, peak_w, idle_w;
};
struct dse_bill bill_of(const struct toml_model *m, const struct groups *g, const struct bill_numbers *n);
/* The same with what is paid for, which does not depend on time and energy; NULL: no bill. */
struct dse_bill point_bill(const struct toml_model *m, const struct groups *g, const double *totals);
void point_common_built(const struct toml_model *m, const struct groups *g, const double *totals, const struct dse_bill *bill,
                        const struct dse_built *built, struct dse_common *ret);

/* ---- box.c: bounds over a box of points ---- */

/* dse_model.bound. */
bool point_bound(const struct toml_model *m, const void *lo, const void *hi, void *floor, void *ceiling);
/* Are some of the points generations? */
bool box_generates(const struct toml_model *m, const void *lo, const void *hi);
/* The number of an input at the lower (`hi`: the upper) end of the box that is bounded now. */
double box_end(const struct toml_model *m, const struct plan_input *i, const void *params, const struct dse_oplist *list, bool hi);
/* An input, from its numbers at both ends. */
static inline struct graph_range box_input(double x, double y)
{
    if (isnan(x) || isnan(y)) return isnan(x) && isnan(y) ? range_nothing : range_unknown;
    return (struct graph_range){dse_min(x, y), dse_max(x, y), false, signbit(x) || signbit(y)};
}
/* The bounds of metrics, from the ranges of equations over the box. False: the file's check refuses all points. */
struct box_ranges {
    const struct toml_model *m;
    const struct groups_box *groups;
    void *object;
    struct graph_range (*at)(void *object, int equation);
};
bool box_metrics(const struct box_ranges *b, void *floor, void *ceiling);
/* The parts of that. Is a condition true at no point? */
bool box_refuses(struct graph_range holds);
/* The common metrics, from the totals of [step]: those that are not told are range_unknown. */
void box_common(const struct toml_model *m, const struct groups_box *g, const struct graph_range *totals, bool with_bill,
                struct dse_common *floor, struct dse_common *ceiling);
void box_own(const struct own_metric *own, struct graph_range r, void *floor, void *ceiling);
/* Is the box's workload one part of which everything is followed? *ret_part: that. */
bool box_is_one_part(const struct toml_model *m, const void *lo, const void *hi, struct dse_workload_part *ret_part);
/* The number of an input that is given. */
double point_given(const struct toml_model *m, const struct plan_input *i, const struct dse_oplist *list, const void *given);

/* ---- walk.c: the same without the graph ---- */

/* Find what names mean, of a model that compiles. */
void walk_prepare(struct toml_model *m);
const char *walk_check(const struct toml_model *m, const void *params);
void walk_estimate(const struct toml_model *m, const void *params, void *metrics, struct dse_breakdown *breakdown);
bool walk_bound(const struct toml_model *m, const void *lo, const void *hi, void *floor, void *ceiling);
bool walk_part(const struct toml_model *m, const void *lo, const void *hi, const struct dse_workload_part *part, void *floor,
               void *ceiling);
/* How metrics move (graph/range.h), of a part of a box; and of a box: struct many.walk_moves. */
void walk_part_moves(const struct toml_model *m, const void *lo, const void *hi, const struct dse_workload_part *part,
                     const struct graph_moves *params, struct graph_moves *ret);
void walk_moves(const void *model, const void *lo, const void *hi, const struct graph_moves *params, struct graph_moves *ret);

/* ---- closed.c: dse/closed.h */

/* dse_model.simulate, of a model with an event level. */
bool closed_simulate(const struct toml_model *m, const void *params, struct dse_sim *sim, void *metrics,
                     struct dse_breakdown *breakdown);

/* ---- many.c: blocks of points; many_boxes.c: blocks of boxes ---- */

struct many many_of(const struct toml_model *m);
struct reads;
struct box_blocks;
struct box_blocks *box_blocks_new(const struct reads *reads);
void box_blocks_free(struct box_blocks *b);
/* struct many.bound. */
void box_blocks_run(struct box_blocks *b, const struct many_boxes *boxes, bool *possible, void *floors, void *ceilings);

/* ---- slopes.c: how metrics change ---- */

struct slopes slopes_of(const struct toml_model *m);

/* ---- read.c, tables.c ---- */

/* NULL with errors added. Takes the document. `is_open`: each constant becomes an input. built_in: or NULL. */
struct toml_model *toml_model_new(struct toml_doc *doc, bool is_open, const struct dse_closed_model *built_in, struct diags *diags);
void toml_model_free(struct toml_model *m);
/* What the registry has of a model that stays. */
struct made_model toml_model_made(const struct toml_model *m);
/* parameters.c: [parameters], the shared groups, [defaults]. */
bool read_parameters(struct toml_model *m, struct diags *diags);
/* autos.c: what stands for parameters at "auto", of a model whose parameters are read; then of one that is compiled. */
bool read_autos(struct toml_model *m, struct diags *diags);
bool prepare_autos(struct toml_model *m, struct diags *diags);
void autos_free(struct toml_model *m);
/* NULL: the parameter is none of them. */
const struct auto_number *find_auto(const struct toml_model *m, const char *name);
/* Is the parameter at that place what its formula gives? */
bool auto_is_open(const struct toml_model *m, size_t offset, const void *params);
/* Fill in those that are not given. */
void resolve_autos(const struct toml_model *m, void *params);
/* The equation of `auto = "formula"`; -1 with an error added. */
int equation_of_auto(struct toml_model *m, const struct toml_node *formula, const struct field *f, struct diags *diags);
/* formulas.c: [functions], [equations], [for.X], [check], [step], [metrics], [[parts]]. */
bool read_formulas(struct toml_model *m, struct diags *diags);
/* Do names and calls of all of them fit? */
bool compile_all(struct toml_model *m, struct diags *diags);
/* Compile the equations that are not yet. */
bool compile_written(struct toml_model *m, struct diags *diags);
/* events.c: [events], of a model that is compiled. */
bool read_events(struct toml_model *m, struct diags *diags);
/* Compile a variant, if that was not done. Thread-safe. */
void variant_ready(struct toml_model *v);
/* End the program: a model of the tree has errors. */
_Noreturn void built_in_end(const struct dse_closed_model *file, const struct diags *diags);
void free_variants(struct toml_model *m);
/* claims.c: [claims]. */
bool read_claims(struct toml_model *m, struct diags *diags);
/* trends.c: [trends], of a model whose metrics are read. */
bool read_trends(struct toml_model *m, struct diags *diags);
/* tables.c: rows of metrics and equations of a model that compiles. */
void make_tables(struct toml_model *m);
/* A string of the table; NULL: there is none, or, with an error added, another thing. */
const char *string_of(const struct toml_doc *doc, const struct toml_node *table, const char *key, struct diags *diags);
/* Is it a name that may stand in a formula and in SQL? Else an error at the key. */
bool check_name(const struct toml_doc *doc, const struct toml_node *key, struct diags *diags);
/* No table and no list of the document has more entries than it may; else an error. */
bool check_entries(const struct toml_doc *doc, const struct toml_node *n, struct diags *diags);
/* The same of a section, whose entries join those that other files of the model have. */
bool check_room(const struct toml_doc *doc, const struct toml_node *section, int there, struct diags *diags);
/* The functions of the descriptor, for a model that stays; false: there are too many. */
bool toml_model_place(struct toml_model *m);
/* The model that stays and is of that file; NULL: there is none yet. */
const struct toml_model *toml_model_placed(const struct dse_closed_model *built_in);

#endif
