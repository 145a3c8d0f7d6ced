/* From formulas to straight code as text, with the dimension of every part. Compiling an equation compiles what it needs first,
 * which gives the order, and finds cycles. */
#include "toml_model/compile.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool compile(struct toml_model *m, int i, struct compiling *above, struct diags *diags);

struct kind compile_fail(struct compiling *c, const struct formula_node *n, const char *hint, char *message)
{
    if (c->ok) diags_input(c->diags, formula_loc(c->f, n), c->f->doc->text, hint, "%s", message);
    c->ok = false;
    free(message);
    return kind_any;
}

static char *dimension_name(struct dimension d)
{
    struct text t;
    text_init(&t);
    dimension_text(d, &t);
    return text_detach(&t);
}

/* Both are one kind of thing, or it is an error. */
struct kind compile_same(struct compiling *c, const struct formula_node *n, struct kind a, struct kind b, const char *what)
{
    if (a.any) return b;
    if (b.any || dimension_same(a.dim, b.dim) || !c->ok) return a;
    char *left = dimension_name(a.dim), *right = dimension_name(b.dim);
    const struct kind ret = compile_fail(c, n, "a number may have its unit behind it: 2 [B]",
                                         xasprintf("units do not fit: %s of %s and %s", what, left, right));
    free(left);
    free(right);
    return ret;
}

struct kind compile_pure(struct compiling *c, const struct formula_node *n, struct kind k, const char *what)
{
    if (k.any || dimension_none(k.dim) || !c->ok) return kind_pure;
    char *is = dimension_name(k.dim);
    const struct kind ret = compile_fail(c, n, "divide it by something of its unit: x / 1 [B]",
                                         xasprintf("units do not fit: %s takes a pure number, not %s", what, is));
    free(is);
    return ret;
}

static void need(struct compiling *c, int what)
{
    struct equation *e = &c->m->equations[c->equation];
    for (int i = 0; i < e->n_needs; i++)
        if (e->needs[i] == what) return;
    e->needs = xrealloc(e->needs, (size_t)e->n_needs + 1, sizeof *e->needs);
    e->needs[e->n_needs++] = what;
}

static struct kind use_input(struct compiling *c, int input, struct text *out)
{
    need(c, -1 - input);
    text_addf(out, "v%d", c->m->inputs[input].slot);
    return (struct kind){c->m->inputs[input].measure.dim, false};
}

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

/* "a -> b -> a" of the equations at work. */
static struct kind cycle(struct compiling *c, const struct formula_node *n, int to)
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

struct kind compile_use(struct compiling *c, const struct formula_node *n, int i, struct text *out)
{
    if (c->m->equations[i].state == EQUATION_AT_WORK) return cycle(c, n, i);
    if (!compile(c->m, i, c, c->diags)) {
        c->ok = false;
        return kind_any;
    }
    need(c, i);
    text_addf(out, "v%d", c->m->equations[i].slot);
    return (struct kind){c->m->equations[i].measure.dim, false};
}

static struct kind unknown(struct compiling *c, const struct formula_node *n, const char *name, enum domain domain)
{
    size_t k;
    const char **names = known_names(c->m, domain, &k);
    if (c->ok && domain == DOMAIN_NONE)
        diags_unknown(c->diags, formula_loc(c->f, n), c->f->doc->text, name, names, k,
                      "a formula sees parameters, equations and metrics of the model, and what its shared parameters say: "
                      "docs/reference/model-in-toml.md",
                      "there is no parameter, equation or shared quantity \"%s\"", name);
    else if (c->ok)
        diags_unknown(c->diags, formula_loc(c->f, n), c->f->doc->text, name, names, k, "docs/reference/model-in-toml.md lists them",
                      "\"%s\" is neither a field of %s nor an equation of [for.%s]", name,
                      domain == DOMAIN_ATTENTION ? "a group of attention" : "an operator", domain_names[domain]);
    c->ok = false;
    free(names);
    return kind_any;
}

/* "op.k" in a loop over operators. */
static struct kind use_element(struct compiling *c, const struct formula_node *n, const char *field, struct text *out)
{
    const enum domain domain = c->m->equations[c->equation].domain;
    const int e = find_equation(c->m, field, domain);
    if (e >= 0) return compile_use(c, n, e, out);
    if (strcmp(field, "name") == 0 && domain != DOMAIN_ATTENTION)
        return compile_fail(c, n, "op.name == 'lm_head'", xasprintf("a name is compared with == or !="));
    const int in = element_input(c->m, domain, field);
    return in >= 0 ? use_input(c, in, out) : unknown(c, n, field, domain);
}

