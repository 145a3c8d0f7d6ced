/* From formulas to the graph of the model, with the dimension of every part. Compiling an equation compiles what it needs first,
 * which finds cycles. */
#include "toml_model/compile.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool compile(struct toml_model *m, int i, struct compiling *above, struct diags *diags);

struct term compile_fail(struct compiling *c, const struct formula_node *n, const char *hint, char *message)
{
    if (c->ok) diags_input(c->diags, formula_loc(c->f, n), c->f->source.file_text, hint, "%s", message);
    c->ok = false;
    free(message);
    return term_any;
}

static char *dimension_name(struct dimension d)
{
    struct text t;
    text_init(&t);
    dimension_text(d, &t);
    return text_detach(&t);
}

/* Both are one kind of thing, or it is an error. */
struct term compile_same(struct compiling *c, const struct formula_node *n, struct term a, struct term b, const char *what)
{
    if (a.any) return b;
    if (b.any || dimension_same(a.dim, b.dim) || !c->ok) return a;
    char *left = dimension_name(a.dim), *right = dimension_name(b.dim);
    const struct term ret = compile_fail(c, n, "a number may have its unit behind it: 2 [B]",
                                         xasprintf("units do not fit: %s of %s and %s", what, left, right));
    free(left);
    free(right);
    return ret;
}

struct term compile_pure(struct compiling *c, const struct formula_node *n, struct term v, const char *what)
{
    const struct term pure = {{{0}}, false, v.node};
    if (v.any || dimension_none(v.dim) || !c->ok) return pure;
    char *is = dimension_name(v.dim);
    const struct term ret = compile_fail(c, n, "divide it by something of its unit: x / 1 [B]",
                                         xasprintf("units do not fit: %s takes a pure number, not %s", what, is));
    free(is);
    return ret;
}

static struct term use_input(const struct compiling *c, int input)
{
    const int other = context_node(c, input);
    return (struct term){c->m->inputs[input].measure.dim, false, other >= 0 ? other : graph_input(&c->m->graph, input, -1)};
}

/* Does the node read what the input decides, if none of its arguments does? */
static bool reads(const struct toml_model *m, const struct graph_node *n, int input)
{
    const enum group g = input >= 0 ? group_of_param(m, m->inputs[input].offset) : GROUPS;
    const bool of_element = n->op == GRAPH_INPUT && m->inputs[n->what].kind >= INPUT_ELEMENT;
    if (input < 0) return of_element;
    const bool of_step = g == GROUP_WORKLOAD || g == GROUP_REQUEST; /* which decides the context of a generation */
    if (of_step && (of_element || graph_is_loop(n))) return true;
    if (n->op == GRAPH_CALL && of_step && (primitives[n->what].groups >> GROUP_WORKLOAD & 1)) return true;
    if (n->op == GRAPH_CALL) return g != GROUPS && (primitives[n->what].groups >> g & 1);
    return n->op == GRAPH_INPUT && n->what == input;
}

bool compile_reaches(const struct toml_model *m, struct reach *r, int node)
{
    if (node >= r->n) r->is = xrealloc(r->is, (size_t)m->graph.capacity, sizeof *r->is);
    for (; r->n <= node; r->n++) {
        const struct graph_node *n = &m->graph.nodes[r->n];
        const bool leaves = r->input < 0 && graph_is_loop(n); /* a loop is of no element */
        bool is = reads(m, n, r->input);
        for (int k = 0; k < n->n_args && !leaves; k++) is = is || r->is[n->args[k]];
        r->is[r->n] = is;
    }
    return r->is[node];
}

bool compile_varies(struct toml_model *m, int node)
{
    m->varying.input = -1;
    return compile_reaches(m, &m->varying, node);
}

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

bool compile_may_read(struct compiling *c, const struct formula_node *n, const struct field *f)
{
    if (f->reader != READ_BY_EVENT_LEVEL) return true;
    compile_fail(c, n, "equations are the closed form; the event level is written in C, and reads it there",
                 xasprintf("%s is a parameter of the event level alone", f->name));
    return false;
}

