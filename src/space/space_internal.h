/* The inside of a space, shared by the files of this folder. */
#ifndef DSE_SPACE_SPACE_INTERNAL_H
#define DSE_SPACE_SPACE_INTERNAL_H

#include "space/expr.h"
#include "space/space.h"

enum { SPACE_AXES_MAX = 256 }; /* more than any model has parameters; a test of the registry checks */

/* A field to set in a struct of parameters. */
struct patch {
    const struct field *field;
    struct value value;
};

struct patch_list {
    struct patch *patches;
    size_t n;
};

struct axis {
    const struct field *field;
    uint64_t n;
    const struct value *values; /* n of them, the binding's */
    struct patch_list *patches; /* a REF: what value i sets besides; else NULL */
};

struct space {
    const struct sweep_file *sweep;
    const struct binding *binding;
    const struct model *model;
    uint64_t count;
    void *base;  /* what every point starts from, before axes and resolve() */
    void *fixed; /* point 0 */
    bool *varies;
    struct axis *axes; /* sorted by name; the last runs fastest */
    size_t n_axes;
    struct column *columns;
    size_t n_columns;
    char **constraint_reasons, **bug_reasons;
};

/* Mixed radix: the digit of every axis. digits holds SPACE_AXES_MAX. */
void space_digits(const struct space *sp, uint64_t index, uint64_t *digits);
void space_point_of_digits(const struct space *sp, const uint64_t *digits, void *params);

#endif