/* What stands behind the variable of the loop that the equation is in; NULL: another name. */
static const char *field_of_loop(const struct compiling *c, const char *name)
{
    const struct equation *e = &c->m->equations[c->equation];
    const size_t n = e->variable ? strlen(e->variable) : 0;
    const bool in = n > 0 && e->kind == EQUATION_ELEMENT && strncmp(name, e->variable, n) == 0 && name[n] == '.';
    return in ? name + n + 1 : NULL;
}

static struct kind use_argument(const struct compiling *c, int i, struct text *out)
{
    text_add(out, c->arguments->text[i].s);
    return (struct kind){c->arguments->dim[i], c->arguments->any[i]};
}

static struct kind emit_name(struct compiling *c, const struct formula_node *n, struct text *out)
{
    for (int i = 0; c->arguments && i < c->arguments->function->n_arguments; i++)
        if (strcmp(c->arguments->function->arguments[i], n->name) == 0) return use_argument(c, i, out);
    const char *field = field_of_loop(c, n->name);
    if (field) return use_element(c, n, field, out);
    if (strcmp(n->name, "inf") == 0 || strcmp(n->name, "null") == 0) {
        text_add(out, n->name);
        return kind_any;
    }
    const struct field *f = schema_find(&c->m->schema, n->name);
    if (f && f->type == DSE_TYPE_ENUM)
        return compile_fail(c, n, "name == 'one of its values'",
                            xasprintf("%s is a choice, not a number: compare it with == or !=", f->name));
    if (f && f->type == DSE_TYPE_REF)
        return compile_fail(c, n, "numbers of an entry stand behind a dot: llm.hidden",
                            xasprintf("%s is the name of a catalog entry, not a number", f->name));
    const int in = find_input(c->m, n->name);
    if (in >= 0) return use_input(c, in, out);
    const int e = find_equation(c->m, n->name, DOMAIN_NONE);
    return e >= 0 ? compile_use(c, n, e, out) : unknown(c, n, n->name, DOMAIN_NONE);
}

/* ---- operators --------------------------------------------------------------------------------------------------------------- */

/* "dataflow == 'flexible'", "op.name != 'lm_head'". */
static struct kind compare_text(struct compiling *c, const struct formula_node *n, const struct formula_node *name,
                                const struct formula_node *text, struct text *out)
{
    if (name->kind != FORMULA_NAME || (n->op != OP_EQ && n->op != OP_NE))
        return compile_fail(c, text, NULL, xasprintf("a string can only be compared, by == or !=, with a choice or with op.name"));
    const char *sign = n->op == OP_EQ ? "!=" : "==", *field = field_of_loop(c, name->name);
    if (field && strcmp(field, "name") == 0) {
        text_add(out, "(");
        use_input(c, named_input(c->m, c->m->equations[c->equation].domain, text->name), out);
        text_addf(out, "%s0)", sign);
        return kind_pure;
    }
    const struct field *f = schema_find(&c->m->schema, name->name);
    if (!f || f->type != DSE_TYPE_ENUM)
        return compile_fail(c, name, NULL, xasprintf("%s is not a choice: a string cannot be compared with it", name->name));
    size_t choices = 0;
    while (f->choices[choices]) choices++;
    for (size_t i = 0; i < choices; i++) {
        if (strcmp(f->choices[i], text->name) != 0) continue;
        text_add(out, "(");
        use_input(c, find_input(c->m, f->name), out);
        text_addf(out, "%s%zu)", formula_operators[n->op], i);
        return kind_pure;
    }
    if (c->ok)
        diags_unknown(c->diags, formula_loc(c->f, text), c->f->doc->text, text->name, f->choices, choices, NULL,
                      "%s is never \"%s\"", f->name, text->name);
    c->ok = false;
    return kind_any;
}