/* "a -> b -> a" of the equations at work. */
static struct term cycle(struct compiling *c, const struct formula_node *n, int to)
{
    struct text t;
    text_init(&t);
    enum { SHOWN = 64 };
    const struct compiling *stack[SHOWN] = {c};
    int depth = 1;
    for (const struct compiling *at = c; at->equation != to && at->above && depth < SHOWN; at = at->above)
        stack[depth++] = at->above;
    while (depth > 0) {
        const struct equation *e = &c->m->equations[stack[--depth]->equation];
        if (e->is_public) text_addf(&t, "%s -> ", e->name);
    }
    char *message = xasprintf("a cycle of equations: %s%s", t.s ? t.s : "", c->m->equations[to].name);
    text_release(&t);
    return compile_fail(c, n, "an equation may need others, and these others, but none may need itself", message);
}

struct term compile_use(struct compiling *c, const struct formula_node *n, int i)
{
    if (c->m->equations[i].at_work) return cycle(c, n, i);
    if (c->m->equations[i].trying)
        return compile_fail(c, n, "it can be printed, and nothing else",
                            xasprintf("%s is of another point, which is searched for", c->m->equations[i].name));
    const int context = c->context;
    c->context = 0;
    c->ok = compile(c->m, i, c, c->diags) && c->ok;
    int node = c->ok ? context_made(c->m, 0, i)->node : 0;
    c->context = context;
    if (c->ok && context_changes(c, node)) {
        c->ok = compile(c->m, i, c, c->diags);
        node = context_made(c->m, context, i)->node;
    }
    return c->ok ? (struct term){c->m->equations[i].measure.dim, false, node} : term_any;
}

/* Of a number that may be "auto" the field; in a box what its formula gives besides. */
static struct term use_parameter(struct compiling *c, const struct formula_node *n, int input)
{
    struct term ret = use_input(c, input);
    const struct auto_number *a = find_auto(c->m, c->m->inputs[input].name);
    if (!a) return ret;
    const int is_field = graph_input(&c->m->graph, auto_input(c->m, a), -1), otherwise = compile_use(c, n, a->equation).node;
    if (c->ok) ret.node = graph_choose(&c->m->graph, is_field, ret.node, otherwise);
    return ret;
}

static struct term unknown(struct compiling *c, const struct formula_node *n, const char *name, enum domain domain)
{
    size_t k;
    const char **names = known_names(c->m, domain, &k);
    if (c->ok && domain == DOMAIN_NONE)
        diags_unknown(c->diags, formula_loc(c->f, n), c->f->source.file_text, name, names, k,
                      "a formula sees parameters, equations and metrics of the model, and what its shared parameters say: "
                      "docs/reference/model-in-toml.md",
                      "there is no parameter, equation or shared quantity \"%s\"", name);
    else if (c->ok)
        diags_unknown(c->diags, formula_loc(c->f, n), c->f->source.file_text, name, names, k,
                      "docs/reference/model-in-toml.md lists them", "\"%s\" is neither a field of %s nor an equation of [for.%s]",
                      name, domain == DOMAIN_ATTENTION ? "a group of attention" : "an operator", domain_names[domain]);
    c->ok = false;
    free(names);
    return term_any;
}

/* Is it a string: the name or the role of an operator, the mixer of a group of attention? */
static bool is_text(const char *field, enum domain domain)
{
    if (domain == DOMAIN_ATTENTION) return strcmp(field, "mixer") == 0;
    return strcmp(field, "name") == 0 || strcmp(field, "role") == 0;
}

/* "op.k" in a loop over operators. */
static struct term use_element(struct compiling *c, const struct formula_node *n, const char *field)
{
    const enum domain domain = c->domain;
    const int e = find_equation(c->m, field, domain);
    if (e >= 0) return compile_use(c, n, e);
    if (is_text(field, domain))
        return compile_fail(c, n, "op.role == 'output-head'", xasprintf("a %s is compared with == or !=", field));
    const int in = element_input(c->m, domain, field);
    if (in >= 0 && context_refuses(c, n, 1U << GROUP_WORKLOAD, n->name)) return term_any;
    return in >= 0 ? use_input(c, in) : unknown(c, n, field, domain);
}

/* What stands behind the variable of the loop at hand; NULL: another name. */
static const char *field_of_loop(const struct compiling *c, const char *name)
{
    const size_t n = c->variable ? strlen(c->variable) : 0;
    return n && strncmp(name, c->variable, n) == 0 && name[n] == '.' ? name + n + 1 : NULL;
}

