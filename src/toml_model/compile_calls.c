/* Calls: functions that every model has, those of the groups, and those of the file. */
#include "toml_model/compile.h"

#include "base/hint.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum rule { RULE_PURE, RULE_ROUND, RULE_SAME, RULE_KEEP, RULE_ROOT, RULE_KNOWN };
static const struct {
    const char *name;
    enum graph_op op;
    int least, most;
    enum rule rule;
} built_in[] = {
    {"min", GRAPH_MIN, 2, FORMULA_ARGUMENTS_MAX, RULE_SAME},
    {"max", GRAPH_MAX, 2, FORMULA_ARGUMENTS_MAX, RULE_SAME},
    {"abs", GRAPH_ABS, 1, 1, RULE_KEEP},
    {"sqrt", GRAPH_SQRT, 1, 1, RULE_ROOT},
    {"ceil", GRAPH_CEIL, 1, 1, RULE_ROUND},
    {"floor", GRAPH_FLOOR, 1, 1, RULE_ROUND},
    {"round", GRAPH_ROUND, 1, 1, RULE_ROUND},
    {"exp", GRAPH_EXP, 1, 1, RULE_PURE},
    {"ln", GRAPH_LN, 1, 1, RULE_PURE},
    {"known", GRAPH_KNOWN, 1, 1, RULE_KNOWN},
    {"log2", GRAPH_LOG2, 1, 1, RULE_PURE},
    {"log10", GRAPH_LOG10, 1, 1, RULE_PURE},
    {"expm1", GRAPH_EXPM1, 1, 1, RULE_PURE},
    {"log1p", GRAPH_LOG1P, 1, 1, RULE_PURE},
};
enum { BUILT_IN = sizeof built_in / sizeof *built_in };

bool compile_count(struct compiling *c, const struct formula_node *n, int least, int most)
{
    if (n->n_args >= least && n->n_args <= most) return true;
    compile_fail(c, n, NULL,
                 least == most ? xasprintf("%s() takes %d argument%s, not %d", n->name, least, least == 1 ? "" : "s", n->n_args)
                               : xasprintf("%s() takes %d to %d arguments, not %d", n->name, least, most, n->n_args));
    return false;
}

/* The dimension of the result. */
static struct term by_rule(struct compiling *c, const struct formula_node *n, enum rule rule, struct term v)
{
    if (rule == RULE_KNOWN) return (struct term){{{0}}, false, v.node};
    if (rule == RULE_ROUND || rule == RULE_PURE) return compile_pure(c, n, v, n->name);
    for (int i = 0; rule == RULE_ROOT && i < DIMS; i++) {
        if (v.dim.half[i] % 2) return compile_fail(c, n, NULL, xasprintf("units do not fit: a root of a root"));
        v.dim.half[i] /= 2;
    }
    return v;
}

static struct term emit_built_in(struct compiling *c, const struct formula_node *n, size_t which)
{
    if (!compile_count(c, n, built_in[which].least, built_in[which].most)) return term_any;
    struct graph *g = &c->m->graph;
    int nodes[FORMULA_ARGUMENTS_MAX] = {0};
    struct term v = term_any;
    for (int i = 0; i < n->n_args; i++) {
        const struct term of = compile_node(c, n->args[i]);
        v = built_in[which].rule == RULE_SAME ? compile_same(c, n, v, of, n->name) : of;
        nodes[i] = of.node;
    }
    if (!c->ok) return term_any;
    v.node = nodes[n->n_args - 1];
    if (n->n_args == 1) v.node = graph_make(g, built_in[which].op, v.node, v.node);
    for (int i = n->n_args - 2; i >= 0; i--) v.node = graph_make(g, built_in[which].op, nodes[i], v.node);
    return by_rule(c, n, built_in[which].rule, v);
}

/* The place of a parameter that names an entry of the catalog. */
static int reference(struct compiling *c, const struct formula_node *n, const char *plural)
{
    const struct field *f = n->kind == FORMULA_NAME ? schema_find(&c->m->schema, n->name) : NULL;
    if (f && f->type == DSE_TYPE_REF && strcmp(kind_plural(f->kind), plural) == 0)
        return compile_may_read(c, n, f) ? graph_constant(&c->m->graph, (double)f->offset) : 0;
    return compile_fail(c, n, "a parameter with catalog = \"srams\", \"technologies\", ...",
                        xasprintf("a parameter that names an entry of %s is needed here", plural))
        .node;
}

