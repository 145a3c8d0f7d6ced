/* The terms on which models are compared: [equal] of a sweep puts all models on one value of a term, and a run says in which terms
 * its models differ (sweep/compared.h).
 *
 * A term is a row of equal_terms. A model has it by the names of its tables alone: parameters of the row, all of which it sets; or
 * else the field of a catalog's entry that the model is made of (the node of a GPU that is sold), which nothing changes; or else
 * what a model has that knows no such thing. So models in TOML and plug-ins have terms like others. */
#ifndef DSE_CONFIG_EQUAL_TERMS_H
#define DSE_CONFIG_EQUAL_TERMS_H

#include "config/bind.h"

enum { EQUAL_PARAMS_MAX = 4 };
struct equal_term {
    const char *name; /* the key of [equal] */
    const char *what; /* for people: "process node" */
    const char *doc;  /* what it puts on one value, for documents and hints */
    const char *params[EQUAL_PARAMS_MAX + 1];
    const char *entry_has;   /* between the entry and what it says: "is made in" */
    const char *entry_field; /* of entries; NULL: no entry says it */
    double without;          /* what a model has that has no parameter and no entry; NaN: nobody knows */
    double (*number)(const struct catalog *c, const char *value); /* of a value that is a name: what entry_field says in numbers */
    const char *elsewhere; /* a parameter that says it in another unit: a model that has it takes no value of the term; NULL */
};
extern const struct equal_term equal_terms[]; /* closed by a row without a name */

/* The term of that name; the term that has a parameter of that name; or NULL. */
const struct equal_term *equal_term_find(const char *name);
const struct equal_term *equal_term_of_param(const char *param);

/* How a model has a term. */
enum equal_hold {
    EQUAL_BY_PARAMS, /* it has at least one of the parameters */
    EQUAL_BY_ENTRY,  /* the entry that a parameter names says it */
    EQUAL_ELSEWHERE, /* in another unit */
    EQUAL_BY_NATURE, /* it has `without` */
    EQUAL_NOT_KNOWN,
};
/* *ret: the first parameter, the parameter that names the entry, or that of another unit; else NULL. */
enum equal_hold equal_hold_of(const struct equal_term *t, const struct binding *b, const struct field **ret);

/* What an entry says of the term as text, "7nm", "hbm2e"; NULL: nothing. buf holds EQUAL_TEXT_MAX bytes. */
enum { EQUAL_TEXT_MAX = 2 * TEXT_NUMBER_MAX };
const char *equal_entry_text(const struct equal_term *t, const struct binding *b, const struct field *names,
                             const struct dse_entry *entry, char *buf);
/* Does the entry say `value`, which is NULL for `number`? */
bool equal_entry_is(const struct equal_term *t, const struct binding *b, const struct field *names, const struct dse_entry *entry,
                    const char *value, double number);
/* The entries that the parameter may name: those that were given, or the default. *ret_n is how many. */
const struct dse_entry *equal_entry_at(const struct binding *b, const struct field *names, size_t i, size_t *ret_n);

#endif
