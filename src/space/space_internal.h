/* The inside of a space, shared by the files of this folder. */
#ifndef DSE_SPACE_SPACE_INTERNAL_H
#define DSE_SPACE_SPACE_INTERNAL_H

#include "space/added.h"
#include "space/baseline.h"
#include "space/expr.h"
#include "space/mix.h"
#include "space/sampler.h"
#include "space/space.h"

_Static_assert((int)SPACE_NEIGHBOURS_MAX >= 2 * (int)SPACE_AXES_MAX, "two along each axis");

/* Choosing a catalog entry sets the parameters that have the name and the type of one of its fields. */
struct follow {
    const struct field *from, *to;
};

struct follow_list {
    struct follow *follows;
    size_t n;
};

/* What the entries that a parameter names set in the binding's model: the parameters that were not given, nor one that excludes
 * them, nor a name of another kind that sets them, too (an FPGA sets no bandwidth where a memory was given). What an entry may
 * leave out sets nothing. Empty of a parameter that names none, or that names one alone (DSE_PARAM_REF_ALONE). The caller frees
 * .follows. */
struct follow_list follow_list_new(const struct binding *b, const struct field *name);
/* Do entries of that kind set the parameter, or one that excludes it? */
bool is_told_by(const struct binding *b, enum dse_kind kind, const struct field *param);
void follow_list_apply(const struct follow_list *list, const struct dse_entry *entry, void *params);

/* Was more than one value given for parameter i? */
bool space_is_axis(const struct binding *b, size_t param);
/* The parameters that every point starts from, before axes and resolve(): of an axis, the first value. The caller frees them. */
void *space_start(const struct binding *b);

struct axis {
    const struct field *field;
    uint64_t n;
    const struct value *values; /* n values, which belong to the binding */
    bool continuous, log;       /* every number between the two values */
    struct follow_list follows; /* of a REF: the parameters that its entries set */
};

/* Points where a technique is off that the sweep added, and the axes that only the technique reads, but for those that `per` or an
 * expression of the sweep names: points that differ in these alone are one machine, of which the first has the row. */
struct twin {
    size_t axis;    /* of the technique */
    uint64_t digit; /* its being off */
    size_t *only;
    size_t n_only;
};

struct space {
    const struct sweep_file *sweep;
    size_t index; /* of the model in the sweep */
    const struct binding *binding;
    const struct model *model;
    struct model plain;        /* of space_check_plainly; */
    const struct many *walked; /* and what the model had before. NULL: it is as it was */
    struct schema metrics;     /* the model's, and those that the sweep adds: added.h */
    struct baseline *baseline; /* or NULL */
    struct mix *mix;           /* or NULL */
    uint64_t count;
    struct sampler *sampler; /* NULL: the points are those of the grid */
    void *base;              /* what every point starts from, before axes and resolve(); with a mix, the mean request */
    void *fixed;             /* point 0 */
    bool *varies;
    struct axis *axes; /* sorted by name; the last runs fastest */
    size_t n_axes;
    struct twin *twins;
    size_t n_twins;
    struct column *columns;
    size_t n_columns;
    size_t derived_at; /* the column of the first derived one */
    char **constraint_reasons;
    bool *constraint_applies, *derived_applies;
    const struct field *budgeted[BUDGET_METRICS]; /* of the metrics; NULL: the sweep's budgets do not limit it, or it is absent */
};

/* Has the sweep a front for each value of the axis? */
bool space_has_fronts_of(const struct space *sp, const char *axis);
/* Check that the tables of the model do not refuse the resolved parameters of this point, which no machine can have then. False
 * with an error at what was given of them. Where the parameters stand on several axes, it is the reason of rows instead. */
bool space_check_possible(const struct binding *b, const void *point, struct diags *diags);
/* Can the model take every name that [equal] puts it on? False, with an error at it, where no point can be built with it. */
bool space_check_equal(const struct space *sp, struct diags *diags);
/* Which expressions of the sweep apply to this model (space.h): sets both lists. */
void space_find_applying(struct space *sp);

/* Which of the model's metrics are read, by place in the schema: those of these columns, of expressions and of budgets; of a
 * baseline any. The caller frees it. */
bool *space_wanted(const struct space *sp, const size_t *columns, size_t n);
/* By parameter the axes of a grid (bits) that may set it, before resolve(). It has at most BLOCK_AXES_MAX. The caller frees it. */
uint32_t *space_setters(const struct space *sp);

/* Set the twins of a space whose axes are made; free them. */
void space_find_twins(struct space *sp);
void space_free_twins(struct space *sp);
/* Is the point at these digits of the grid the machine of another one, whose technique is off likewise? */
bool space_is_copy(const struct space *sp, const uint64_t *digits);
extern const char space_copy_reason[];
/* Make the digits of a copy those of the point that has the row. */
void space_original(const struct space *sp, uint64_t *digits);

/* Make the digits those of the next point of the grid. */
void space_step(const struct space *sp, uint64_t *digits);
/* Set the parameters at these digits, before resolve(). */
void space_start_of_digits(const struct space *sp, const uint64_t *digits, void *params);
/* The same of a point of the grid or of the sample. */
void space_start_of(const struct space *sp, uint64_t index, void *params);

#endif