/* Is it the binding's name, or a column of its row? */
static bool is_bound(const struct binding *b, const char *name)
{
    const size_t n = strlen(b->name);
    return strncmp(name, b->name, n) == 0 && (!name[n] || (b->table && name[n] == '.'));
}

/* What a name is bound to, in *ret; false: it is another name. */
static bool emit_bound(struct compiling *c, const struct formula_node *n, struct term *ret)
{
    bool outside = false;
    const struct binding *b = c->names;
    for (; b && !is_bound(b, n->name); b = b->above) outside = outside || b == c->outside;
    if (!b) return false;
    outside = outside || b == c->outside;
    if (b->table)
        *ret = compile_cell(c, n, b);
    else if (c->ok && outside && compile_varies(c->m, b->value.node))
        *ret = compile_fail(c, n, "give the function what is the same for all elements",
                            xasprintf("%s is of the element of another loop, which this loop does not see", b->name));
    else
        *ret = b->value;
    return true;
}

/* The parameter that a name reads: its own, or ("llm.hidden") that of an entry. NULL: none. */
static const struct field *parameter_of(const struct toml_model *m, const char *name)
{
    char *parameter = xstrndup(name, strcspn(name, "."));
    const struct field *ret = schema_find(&m->schema, parameter);
    free(parameter);
    return ret;
}

/* A quantity of a group: "memory.rate". NULL: there is none, or the model has not the group. */
static const struct answer *quantity(const struct toml_model *m, const char *name)
{
    for (const struct answer *a = answers; a->name; a++)
        if (strchr(a->name, '.') && strcmp(a->name, name) == 0)
            return groups_has(&m->groups, primitives[a->primitive].groups) ? a : NULL;
    return NULL;
}

/* Where [arithmetic] says that attention is not exact, what is known of its output depends on that. */
static struct term emit_quantity(struct compiling *c, const struct formula_node *n, const struct answer *a)
{
    const int *inexact = c->m->inexact;
    int nodes[INEXACT_NUMBERS];
    if (!a->inexact || inexact[0] < 0) return compile_answer(c, n, a, NULL, 0);
    for (int i = 0; i < INEXACT_NUMBERS; i++) nodes[i] = compile_use(c, n, inexact[i]).node;
    if (c->ok && c->m->inexact_method == INEXACT_SOFTMAX)
        nodes[0] = graph_make(&c->m->graph, GRAPH_MUL, nodes[0], graph_constant(&c->m->graph, INEXACT_METHODS));
    struct answer of = *a;
    of.primitive = a->inexact;
    return c->ok ? compile_answer(c, n, &of, nodes, INEXACT_NUMBERS) : term_any;
}

static struct term emit_name(struct compiling *c, const struct formula_node *n)
{
    struct term bound;
    if (emit_bound(c, n, &bound)) return bound;
    const char *field = field_of_loop(c, n->name);
    if (field) return use_element(c, n, field);
    if (strcmp(n->name, "inf") == 0 || strcmp(n->name, "null") == 0)
        return (struct term){{{0}}, true, graph_constant(&c->m->graph, *n->name == 'i' ? (double)INFINITY : (double)NAN)};
    const struct field *f = schema_find(&c->m->schema, n->name), *read = parameter_of(c->m, n->name);
    if (read && !compile_may_read(c, n, read)) return term_any;
    if (f && f->type == DSE_TYPE_ENUM)
        return compile_fail(c, n, "name == 'one of its values'",
                            xasprintf("%s is a choice, not a number: compare it with == or !=", f->name));
    if (f && f->type == DSE_TYPE_REF)
        return compile_fail(c, n, "numbers of an entry stand behind a dot: llm.hidden",
                            xasprintf("%s is the name of a catalog entry, not a number", f->name));
    const int in = find_input(c->m, n->name);
    if (in >= 0) return use_parameter(c, n, in);
    const struct answer *a = quantity(c->m, n->name);
    if (a) return emit_quantity(c, n, a);
    const int e = find_equation(c->m, n->name, DOMAIN_NONE);
    return e >= 0 ? compile_use(c, n, e) : unknown(c, n, n->name, DOMAIN_NONE);
}

/* ---- operators --------------------------------------------------------------------------------------------------------------- */

static struct term pure(int node)
{
    return (struct term){{{0}}, false, node};
}

