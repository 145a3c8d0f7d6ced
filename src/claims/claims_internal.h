/* The inside of a set of claims, shared by the files of this room.
 *
 *     rows.c       claims.csv -> struct claim
 *     machines.c   [machines] and [cases] -> places: a machine in the cases of a claim, with the points that it makes
 *     bindings.c   [claims], [contradictions] -> bindings: an expression over places and published numbers, and its cases
 *     names.c      the names in an expression
 *     values.c     the number of a binding
 *     steps.c      the number once more, step by step in other settings
 *     events.c     machines at event level
 *     attention.c  [attention] -> heads, and statistics measured on them
 *     measured.c   claims."X".measured -> bindings: an expression over statistics, on several heads
 *     constants.c  [constants], [calibrate], and which claims depend on which constants
 *     alternatives.c  what a chosen constant could have been instead
 *     units.c      which units are the same
 *     neighbours.c whether two claims ask the same, and in which parameters they differ
 *     evidence.c   classes of evidence, and the null model
 *     claims.c            the set: open, answer, sum up
 */
#ifndef DSE_CLAIMS_INTERNAL_H
#define DSE_CLAIMS_INTERNAL_H

#include "claims/evidence.h"
#include "claims/steps.h"
#include "config/csv_table.h"
#include "config/sweep_file.h"
#include "space/expr.h"
#include "space/space.h"
#include "workload/generator.h"
#include "workload/trace.h"

enum { CLAIMS_CASES_MAX = 100000, CLAIMS_CONTEXT_MAX = 1 << 24 };

/* A model and the parameters in which it differs from its defaults. */
struct machine {
    char *name;
    const struct model *model;     /* NULL: broken, and said so */
    const struct toml_node *table; /* NULL: a model's name, all its defaults */
};

/* One design point of a place, computed when asked for. */
struct spot {
    void *params, *metrics, *equations; /* NULL before */
    const char *infeasible;             /* the reason, once metrics were asked for; or NULL */
};

/* A machine in the cases of a claim: the space over those cases that are its parameters. Claims share places. */
struct place {
    const struct machine *machine;
    const struct toml_node *cases, *set; /* or NULL */
    struct binding *binding;
    struct sweep_file sweep;
    struct space *space;
    struct spot *spots;     /* space_count() of them */
    enum fidelity fidelity; /* of metrics, where the model has it; */
    bool pinned;            /* always */
    double *constants;      /* the values that the points are made with, one a constant; NULL: as shipped */
    size_t n_constants;
    const volatile sig_atomic_t *stop; /* nothing is carried out any more when it is set; or NULL */
};

/* What is measured on heads; `dse profile` prints the same. Names: statistic_names. */
enum statistic {
    STATISTIC_CENTERS,
    STATISTIC_LARGE,
    STATISTIC_ACTIVE,
    STATISTIC_UPDATES,
    STATISTIC_HIT_RATIO,
    STATISTIC_TOP1,
    STATISTIC_TOP1_PLUS_TOP2,
    STATISTIC_FALSE_NEGATIVE,
    STATISTIC_FALSE_POSITIVE,
    STATISTIC_SOFTMAX_MSE,
    STATISTIC_LINES_MSE,
    STATISTIC_ATTENTION_ERROR,
    STATISTIC_INSIDE,
    STATISTIC_RECOMPUTED,
    STATISTIC_WITHIN_1E_2,
    STATISTIC_WITHIN_1E_1,
    STATISTIC_LARGEST_DIFFERENCE,
    STATISTIC_EXP_ERROR,
    STATISTICS
};
extern const char *const statistic_names[]; /* closed by NULL */

/* What they are found out by: each is run once for some heads, over all contexts that claims ask for. */
enum run_kind { RUN_LOCALITY, RUN_RANGE, RUN_PARTIAL, RUN_NOTHING, RUN_KINDS };
enum run_kind statistic_run(enum statistic s); /* RUN_NOTHING: takes no heads */

