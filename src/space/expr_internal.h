/* Internal to expr.c and expr_compile.c. */
#ifndef DSE_SPACE_EXPR_INTERNAL_H
#define DSE_SPACE_EXPR_INTERNAL_H

#include "graph/program.h"
#include "space/expr.h"

/* An input of the graph: a field of expr_new, or a number of a scope. */
struct variable {
    const struct field *field;
    bool is_metric;
    const double *number;
    int32_t slot;
};

struct expr {
    struct graph graph;
    int root;
    struct slots slots;
    struct program program;
    double *numbers; /* slots, with the constants in their places */
    struct variable *used;
    int n_used;
};

/* What names mean while an expression is compiled. */
struct naming {
    /* False with an error. */
    bool (*find)(const struct naming *n, const char *name, struct srcloc loc, struct variable *ret);
    const struct schema *params, *metrics; /* of expr_new */
    const struct expr_scope *scope;        /* of expr_new_in */
    const char *source_text;
    struct diags *diags;
};
struct expr *expr_compile(const char *text, struct srcloc loc, const struct naming *naming);

#endif