/* Is the input equal to the number, or (!=) unequal? */
static struct term compare_input(struct compiling *c, const struct formula_node *n, int input, double number)
{
    struct graph *g = &c->m->graph;
    return pure(graph_make(g, n->op == OP_EQ ? GRAPH_EQ : GRAPH_NE, graph_input(g, input, -1), graph_constant(g, number)));
}

/* "op.role == 'output-head'", "group.mixer == 'full'" */
static struct term compare_known(struct compiling *c, const struct formula_node *n, const struct formula_node *text,
                                 enum input_kind kind)
{
    const char *const *names = kind == INPUT_MIXER ? dse_mixer_names : dse_op_role_names;
    size_t count = 0;
    for (; names[count]; count++)
        if (strcmp(names[count], text->name) == 0) return compare_input(c, n, named_input(c->m, kind, c->domain, text->name), 1);
    if (c->ok)
        diags_unknown(c->diags, formula_loc(c->f, text), c->f->source.file_text, text->name, names, count, NULL,
                      kind == INPUT_MIXER ? "no group of attention has the mixer \"%s\"" : "no operator has the role \"%s\"",
                      text->name);
    c->ok = false;
    return term_any;
}

/* "dataflow == 'flexible'", "op.name != 'lm_head'". */
static struct term compare_text(struct compiling *c, const struct formula_node *n, const struct formula_node *name,
                                const struct formula_node *text)
{
    if (name->kind != FORMULA_NAME || (n->op != OP_EQ && n->op != OP_NE))
        return compile_fail(c, text, NULL, xasprintf("a string can only be compared, by == or !=, with a choice or with op.name"));
    const char *field = field_of_loop(c, name->name);
    if (field && strcmp(field, "role") == 0) return compare_known(c, n, text, INPUT_ROLE);
    if (field && strcmp(field, "mixer") == 0) return compare_known(c, n, text, INPUT_MIXER);
    if (field && strcmp(field, "name") == 0) return compare_input(c, n, named_input(c->m, INPUT_NAMED, c->domain, text->name), 1);
    const struct field *f = schema_find(&c->m->schema, name->name);
    const char *const *choices = f && f->type == DSE_TYPE_ENUM ? f->choices : entry_choices(c->m, name->name);
    if (f && f->type == DSE_TYPE_REF)
        return compile_may_read(c, name, f) ? compare_input(c, n, entry_name_input(c->m, f, text->name), 1) : term_any;
    if (!choices)
        return compile_fail(c, name, NULL, xasprintf("%s is not a choice: a string cannot be compared with it", name->name));
    if (f && !compile_may_read(c, name, f)) return term_any;
    const int in = f ? find_input(c->m, f->name) : entry_choice_input(c->m, name->name);
    size_t count = 0;
    for (; choices[count]; count++)
        if (strcmp(choices[count], text->name) == 0) return compare_input(c, n, in, (double)count);
    if (c->ok)
        diags_unknown(c->diags, formula_loc(c->f, text), c->f->source.file_text, text->name, choices, count, NULL,
                      "%s is never \"%s\"", name->name, text->name);
    c->ok = false;
    return term_any;
}

static struct dimension power(struct compiling *c, const struct formula_node *n, struct term base)
{
    const struct formula_node *by = &c->f->nodes[n->args[1]];
    const struct dimension none = {{0}};
    if (base.any || dimension_none(base.dim)) return none;
    const double twice = by->kind == FORMULA_NUMBER ? 2 * by->number : (double)NAN;
    if (!(fabs(twice) <= 16 && twice == rint(twice))) {
        compile_fail(c, by, "a pure number may have any power",
                     xasprintf("units do not fit: what has a unit takes a whole or a half power, as a number"));
        return none;
    }
    struct dimension ret = base.dim;
    for (int i = 0; i < DIMS; i++) ret.half[i] = (int16_t)(base.dim.half[i] * (int)twice / 2);
    return ret;
}