/* A run: the statistics of its kind at each context. */
struct run {
    size_t *contexts, n;          /* growing */
    double (*values)[STATISTICS]; /* NULL before */
};

/* [attention.NAME]: heads that claims are measured on. */
struct attention {
    struct claim_attention public;
    const struct toml_node *table;
    bool good; /* false: broken, and said so */
    struct generator generator;
    size_t heads; /* of the generator; 0: others */
    struct trace *trace;
    const struct dse_profile *profile; /* measured before: its points are the run, */
    struct csv_table *range;           /* or the rows of a file of catalog/ranges */
    size_t steps;                      /* measured before each context; 0: its second half */
    char *source;
    struct run runs[RUN_KINDS];
};

/* A name in an expression: a number of a place, published numbers, a statistic. */
enum source { FROM_PARAMS, FROM_METRICS, FROM_EQUATIONS, FROM_ENTRY, FROM_PUBLISHED, FROM_STATISTIC };
struct name {
    char *text;
    enum source source;
    struct place *place;
    const struct field *field; /* FROM_ENTRY: of the catalog entry that `ref` refers to */
    const struct field *ref;
    const struct claim **published; /* one, or one a case */
    size_t n_published;
    enum statistic statistic;
    double value; /* what muParser reads */
};

enum mean { MEAN_NONE, MEAN_GEOMETRIC, MEAN_ARITHMETIC, MEAN_MIN, MEAN_MAX };

/* An axis of the cases: a parameter and how many values it has. Sorted by name; the last runs fastest, as in a space. */
struct case_axis {
    const char *name;
    uint64_t n;
};

/* How the model answers one claim or contradiction. */
struct answer {
    const struct claim *claim;     /* or NULL: of a contradiction, or nothing there */
    const struct toml_node *table; /* of claims.toml; NULL: nothing there */
    const struct toml_node *value, *cases, *set;
    const char *unreachable;
    const char *unit; /* of a contradiction's number; a claim has its own */
    bool skip_infeasible;
    enum mean mean;
    struct expr *expr; /* NULL: no number */
    struct name **names;
    size_t n_names;
    struct case_axis *axes;
    size_t n_axes;
    uint64_t n_cases;
    bool measured;              /* its names are statistics and its cases contexts: */
    size_t *contexts;           /* n_cases of them; NULL: statistics that take no heads */
    const struct attention *on; /* what it is evaluated on now */
    char *reason;               /* of the last evaluation: why it had no number; or NULL */
    enum evidence_class class;  /* that claims.toml gives; or EVIDENCE_NONE */
    const struct toml_node *class_node;
    const char *because;
};

/* claims."X".measured */
struct measured {
    struct answer answer;
    struct attention **on; /* n_on of them; NULL: statistics that take no heads */
    const char **fitted;   /* of each: what of it was fitted to the claim; or NULL */
    size_t n_on;
    char *at;         /* "min of 512, 1024, 2048", "4096", "" */
    const char *note; /* "" when there is none */
};

/* Of `steps`. */
struct step {
    struct claim_step public; /* claim, what, fidelity */
    struct answer answer;
};

struct constant {
    struct claim_constant public; /* strings borrowed */
    char *name;                   /* of a borrowed one */
    double *alternatives;
    const struct field *field; /* of the first machine's model */
    const struct machine **machines;
    size_t n_machines;
};

