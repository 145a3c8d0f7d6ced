/* One formula, of a model in TOML, or one expression, of sweeps, claims and bindings: its text as a tree, with the place of every
 * part. The grammar, from what binds least:
 *
 *     choice   = or [ "?" choice ":" choice ]
 *     or       = and { "||" and }
 *     and      = compared { "&&" compared }
 *     compared = sum { ("<" | "<=" | ">" | ">=" | "==" | "!=") sum }
 *     sum      = product { ("+" | "-") product }
 *     product  = signed { ("*" | "/") signed }
 *     signed   = { "+" | "-" | "!" } power
 *     power    = atom [ "^" signed ]
 *     atom     = number [ "[" unit "]" ] | name | string | name "(" [ loop | argument { "," argument } ] ")" | "(" choice ")"
 *     argument = [ name "=" ] choice
 *     loop     = [ "for" ] name "in" ( name | choice ".." choice ) [ "if" choice ] ":" choice
 *
 * A name may have dots, but not two in a row. A string stands in single or double quotes.
 *
 * A formula compares once: "a < b < c" is an error. An expression compares to the left, and works with numbers alone: it has no
 * units, strings and loops. */
#ifndef DSE_FORMULA_FORMULA_H
#define DSE_FORMULA_FORMULA_H

#include "base/diag.h"
#include "base/limits.h"
#include "formula/measure.h"

enum formula_kind {
    FORMULA_NUMBER,
    FORMULA_NAME,
    FORMULA_STRING,
    FORMULA_NEGATE,
    FORMULA_NOT,
    FORMULA_BINARY,
    FORMULA_CHOOSE,
    FORMULA_CALL,
    FORMULA_LOOP, /* the one argument of a call: name in domain: args[0]; without a domain: name in args[1] .. args[2] */
    FORMULA_SET,  /* an argument of a call: name = args[0] */
};
enum formula_operator { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_POW, OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE, OP_AND, OP_OR, OP_COUNT };
extern const char *const formula_operators[OP_COUNT];

enum formula_dialect { FORMULA_OF_MODEL, FORMULA_EXPRESSION };

enum { FORMULA_ARGUMENTS_MAX = 12 }; /* of a model's; a call in an expression takes any number */

/* All nodes that a node is made of stand before it. */
struct formula_node {
    enum formula_kind kind;
    enum formula_operator op;
    double number;        /* in the dimension's own unit */
    struct dimension dim; /* of a number */
    char *name;           /* NAME, STRING, CALL, SET; the variable of a LOOP */
    char *domain;         /* LOOP; NULL: it is a range */
    int *args, n_args;
    size_t at;   /* in the text */
    int meaning; /* of NAME and CALL: for who walks the tree; 0: not known */
};

/* Where a formula stands. All of it is borrowed. */
struct formula_source {
    const char *text;      /* the formula */
    struct srcloc loc;     /* of its first character */
    const char *file_text; /* of the file that it stands in, to quote the line from; or NULL */
    enum formula_dialect dialect;
};

struct formula {
    struct formula_source source;
    struct formula_node *nodes;
    int n, root;
};

/* Parse the text. False with an error at its place. formula_release takes what was made in both cases. */
bool formula_parse(struct formula *ret, const struct formula_source *source, struct diags *diags);
/* The formula that is a number. `source`: with the text "". */
void formula_of_number(struct formula *ret, const struct formula_source *source, double number);
void formula_release(struct formula *f);
/* The condition of a LOOP; -1: it has none. */
int formula_condition(const struct formula_node *loop);
/* The place of a node in the file. */
struct srcloc formula_loc(const struct formula *f, const struct formula_node *n);

#endif