/* What the result of an operator is; its node is set elsewhere. */
static struct term combine(struct compiling *c, const struct formula_node *n, struct term a, struct term b)
{
    switch (n->op) {
    case OP_ADD:
    case OP_SUB: return compile_same(c, n, a, b, n->op == OP_ADD ? "a sum" : "a difference");
    case OP_MUL: return (struct term){dimension_times(a.dim, b.dim, 1), a.any || b.any, 0};
    case OP_DIV: return (struct term){dimension_times(a.dim, b.dim, -1), a.any, 0};
    case OP_POW: compile_pure(c, n, b, "a power"); return (struct term){power(c, n, a), false, 0};
    case OP_AND:
    case OP_OR: compile_pure(c, n, a, formula_operators[n->op]); return compile_pure(c, n, b, formula_operators[n->op]);
    default: compile_same(c, n, a, b, "a comparison"); return pure(0);
    }
}

/* The function, or the equation that is no part of another, that is being compiled. */
static const char *name_of(const struct compiling *c)
{
    for (int i = 0; i < c->m->n_functions; i++)
        if (c->f == &c->m->functions[i].formula) return c->m->functions[i].name;
    while (c->m->equations[c->equation].borrows && c->above) c = c->above;
    return c->m->equations[c->equation].name;
}

/* A constant; of an open model it is an input, but for 0, of which no percent is taken. */
static struct term emit_number(const struct compiling *c, const struct formula_node *n)
{
    struct graph *g = &c->m->graph;
    const bool is_open = c->m->is_open && n->number != 0;
    const int node = is_open ? graph_input(g, number_input(c->m, c->f, n, name_of(c)), -1) : graph_constant(g, n->number);
    return (struct term){n->dim, n->number == 0, node};
}

/* The power of what has a unit belongs to the unit. */
static struct term emit_power_of(struct compiling *c, const struct formula_node *n, struct term base)
{
    const struct formula_node *by = &c->f->nodes[n->args[1]];
    const bool is_unit = by->kind == FORMULA_NUMBER && !base.any && !dimension_none(base.dim);
    return is_unit ? pure(graph_constant(&c->m->graph, by->number)) : compile_node(c, n->args[1]);
}

static struct term emit_binary(struct compiling *c, const struct formula_node *n)
{
    const struct formula_node *left = &c->f->nodes[n->args[0]], *right = &c->f->nodes[n->args[1]];
    if (left->kind == FORMULA_STRING || right->kind == FORMULA_STRING)
        return compare_text(c, n, left->kind == FORMULA_STRING ? right : left, left->kind == FORMULA_STRING ? left : right);
    const struct term a = compile_node(c, n->args[0]), b = n->op == OP_POW ? emit_power_of(c, n, a) : compile_node(c, n->args[1]);
    struct term ret = combine(c, n, a, b);
    if (c->ok) ret.node = graph_operator(&c->m->graph, n->op, a.node, b.node);
    return ret;
}

/* ---- all of it --------------------------------------------------------------------------------------------------------------- */

static struct term emit_choose(struct compiling *c, const struct formula_node *n)
{
    const struct term condition = compile_node(c, n->args[0]);
    compile_pure(c, n, condition, "?:");
    const struct term yes = compile_node(c, n->args[1]), no = compile_node(c, n->args[2]);
    struct term ret = compile_same(c, n, yes, no, "a choice");
    if (c->ok) ret.node = graph_choose(&c->m->graph, condition.node, yes.node, no.node);
    return ret;
}

static struct term emit_sign(struct compiling *c, const struct formula_node *n)
{
    const struct term of = compile_node(c, n->args[0]);
    struct graph *g = &c->m->graph;
    if (!c->ok) return term_any;
    if (n->kind == FORMULA_NEGATE) return (struct term){of.dim, of.any, graph_make(g, GRAPH_NEGATE, of.node, of.node)};
    compile_pure(c, n, of, "!");
    return pure(graph_make(g, GRAPH_EQ, of.node, graph_constant(g, 0)));
}

bool compile_terms(struct compiling *c, const struct formula_node *n, int terms)
{
    char most[TEXT_NUMBER_MAX];
    const bool had_room = c->m->terms <= MODEL_TERMS_MAX;
    c->m->terms += had_room ? terms : 0;
    if (c->m->terms <= MODEL_TERMS_MAX) return true;
    if (had_room)
        compile_fail(c, n, "give what stands in several places a name of its own, among the equations",
                     xasprintf("the formulas have more than %s terms, with those of functions, loops over ranges, and at()",
                               text_count(most, MODEL_TERMS_MAX)));
    return c->ok = false;
}

