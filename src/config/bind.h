/* Binding names and values to a model's parameters: defaults.toml, `--set`, and [params] of a sweep.
 *
 * A binding collects what was given explicitly, parameter by parameter, and knows each parameter's values (one, or the many of an
 * axis). binding_finish checks what belongs together. Nothing here depends on a particular model.
 */
#ifndef DSE_CONFIG_BIND_H
#define DSE_CONFIG_BIND_H

#include "config/catalog.h"
#include "model/registry.h"

/* What was given for one parameter. */
struct given {
    bool is_given, is_equal; /* is_equal: by [equal] of a sweep */
    struct srcloc loc;       /* of the value; file borrowed */
    const char *source_text; /* of the file; borrowed */
    uint64_t n;              /* values; above 1: an axis. May be huge for a range: then `values` is NULL */
    struct value *values;    /* n of them, NULL when n > BIND_VALUES_MAX */
    bool exact_added;        /* the last value is one that nobody gave: the exact machine beside a lossy one */
    bool continuous, log;    /* every number between the two values, evenly, or by its logarithm: for samples alone */
};
enum { BIND_VALUES_MAX = 20000000 };

struct binding {
    const struct model *model;
    const struct catalog *catalog;
    void *defaults;      /* the model's struct of parameters, from defaults.toml; "auto" is NaN */
    struct given *given; /* one a parameter, in the order of model->params */
};

/* Read the model's defaults.toml from data_dir/models/NAME/. NULL with errors. The caller frees with binding_free. */
struct binding *binding_new(const struct model *model, const struct catalog *catalog, const char *data_dir, struct diags *diags);
/* The same defaults, and nothing given, without reading the file again. `from` must outlive it and not be freed before. */
struct binding *binding_like(const struct binding *from);
void binding_free(struct binding *b);

/* `--set NAME=VALUE`: VALUE is written as in TOML, where a bare word is a name ("llm=llama2-7b", "tiles=[2,4]" is an error here:
 * one value). */
bool binding_set_text(struct binding *b, const char *assignment, struct diags *diags);
/* Free a value that was given and has been taken out of `given`, with what binding_set_text kept of it. */
void binding_discard(struct binding *b, struct given *g);
/* A hint for a name that is no parameter of `model`: which other models have it, which of names[0..n) it is near to, or how to
 * list the parameters. The caller frees it. */
char *param_hint(const char *name, const char *const *names, size_t n, const char *model);
/* Give the values of one key of a [params] table: a value, a list, or a range {from,to,step},
 * {from,to,points,scale="log"|"linear"}, {from,to,continuous=true,scale}. The caller has checked that the key is a parameter of the
 * model. */
bool binding_set_node(struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                      struct diags *diags);
/* Let an enumeration have one more value, the last, beside those that were given, or beside its default: `exact_added`. */
void binding_add_exact(struct binding *b, const struct field *f, int32_t choice);
/* Was the parameter given? */
bool binding_gives(const struct binding *b, const struct field *f);
/* Check, after everything is given, that no two parameters exclude each other. */
bool binding_finish(struct binding *b, struct diags *diags);

/* The calibrated constants of defaults.toml: name and what it was fitted to. */
struct calibrated {
    char *name, *fitted_to;
};
const struct calibrated *binding_calibrated(const struct binding *b, size_t *ret_n);

#endif