static struct kind power(struct compiling *c, const struct formula_node *n, struct kind base)
{
    const struct formula_node *by = &c->f->nodes[n->args[1]];
    if (base.any || dimension_none(base.dim)) return kind_pure;
    const double twice = by->kind == FORMULA_NUMBER ? 2 * by->number : (double)NAN;
    if (!(fabs(twice) <= 16 && twice == rint(twice)))
        return compile_fail(c, by, "a pure number may have any power",
                            xasprintf("units do not fit: what has a unit takes a whole or a half power, as a number"));
    struct kind ret = base;
    for (int i = 0; i < DIMS; i++) ret.dim.half[i] = (int16_t)(base.dim.half[i] * (int)twice / 2);
    return ret;
}

static struct kind combine(struct compiling *c, const struct formula_node *n, struct kind a, struct kind b)
{
    switch (n->op) {
    case OP_ADD:
    case OP_SUB: return compile_same(c, n, a, b, n->op == OP_ADD ? "a sum" : "a difference");
    case OP_MUL: return (struct kind){dimension_times(a.dim, b.dim, 1), a.any || b.any};
    case OP_DIV: return (struct kind){dimension_times(a.dim, b.dim, -1), a.any};
    case OP_POW: compile_pure(c, n, b, "a power"); return power(c, n, a);
    case OP_AND:
    case OP_OR: compile_pure(c, n, a, formula_operators[n->op]); return compile_pure(c, n, b, formula_operators[n->op]);
    default: compile_same(c, n, a, b, "a comparison"); return kind_pure;
    }
}

static struct kind emit_binary(struct compiling *c, const struct formula_node *n, struct text *out)
{
    const struct formula_node *left = &c->f->nodes[n->args[0]], *right = &c->f->nodes[n->args[1]];
    if (left->kind == FORMULA_STRING || right->kind == FORMULA_STRING)
        return compare_text(c, n, left->kind == FORMULA_STRING ? right : left, left->kind == FORMULA_STRING ? left : right, out);
    text_add(out, "(");
    const struct kind a = compile_node(c, n->args[0], out);
    text_add(out, formula_operators[n->op]);
    const struct kind b = compile_node(c, n->args[1], out);
    text_add(out, ")");
    return combine(c, n, a, b);
}

/* ---- all of it --------------------------------------------------------------------------------------------------------------- */

static struct kind emit_choose(struct compiling *c, const struct formula_node *n, struct text *out)
{
    text_add(out, "(");
    const struct kind condition = compile_node(c, n->args[0], out);
    compile_pure(c, n, condition, "?:");
    text_add(out, "?");
    const struct kind yes = compile_node(c, n->args[1], out);
    text_add(out, ":");
    const struct kind no = compile_node(c, n->args[2], out);
    text_add(out, ")");
    return compile_same(c, n, yes, no, "a choice");
}

/* More than a model may have is told once. */
static bool is_within_limits(struct compiling *c, const struct formula_node *n)
{
    char most[TEXT_NUMBER_MAX];
    if (c->depth > MODEL_DEPTH_MAX)
        compile_fail(
            c, n, "give parts of it names of their own",
            xasprintf("terms, functions and equations stand inside each other; at most %s do", text_count(most, MODEL_DEPTH_MAX)));
    if (++c->m->terms == MODEL_TERMS_MAX + 1)
        compile_fail(c, n, "give what stands in several places a name of its own, among the equations",
                     xasprintf("the formulas have more than %s terms, with those of the functions that they call",
                               text_count(most, MODEL_TERMS_MAX)));
    c->ok = c->ok && c->m->terms <= MODEL_TERMS_MAX;
    return c->ok;
}

static struct kind emit_node(struct compiling *c, const struct formula_node *n, struct text *out)
{
    switch (n->kind) {
    case FORMULA_NUMBER:
        text_addf(out, n->number < 0 ? "(%.17g)" : "%.17g", n->number);
        return (struct kind){n->dim, n->number == 0};
    case FORMULA_NAME: return emit_name(c, n, out);
    case FORMULA_BINARY: return emit_binary(c, n, out);
    case FORMULA_CHOOSE: return emit_choose(c, n, out);
    case FORMULA_CALL: return compile_call(c, n, out);
    case FORMULA_NEGATE:
    case FORMULA_NOT: {
        text_add(out, n->kind == FORMULA_NOT ? "(" : "(-");
        const struct kind k = compile_node(c, n->args[0], out);
        text_add(out, n->kind == FORMULA_NOT ? "==0)" : ")");
        return n->kind == FORMULA_NOT ? compile_pure(c, n, k, "!") : k;
    }
    default:
        return compile_fail(c, n, NULL,
                            xasprintf(n->kind == FORMULA_LOOP ? "a loop stands in sum(), most() or least()"
                                                              : "a string can only be compared, by == or !="));
    }
}