static bool is_within_limits(struct compiling *c, const struct formula_node *n)
{
    char most[TEXT_NUMBER_MAX];
    if (c->depth > MODEL_DEPTH_MAX)
        compile_fail(
            c, n, "give parts of it names of their own",
            xasprintf("terms, functions and equations stand inside each other; at most %s do", text_count(most, MODEL_DEPTH_MAX)));
    return compile_terms(c, n, 1) && c->ok;
}

/* What stands where it means nothing. */
static const char *misplaced(enum formula_kind kind)
{
    if (kind == FORMULA_LOOP) return "a loop stands in sum(), most(), least(), argmin(), argmax() or largest()";
    return kind == FORMULA_SET ? "only at() gives a parameter another value" : "a string can only be compared, by == or !=";
}

static struct term emit_node(struct compiling *c, const struct formula_node *n)
{
    switch (n->kind) {
    case FORMULA_NUMBER: return emit_number(c, n);
    case FORMULA_NAME: return emit_name(c, n);
    case FORMULA_BINARY: return emit_binary(c, n);
    case FORMULA_CHOOSE: return emit_choose(c, n);
    case FORMULA_CALL: return compile_call(c, n);
    case FORMULA_NEGATE:
    case FORMULA_NOT: return emit_sign(c, n);
    default: return compile_fail(c, n, NULL, xasprintf("%s", misplaced(n->kind)));
    }
}

struct term compile_node(struct compiling *c, int node)
{
    const struct formula_node n = c->f->nodes[node];
    if (!c->ok || !is_within_limits(c, &n)) return term_any;
    c->depth++;
    const struct term ret = emit_node(c, &n);
    c->depth--;
    return ret;
}

static bool check_unit(struct compiling *c, struct term v)
{
    struct equation *e = &c->m->equations[c->equation];
    if (!e->has_measure) {
        e->measure = (struct measure){1, v.dim};
        return true;
    }
    if (v.any || dimension_same(v.dim, e->measure.dim)) return true;
    const bool other = e->unit && *e->unit; /* than the dimension's own */
    char *ours = dimension_name(e->measure.dim), *theirs = dimension_name(v.dim);
    char *in = other && strcmp(e->unit, ours) != 0 ? xasprintf("%s (%s)", e->unit, ours) : xstrdup(ours);
    compile_fail(c, &(struct formula_node){.at = 0},
                 e->is_public ? "a name says its unit: gemv_s is in seconds, and one without a unit at its end takes any" : NULL,
                 xasprintf("units do not fit: %s is %s%s, and its formula gives %s", e->name, other ? "in " : "", in, theirs));
    free(in);
    free(ours);
    free(theirs);
    return false;
}

static bool compile_formula(struct toml_model *m, int i, struct compiling *above, struct diags *diags)
{
    const struct equation *e = &m->equations[i];
    struct compiling c = {.m = m,
                          .equation = i,
                          .f = &e->formula,
                          .variable = e->kind == EQUATION_ELEMENT ? e->variable : NULL,
                          .domain = e->domain,
                          .context = above ? above->context : 0,
                          .above = above,
                          .depth = above ? above->depth : 0,
                          .diags = diags,
                          .ok = true};
    const struct term v = compile_node(&c, e->formula.root);
    if (c.ok) check_unit(&c, v);
    *context_made(m, c.context, i) = (struct made_equation){c.ok, v.node};
    return c.ok;
}

static bool compile(struct toml_model *m, int i, struct compiling *above, struct diags *diags)
{
    enum { CHAIN_MAX = 500 };
    int chain = 0;
    struct equation *e = &m->equations[i];
    for (const struct compiling *at = above; at; at = at->above) chain++;
    if (e->is_bad) return false;
    if (e->is_given) *context_made(m, above ? above->context : 0, i) = (struct made_equation){true, e->node};
    if (context_made(m, above ? above->context : 0, i)->is_done) return true;
    if (chain > CHAIN_MAX)
        return diags_input(diags, e->loc, e->formula.source.file_text, NULL, "more than %d equations need each other in a row",
                           CHAIN_MAX);
    e->at_work = true;
    e->is_bad = !compile_formula(m, i, above, diags);
    e->at_work = false;
    return !e->is_bad;
}

bool compile_equation(struct toml_model *m, int i, struct diags *diags)
{
    const bool ok = compile(m, i, NULL, diags);
    m->equations[i].node = context_made(m, 0, i)->node;
    return ok;
}