struct claim_set {
    const struct model *model;
    const struct catalog *catalog;
    char *data_dir;
    struct csv_table csv;
    bool rows_whole; /* every row of claims.csv could be read: an id that is not there does not exist */
    struct toml_doc *doc;
    struct claim *claims;
    struct answer *answers; /* one a claim */
    size_t n_claims;
    struct machine **machines;
    size_t n_machines;
    struct place **places;
    size_t n_places;
    struct claim_contradiction *contradictions;
    struct answer *contradiction_answers;
    size_t n_contradictions;
    struct constant *constants;
    struct claim_constant *public_constants;
    size_t n_constants;
    size_t *fitted;
    size_t n_fitted;
    struct attention **attention;
    size_t n_attention;
    struct measured *measured;
    size_t n_measured;
    struct step *steps;
    size_t n_steps;
    struct claim_step *public_steps; /* NULL before they were asked for */
    struct claim_measure *measures;  /* of the last claims_measure */
    size_t n_measures;
    uint64_t *depends;         /* one a claim */
    struct evidence *evidence; /* one a claim */
    char **texts;              /* n_texts of them, that evidence speaks in */
    size_t n_texts;
    const double *current; /* values of the constants to evaluate with; NULL: as shipped */
};

/* claims.c: an error in claims.toml. hint may be NULL. Always false. */
bool claims_error(const struct claim_set *s, struct srcloc loc, const char *hint, struct diags *diags, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
/* "did you mean ...?", or `otherwise`. The caller frees it. */
char *claims_hint(const char *word, const char *const *names, size_t n, const char *otherwise);

/* What sums share: is the claim in the group; has its answer an error that counts; the sum over the claims for which `in` is set. */
bool claims_in_group(const struct claim *c, const struct claim_group *g);
bool claims_has_error(const struct claim_answer *a);
struct claim_sum claims_sum_of(const struct claim_set *s, const struct claim_answer *answers, const bool *in);

/* rows.c: read data_dir/models/NAME/claims.csv. */
bool claims_read_rows(struct claim_set *s, struct diags *diags);
struct claim *claims_find(const struct claim_set *s, const char *id);
/* An error at a node whose string, or key, is no claim's id. Always false; silent when rows are missing anyway. */
bool claims_no_such_id(const struct claim_set *s, const char *id, struct srcloc loc, struct diags *diags);

/* machines.c */
bool claims_read_machines(struct claim_set *s, struct diags *diags);
/* Every key of [cases.X] or `set` is a parameter of a model. */
bool claims_check_params(struct claim_set *s, const struct toml_node *table, struct diags *diags);
/* The machine of that name; the model of that name with all its defaults; or NULL. */
struct machine *claims_machine(struct claim_set *s, const char *name);
/* The place of a machine, new or shared. NULL with errors, or without when the machine was broken. */
struct place *claims_place(struct claim_set *s, struct machine *m, const struct toml_node *cases, const struct toml_node *set,
                           struct diags *diags);
/* Does the machine, or does the place, give this parameter itself? */
bool machine_gives(const struct machine *m, const char *param);
bool place_gives(const struct place *p, const char *param);
/* Make the points with the set's current constants from now on. */
void place_update(const struct claim_set *s, struct place *p);
/* The point of that index with the parameters filled in. Metrics are there after spot_metrics, unless it gives a reason (spot->infeasible, or that
 * *p->stop was set before they were there); equations after
 * spot_equations. */
struct spot *place_spot(struct place *p, uint64_t index);
const char *spot_metrics(const struct place *p, struct spot *spot);
void spot_equations(const struct place *p, struct spot *spot);
void place_free(struct place *p);

/* Forget the points that are at hand. */
void place_drop(struct place *p);

/* names.c: compile a->value; names become a->names. NULL with errors. */
struct expr *claims_compile(struct claim_set *s, struct answer *a, const struct toml_node *published, struct diags *diags);

/* bindings.c: [claims] and [contradictions]. */
bool claims_read_bindings(struct claim_set *s, struct diags *diags);
bool claims_read_contradictions(struct claim_set *s, struct diags *diags);
/* Compile a->value, whose table, cases, set and mean are read, with what belongs to it in the table; `unit` as in claims_check_unit. */
bool claims_compile_answer(struct claim_set *s, struct answer *a, const char *unit, struct diags *diags);
void answer_release(struct answer *a);
/* The key `mean` of a->table. */
bool claims_read_mean(const struct claim_set *s, struct answer *a, struct diags *diags);
/* The key `unit` of a->table, and whether the compiled value has the unit `claim` (NULL: of a contradiction, which states its own). */
bool claims_check_unit(const struct claim_set *s, struct answer *a, const char *claim, struct diags *diags);

/* steps.c: the key `steps` of a claim that is read otherwise. */
bool claims_read_steps(struct claim_set *s, const struct answer *claim, struct diags *diags);

/* values.c: the number with the set's current constants, NaN with a->reason. */
double answer_value(struct claim_set *s, struct answer *a);

/* attention.c */
bool claims_read_attention(struct claim_set *s, struct diags *diags);
struct attention *claims_attention(const struct claim_set *s, const char *name);
/* Ask for a statistic, named at `value`, at a context, given at `at`. False with an error when these heads cannot give it. */
bool attention_want(const struct claim_set *s, struct attention *a, enum statistic statistic, size_t context, struct srcloc value,
                    struct srcloc at, struct diags *diags);
/* Runs of many heads, told as one progress. */
struct measure_progress {
    void (*tell)(void *user, double share); /* or NULL */
    void *user;
    double done, now, all; /* in the unit of attention_work */
};
/* Run what was asked for. False with errors. */
bool attention_run(struct attention *a, struct measure_progress *progress, struct diags *diags);
/* How much work that is, for progress alone. */
double attention_work(const struct attention *a);
/* A statistic that was asked for and run; NaN when there is none. a and context: NULL and 0 for one that takes no heads. */
double attention_value(const struct attention *a, enum statistic statistic, size_t context);
void attention_free(struct attention *a);

/* measured.c: the key `measured` of a claim. */
bool claims_read_measured(struct claim_set *s, const struct claim *c, const struct toml_node *table, struct diags *diags);
void measured_release(struct measured *m);

/* alternatives.c: the keys `alternatives`, `text` and `source` of a constant whose machines are known. */
bool claims_read_alternatives(const struct claim_set *s, struct constant *c, const struct toml_node *table, struct diags *diags);

/* constants.c */
bool claims_read_constants(struct claim_set *s, struct diags *diags);
bool claims_read_calibrate(struct claim_set *s, struct diags *diags);
/* Fill s->depends. */
void claims_find_dependences(struct claim_set *s);

/* units.c: may a field of unit `field` answer for `claim`? `stated`: the author has said that the unit is that, so only a known
 * contradiction counts. */
bool claims_units_agree(const char *field, const char *claim, bool stated);
bool claims_units_same(const char *a, const char *b);

/* neighbours.c: a parameter in which the machines or cases of two answers differ. */
struct difference {
    const char *param;
    bool is_number;
    bool of_case; /* given by cases or `set`, not by the machine */
    bool inside;  /* the values of the first are among, or between, those of the second */
    double far;   /* of numbers: |ln| of the ratio of their means */
};
enum { DIFFERENCES_MAX = 64 };
/* Is it the same value of machines of the same models, in the same unit? Means of cases are one kind, a minimum and a maximum others. */
bool answers_ask_the_same(const struct answer *a, const struct answer *b);
/* The differences of answers that ask the same, each parameter once. */
size_t answers_compare(const struct answer *a, const struct answer *b, struct difference ret[DIFFERENCES_MAX]);
/* Are both made of the same numbers of the same machines in the same cases, whatever their expressions? */
bool answers_use_the_same(const struct answer *a, const struct answer *b);

/* evidence.c: the keys `class` and `because` of a claim. */
bool claims_read_class(const struct claim_set *s, struct answer *a, struct diags *diags);
/* Fill s->evidence: first what the null model copies, with machines as shipped; classes when s->depends is there. */
void claims_find_nearest(struct claim_set *s);
bool claims_classify(struct claim_set *s, struct diags *diags);

#endif