struct term compile_answer(struct compiling *c, const struct formula_node *at, const struct answer *a, const int *args, int n)
{
    struct measure unit;
    if (context_refuses(c, at, primitives[a->primitive].groups, a->name)) return term_any;
    measure_parse(a->unit, strlen(a->unit), &unit);
    const int call = graph_call(&c->m->graph, a->primitive, args, n);
    return (struct term){unit.dim, false, graph_result(&c->m->graph, call, a->which)};
}

static struct term emit_answer(struct compiling *c, const struct formula_node *n, const struct answer *a)
{
    const char *const *units = primitives[a->primitive].arguments;
    int arity = 0, nodes[PRIMITIVE_ARGUMENTS_MAX] = {0};
    while (arity < PRIMITIVE_ARGUMENTS_MAX && units[arity]) arity++;
    if (!compile_count(c, n, arity, arity)) return term_any;
    for (int i = 0; i < arity; i++) {
        struct measure m;
        const struct formula_node *argument = &c->f->nodes[n->args[i]];
        if (*units[i] == '@') {
            nodes[i] = reference(c, argument, units[i] + 1);
        } else if (measure_parse(units[i], strlen(units[i]), &m)) {
            const struct term v = compile_node(c, n->args[i]);
            compile_same(c, argument, (struct term){m.dim, false, 0}, v, n->name);
            nodes[i] = v.node;
        }
    }
    return c->ok ? compile_answer(c, n, a, nodes, arity) : term_any;
}

/* A function of the file: its formula stands in place of the call. */
static struct term emit_function(struct compiling *c, const struct formula_node *n, struct function *f)
{
    if (!compile_count(c, n, f->n_arguments, f->n_arguments)) return term_any;
    if (f->at_work) return compile_fail(c, n, NULL, xasprintf("the function %s() needs itself", f->name));
    struct binding names[FORMULA_ARGUMENTS_MAX];
    for (int i = 0; i < n->n_args; i++)
        names[i] =
            (struct binding){.name = f->arguments[i], .value = compile_node(c, n->args[i]), .above = i ? &names[i - 1] : NULL};
    const struct formula *outer = c->f;
    const struct binding *outer_names = c->names;
    c->f = &f->formula;
    c->names = &names[n->n_args - 1];
    f->at_work = true;
    const struct term ret = c->ok ? compile_node(c, f->formula.root) : term_any;
    f->at_work = false;
    c->f = outer;
    c->names = outer_names;
    return ret;
}

struct term compile_call(struct compiling *c, const struct formula_node *n)
{
    const char *names[BUILT_IN + 128] = {"at", "solve"};
    size_t k = 2;
    struct term ret;
    if (compile_column(c, n, &ret)) return ret;
    if (strcmp(n->name, "at") == 0) return compile_at(c, n);
    if (strcmp(n->name, "solve") == 0) return compile_solve(c, n);
    for (int i = 0; i < c->m->n_functions; i++)
        if (text_equal(c->m->functions[i].name, n->name)) return emit_function(c, n, &c->m->functions[i]);
    for (int i = 0; i < LOOPS; i++) {
        if (strcmp(compile_loop_names[i], n->name) == 0) return compile_loop(c, n, i);
        names[k++] = compile_loop_names[i];
    }
    for (size_t i = 0; i < BUILT_IN; i++) {
        if (text_equal(built_in[i].name, n->name)) return emit_built_in(c, n, i);
        names[k++] = built_in[i].name;
    }
    for (const struct answer *a = answers; a->name; a++) {
        if (strchr(a->name, '.') || !groups_has(&c->m->groups, primitives[a->primitive].groups)) continue;
        if (text_equal(a->name, n->name)) return emit_answer(c, n, a);
        names[k++] = a->name;
    }
    for (int i = 0; i < c->m->n_functions && i < 64; i++) names[k++] = c->m->functions[i].name;
    if (c->ok)
        diags_unknown(c->diags, formula_loc(c->f, n), c->f->source.file_text, n->name, names, k,
                      "min, max, ceil, floor, round, sqrt, abs, exp, ln, log2, log10, expm1, log1p, known, "
                      "sum, most, least, argmin, argmax, largest, "
                      "solve, at, and those of [functions]",
                      "there is no function %s()", n->name);
    c->ok = false;
    return term_any;
}
