/* Calls: functions that every model has, those of the groups, those of the file, and sums over loops. */
#include "toml_model/compile.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum rule { RULE_PURE, RULE_ROUND, RULE_SAME, RULE_KEEP, RULE_ROOT, RULE_KNOWN };
static const struct {
    const char *name, *made; /* made: what it is called in the code */
    int least, most;
    enum rule rule;
} built_in[] = {
    {"min", "mn", 2, FORMULA_ARGUMENTS_MAX, RULE_SAME},
    {"max", "mx", 2, FORMULA_ARGUMENTS_MAX, RULE_SAME},
    {"abs", "abs", 1, 1, RULE_KEEP},
    {"sqrt", "sqrt", 1, 1, RULE_ROOT},
    {"ceil", "ceil", 1, 1, RULE_ROUND},
    {"floor", "floor", 1, 1, RULE_ROUND},
    {"round", "rint", 1, 1, RULE_ROUND},
    {"exp", "exp", 1, 1, RULE_PURE},
    {"ln", "ln", 1, 1, RULE_PURE},
    {"known", "known", 1, 1, RULE_KNOWN},
    {"log2", "log2", 1, 1, RULE_PURE},
    {"log10", "log10", 1, 1, RULE_PURE},
};
enum { BUILT_IN = sizeof built_in / sizeof *built_in };
static const char *const loops[] = {"sum", "most", "least"};

static bool wrong_count(struct compiling *c, const struct formula_node *n, int least, int most)
{
    if (n->n_args >= least && n->n_args <= most) return false;
    compile_fail(c, n, NULL,
                 least == most ? xasprintf("%s() takes %d argument%s, not %d", n->name, least, least == 1 ? "" : "s", n->n_args)
                               : xasprintf("%s() takes %d to %d arguments, not %d", n->name, least, most, n->n_args));
    return true;
}

static struct kind emit_built_in(struct compiling *c, const struct formula_node *n, size_t which, struct text *out)
{
    if (wrong_count(c, n, built_in[which].least, built_in[which].most)) return kind_any;
    const enum rule rule = built_in[which].rule;
    struct kind k = kind_any;
    for (int i = 0; i < n->n_args; i++) {
        const bool last = i == n->n_args - 1;
        if (rule != RULE_SAME || !last) text_addf(out, "%s(", built_in[which].made);
        const struct kind of = compile_node(c, n->args[i], out);
        k = rule == RULE_SAME ? compile_same(c, n, k, of, n->name) : of;
        if (rule == RULE_SAME && !last) text_add(out, ",");
    }
    for (int i = rule == RULE_SAME; i < n->n_args; i++) text_add(out, ")");
    if (rule == RULE_KNOWN) return kind_pure;
    if (rule == RULE_ROUND || rule == RULE_PURE) return compile_pure(c, n, k, n->name);
    for (int i = 0; rule == RULE_ROOT && i < DIMS; i++) {
        if (k.dim.half[i] % 2) return compile_fail(c, n, NULL, xasprintf("units do not fit: a root of a root"));
        k.dim.half[i] /= 2;
    }
    return k;
}

/* The place of a parameter that names an entry of the catalog. */
static void emit_reference(struct compiling *c, const struct formula_node *n, const char *plural, struct text *out)
{
    const struct field *f = n->kind == FORMULA_NAME ? schema_find(&c->m->schema, n->name) : NULL;
    if (!f || f->type != DSE_TYPE_REF || strcmp(kind_plural(f->kind), plural) != 0)
        compile_fail(c, n, "a parameter with catalog = \"srams\", \"technologies\", ...",
                     xasprintf("a parameter that names an entry of %s is needed here", plural));
    else
        text_addf(out, "%zu", f->offset);
}

static struct kind emit_shared(struct compiling *c, const struct formula_node *n, const struct shared_function *f, struct text *out)
{
    int arity = 0;
    while (arity < SHARED_ARGUMENTS_MAX && f->arguments[arity]) arity++;
    if (wrong_count(c, n, arity, arity)) return kind_any;
    text_addf(out, "%s(", f->name);
    for (int i = 0; i < arity; i++) {
        struct measure m;
        const struct formula_node *argument = &c->f->nodes[n->args[i]];
        if (i) text_add(out, ",");
        if (*f->arguments[i] == '@')
            emit_reference(c, argument, f->arguments[i] + 1, out);
        else if (measure_parse(f->arguments[i], strlen(f->arguments[i]), &m))
            compile_same(c, argument, (struct kind){m.dim, false}, compile_node(c, n->args[i], out), n->name);
    }
    text_add(out, ")");
    struct measure ret;
    measure_parse(f->unit, strlen(f->unit), &ret);
    return (struct kind){ret.dim, false};
}

static bool has_groups(const struct toml_model *m, unsigned groups)
{
    for (int g = 0; g < GROUPS; g++)
        if (groups >> g & 1 && !m->groups.has[g]) return false;
    return true;
}