struct kind compile_node(struct compiling *c, int node, struct text *out)
{
    const struct formula_node n = c->f->nodes[node];
    if (!c->ok || !is_within_limits(c, &n)) return kind_any;
    c->depth++;
    const struct kind ret = emit_node(c, &n, out);
    c->depth--;
    return ret;
}

/* An equation's phase, from that of what it needs (struct equation). */
static int phase_behind(const struct equation *e, const struct equation *needed)
{
    if (e->kind != EQUATION_ELEMENT) return needed->phase + needed->phase % 2;
    return needed->kind == EQUATION_ELEMENT ? needed->phase : needed->phase + 1 + needed->phase % 2;
}

static void set_place(struct toml_model *m, struct equation *e)
{
    e->phase = e->kind == EQUATION_ELEMENT;
    for (int i = 0; i < e->n_needs; i++) {
        if (e->needs[i] < 0) continue;
        const int phase = phase_behind(e, &m->equations[e->needs[i]]);
        if (phase > e->phase) e->phase = phase;
    }
    e->order = m->n_ordered++;
}

/* A sum over a loop has the dimension of what is summed. */
static bool compile_loop(struct toml_model *m, int i, struct compiling *above, struct diags *diags)
{
    const int operand = m->equations[i].operand;
    struct compiling here = {.m = m, .equation = i, .above = above, .depth = above ? above->depth : 0, .diags = diags, .ok = true};
    bool ok = compile(m, operand, &here, diags);
    struct equation *e = &m->equations[i];
    e->needs = xcalloc(1, sizeof *e->needs);
    e->needs[e->n_needs++] = operand;
    e->measure = (struct measure){1, m->equations[operand].measure.dim};
    e->phase = m->equations[operand].phase;
    e->order = m->n_ordered++;
    if (ok && e->phase > 2 * MODEL_LOOPS_MAX)
        ok = diags_input(diags, e->loc, m->doc->text, "sum what can be summed in one loop",
                         "loops need each other in a row; at most %d do", MODEL_LOOPS_MAX);
    return ok;
}

static bool check_unit(struct compiling *c, struct kind k)
{
    struct equation *e = &c->m->equations[c->equation];
    if (!e->has_measure) {
        e->measure = (struct measure){1, k.dim};
        return true;
    }
    if (k.any || dimension_same(k.dim, e->measure.dim)) return true;
    const bool other = e->unit && *e->unit; /* than the dimension's own */
    char *ours = dimension_name(e->measure.dim), *theirs = dimension_name(k.dim);
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
    const struct formula f = m->equations[i].formula;
    struct compiling c = {
        .m = m, .equation = i, .f = &f, .above = above, .depth = above ? above->depth : 0, .diags = diags, .ok = true};
    struct text value;
    text_init(&value);
    text_init(&c.before);
    const struct kind k = compile_node(&c, f.root, &value);
    if (c.ok) check_unit(&c, k);
    if (c.ok) {
        struct equation *e = &m->equations[i];
        e->code = xasprintf("%sv%d=%s", c.before.s ? c.before.s : "", e->slot, value.s);
        set_place(m, e);
    }
    text_release(&value);
    text_release(&c.before);
    return c.ok;
}

static bool compile(struct toml_model *m, int i, struct compiling *above, struct diags *diags)
{
    enum { CHAIN_MAX = 500 };
    int chain = 0;
    for (const struct compiling *at = above; at; at = at->above) chain++;
    if (m->equations[i].state == EQUATION_DONE || m->equations[i].state == EQUATION_BAD)
        return m->equations[i].state == EQUATION_DONE;
    if (chain > CHAIN_MAX)
        return diags_input(diags, m->equations[i].loc, m->doc->text, NULL, "more than %d equations need each other in a row",
                           CHAIN_MAX);
    m->equations[i].state = EQUATION_AT_WORK;
    const bool loop = m->equations[i].kind > EQUATION_ELEMENT;
    const bool ok = loop ? compile_loop(m, i, above, diags) : compile_formula(m, i, above, diags);
    m->equations[i].state = ok ? EQUATION_DONE : EQUATION_BAD;
    return ok;
}

bool compile_equation(struct toml_model *m, int i, struct diags *diags)
{
    return compile(m, i, NULL, diags);
}
