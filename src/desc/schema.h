/* A table of rows made flat: embedded tables are unfolded, offsets count from the start of the outer struct, and fields can be
 * looked up by name.
 *
 *     struct schema s;
 *     schema_init_params(&s, lad_params_table);
 *     const struct field *f = schema_find(&s, "tiles");
 *     struct value v = {.i64 = 8};
 *     field_set(f, params, v);
 *     schema_release(&s);
 *
 * Fields borrow every string from the rows they come from.
 */
#ifndef DSE_DESC_SCHEMA_H
#define DSE_DESC_SCHEMA_H

#include "base/diag.h"
#include "base/text.h"

#include <dse/desc.h>
#include <dse/model.h>
#include <stdbool.h>

/* Who reads a parameter. */
enum field_reader { READ_BY_BOTH, READ_BY_CLOSED_FORM, READ_BY_EVENT_LEVEL };

/* One parameter or metric. */
struct field {
    enum dse_type type;                     /* F64, I64, ENUM, REF; PATTERN in catalogs */
    enum field_reader reader;               /* parameters */
    const char *name, *unit, *doc, *source; /* doc: says who reads it, unless both fidelities do */
    size_t offset;
    double min, max;
    const char *const *choices;
    enum dse_kind kind;
    const char *const *excludes; /* names, NULL-terminated; or NULL */
    bool may_be_auto;
    bool alone;             /* a REF whose entry sets no other parameter */
    bool optional;          /* a catalog entry may leave it out, which gives NaN, 0 or the first choice */
    bool together;          /* the same, but only together with all other fields that are */
    bool without;           /* a metric that has no meaning in this model: stored as NULL */
    bool may_be_null;       /* a metric that is NaN where it is not known: stored as NULL there */
    enum dse_better better; /* metrics */
    enum dse_mean mean;     /* metrics; DSE_MEAN_BY_UNIT only where neither row nor unit say it */
};

struct schema {
    struct field *fields;
    size_t n;
    struct refusal *refusals; /* of tables that are embedded with DSE_EMBED_REFUSING */
    size_t n_refusals;
    char **docs; /* owned texts, of parameters that only one fidelity reads */
    size_t n_docs;
};

struct refusal {
    size_t offset;
    const char *(*refuse)(const void *embedded);
};

/* A value of any type. Which member counts is told by the field's type. */
struct value {
    union {
        double f64;
        int64_t i64;
        int32_t choice;
        const struct dse_entry *ref;
        const struct dse_pattern *pattern; /* inside the object that it was read from */
    };
};

void schema_init_params(struct schema *s, const struct dse_param *table);
/* Note that only `reader` reads these parameters. names is closed by NULL, or is NULL. */
void schema_read_by(struct schema *s, const char *const *names, enum field_reader reader);
/* Is a metric of that name a row of the table itself? SQL does not tell upper from lower case, and nor does this. */
bool metrics_have(const struct dse_metric *table, const char *name);
/* `without` as in struct dse_model; may be NULL. */
void schema_init_metrics(struct schema *s, const struct dse_metric *table, const char *const *without);
/* Say what metrics in a unit of the model's own (dse_model.units) are measured by. */
void schema_own_units(struct schema *s, const struct dse_unit *own);
void schema_release(struct schema *s);

/* The names of all fields, n of them. The caller frees the array. */
const char **schema_names(const struct schema *s);
/* The field of that name, or NULL. */
const struct field *schema_find(const struct schema *s, const char *name);
/* Why no machine can have these parameters, which are resolved; NULL when one can. It is bad input, not an infeasible point. */
const char *schema_refuse(const struct schema *s, const void *params);
/* Is it forbidden to give the parameter of that name together with f? */
bool field_excludes(const struct field *f, const char *name);
/* Does the field hold a number? f may be NULL. */
bool field_is_number(const struct field *f);
size_t schema_index(const struct schema *s, const struct field *f);

struct value field_get(const struct field *f, const void *object);
void field_set(const struct field *f, void *object, struct value v);
bool field_same(const struct field *f, const void *a, const void *b);
/* The value of f as a number, for expressions, plots and fronts; NaN for a REF or ENUM. */
double field_number(const struct field *f, const void *object);
/* A value as users write it: "8", "0.87", "exact", "llama2-7b"; "auto" for NaN. The string lives as long as buf and the catalog. */
const char *value_text(const struct field *f, struct value v, char buf[TEXT_NUMBER_MAX]);
/* A pattern as TOML has it: ["window*5", "full"]. */
void pattern_text(const struct field *f, const struct dse_pattern *p, struct text *ret);

/* Is v allowed? If not, adds an error at loc naming the field, the value, and what is allowed. `what` goes behind the value:
 * "third of the list", or NULL. */
bool field_check(const struct field *f, struct value v, struct srcloc loc, const char *source_text, const char *what,
                 struct diags *diags);
/* What a field is and which values it takes: "LAD tiles sharing the HBM; 1 to 64" or "...; one of eq7, exact". The caller frees
 * it. */
char *field_allowed(const struct field *f);
/* The names of the catalogs: "llms", "memories", ... and their singular. */
const char *kind_plural(enum dse_kind kind);
const char *kind_singular(enum dse_kind kind);

/* The unit of that name among dse_units and a model's own (dse_model.units, or NULL); NULL: none. */
const struct dse_unit *unit_find(const struct dse_unit *own, const char *unit);
/* What a mean is taken over, as in "mean over time": "time", "steps", "tokens", ..., or "the largest". */
const char *mean_name(enum dse_mean mean);

#endif