/* Sums and extremes over a loop become equations of their own. */
static struct kind emit_loop(struct compiling *c, const struct formula_node *n, size_t which, struct text *out)
{
    static const enum equation_kind kinds[] = {EQUATION_SUM, EQUATION_MOST, EQUATION_LEAST};
    if (wrong_count(c, n, 1, 1)) return kind_any;
    const struct formula_node *loop = &c->f->nodes[n->args[0]];
    if (loop->kind != FORMULA_LOOP)
        return compile_fail(c, loop, "sum(for op in linear: op.weight_bytes)", xasprintf("%s() takes a loop", n->name));
    const enum domain domain = domain_find(loop->domain);
    if (c->arguments)
        return compile_fail(c, n, "write the loop where the function is called, or give it a name",
                            xasprintf("a function cannot hold a loop"));
    if (domain == DOMAIN_NONE) {
        if (c->ok)
            diags_unknown(c->diags, formula_loc(c->f, loop), c->f->doc->text, loop->domain, domain_names, DOMAINS, NULL,
                          "there is nothing called \"%s\" to loop over", loop->domain);
        c->ok = false;
        return kind_any;
    }
    if (!c->m->groups.has[GROUP_WORKLOAD])
        return compile_fail(c, n, "uses = [\"workload\", \"memory\"]",
                            xasprintf("a model without the group \"workload\" has no operators"));
    struct equation element = {.kind = EQUATION_ELEMENT,
                               .name = xstrdup(loop->name),
                               .domain = domain,
                               .variable = loop->name,
                               .formula = *c->f,
                               .borrows = true};
    element.formula.root = loop->args[0];
    element.loc = formula_loc(c->f, loop);
    const int operand = add_equation(c->m, element);
    const int i = add_equation(
        c->m, (struct equation){
                  .kind = kinds[which], .name = xstrdup(n->name), .domain = domain, .operand = operand, .loc = element.loc});
    return compile_use(c, n, i, out);
}

/* Is it a slot or a number, which need no slot of their own? */
static bool is_simple(const char *text)
{
    for (; *text; text++)
        if (!isalnum((unsigned char)*text) && *text != '.') return false;
    return true;
}

/* The text that stands for an argument: itself, or a slot that is set before. */
static void hold_argument(struct compiling *c, struct text *value, struct text *ret)
{
    if (value->n && is_simple(value->s)) {
        text_add(ret, value->s);
        return;
    }
    const int slot = new_slot(c->m);
    text_addf(ret, "v%d", slot);
    text_addf(&c->before, "v%d=%s,", slot, value->n ? value->s : "0");
}

/* A function of the file: its arguments get slots of their own, and its formula stands in place of the call. */
static struct kind emit_function(struct compiling *c, const struct formula_node *n, struct function *f, struct text *out)
{
    if (wrong_count(c, n, f->n_arguments, f->n_arguments)) return kind_any;
    if (f->at_work) return compile_fail(c, n, NULL, xasprintf("the function %s() needs itself", f->name));
    struct arguments a = {.function = f};
    for (int i = 0; i < n->n_args; i++) {
        struct text value;
        text_init(&value);
        text_init(&a.text[i]);
        const struct kind k = compile_node(c, n->args[i], &value);
        a.dim[i] = k.dim, a.any[i] = k.any;
        hold_argument(c, &value, &a.text[i]);
        text_release(&value);
    }
    const struct formula *outer = c->f;
    const struct arguments *outer_arguments = c->arguments;
    c->f = &f->formula;
    c->arguments = &a;
    f->at_work = true;
    const struct kind ret = c->ok ? compile_node(c, f->formula.root, out) : kind_any;
    f->at_work = false;
    c->f = outer;
    c->arguments = outer_arguments;
    for (int i = 0; i < n->n_args; i++) text_release(&a.text[i]);
    return ret;
}

struct kind compile_call(struct compiling *c, const struct formula_node *n, struct text *out)
{
    const char *names[BUILT_IN + 128];
    size_t k = 0;
    for (int i = 0; i < c->m->n_functions; i++)
        if (strcmp(c->m->functions[i].name, n->name) == 0) return emit_function(c, n, &c->m->functions[i], out);
    for (size_t i = 0; i < 3; i++) {
        if (strcmp(loops[i], n->name) == 0) return emit_loop(c, n, i, out);
        names[k++] = loops[i];
    }
    for (size_t i = 0; i < BUILT_IN; i++) {
        if (strcmp(built_in[i].name, n->name) == 0) return emit_built_in(c, n, i, out);
        names[k++] = built_in[i].name;
    }
    for (const struct shared_function *f = shared_functions; f->name; f++) {
        if (!has_groups(c->m, f->groups)) continue;
        if (strcmp(f->name, n->name) == 0) return emit_shared(c, n, f, out);
        names[k++] = f->name;
    }
    for (int i = 0; i < c->m->n_functions && i < 64; i++) names[k++] = c->m->functions[i].name;
    if (c->ok)
        diags_unknown(c->diags, formula_loc(c->f, n), c->f->doc->text, n->name, names, k,
                      "min, max, ceil, floor, round, sqrt, abs, exp, ln, log2, log10, sum, most, least, and those of [functions]",
                      "there is no function %s()", n->name);
    c->ok = false;
    return kind_any;
}
