/* at(PARAMETER = VALUE, FORMULA): the equations that the formula needs, made once more with another value of a parameter. A context
 * is a set of such values; equations that are asked for in the same context again are there already. */
#include "toml_model/compile.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- contexts ---------------------------------------------------------------------------------------------------------------- */

static void add_context(struct toml_model *m, struct setting *settings, int n)
{
    m->contexts = xrealloc(m->contexts, (size_t)m->n_contexts + 1, sizeof *m->contexts);
    m->contexts[m->n_contexts++] =
        (struct context){.settings = settings, .n = n, .made = xcalloc((size_t)m->n_equations + 1, sizeof(struct made_equation))};
}

void contexts_begin(struct toml_model *m)
{
    add_context(m, NULL, 0);
}

void contexts_end(struct toml_model *m)
{
    for (int i = 0; i < m->n_contexts; i++) {
        free(m->contexts[i].settings);
        free(m->contexts[i].made);
    }
    free(m->contexts);
    for (int i = 0; i < m->n_reaches; i++) free(m->reaches[i].is);
    free(m->reaches);
    m->contexts = NULL;
    m->reaches = NULL;
    m->n_contexts = m->n_reaches = 0;
}

struct made_equation *context_made(const struct toml_model *m, int context, int equation)
{
    return &m->contexts[context].made[equation];
}

int context_node(const struct compiling *c, int input)
{
    const struct context *at = &c->m->contexts[c->context];
    for (int i = 0; i < at->n; i++)
        if (at->settings[i].input == input) return at->settings[i].node;
    return -1;
}

static struct reach *reach_of(struct toml_model *m, int input)
{
    for (int i = 0; i < m->n_reaches; i++)
        if (m->reaches[i].input == input) return &m->reaches[i];
    m->reaches = xrealloc(m->reaches, (size_t)m->n_reaches + 1, sizeof *m->reaches);
    m->reaches[m->n_reaches] = (struct reach){.input = input};
    return &m->reaches[m->n_reaches++];
}

bool context_changes(const struct compiling *c, int node)
{
    const struct context *at = &c->m->contexts[c->context];
    for (int i = 0; i < at->n; i++)
        if (compile_reaches(c->m, reach_of(c->m, at->settings[i].input), node)) return true;
    return false;
}

/* The settings of a context with one more in its place, or another value of one. The caller frees them. */
static struct setting *with(const struct context *at, struct setting one, int *ret_n)
{
    struct setting *ret = xcalloc((size_t)at->n + 1, sizeof *ret);
    int n = 0;
    for (int i = 0; i < at->n && at->settings[i].input < one.input; i++) ret[n++] = at->settings[i];
    ret[n++] = one;
    for (int i = 0; i < at->n; i++)
        if (at->settings[i].input > one.input) ret[n++] = at->settings[i];
    *ret_n = n;
    return ret;
}

/* The context at hand with this setting; -1 with an error added. */
static int find_context(struct compiling *c, const struct formula_node *n, struct setting one)
{
    struct toml_model *m = c->m;
    int count;
    struct setting *settings = with(&m->contexts[c->context], one, &count);
    for (int i = 0; i < m->n_contexts; i++) {
        const struct context *at = &m->contexts[i];
        if (at->n != count || memcmp(at->settings, settings, (size_t)count * sizeof *settings) != 0) continue;
        free(settings);
        return i;
    }
    if (m->n_contexts > MODEL_CONTEXTS_MAX) {
        free(settings);
        compile_fail(c, n, NULL, xasprintf("at() asks for more than %d other values of parameters", MODEL_CONTEXTS_MAX));
        return -1;
    }
    add_context(m, settings, count);
    return m->n_contexts - 1;
}

/* ---- at() -------------------------------------------------------------------------------------------------------------------- */

bool context_refuses(struct compiling *c, const struct formula_node *n, unsigned groups, const char *what)
{
    const struct context *at = &c->m->contexts[c->context];
    if (groups >> GROUP_WORKLOAD & 1) groups |= 1U << GROUP_REQUEST; /* the step of a generation */
    for (int i = 0; i < at->n; i++) {
        const struct input *in = &c->m->inputs[at->settings[i].input];
        const enum group g = group_of_param(c->m, in->offset);
        if (g == GROUPS || !(groups >> g & 1)) continue;
        compile_fail(c, n, "at() changes what equations of the file make of a parameter, and nothing else",
                     xasprintf("at(%s = ...): %s is of the group \"%s\", and dse computes %s from that", in->name, in->name,
                               group_rows[g].name, what));
        return true;
    }
    return false;
}

/* The input that at() gives another value; -1 with an error added. */
static int parameter(struct compiling *c, const struct formula_node *set)
{
    const struct field *f = schema_find(&c->m->schema, set->name);
    const enum group g = f ? group_of_param(c->m, f->offset) : GROUPS;
    if (!f) {
        const char **names = xcalloc(c->m->schema.n + 1, sizeof *names);
        for (size_t i = 0; i < c->m->schema.n; i++) names[i] = c->m->schema.fields[i].name;
        if (c->ok)
            diags_unknown(c->diags, formula_loc(c->f, set), c->f->source.file_text, set->name, names, c->m->schema.n, NULL,
                          "there is no parameter \"%s\"", set->name);
        free(names);
    } else if (f->type != DSE_TYPE_F64 && f->type != DSE_TYPE_I64) {
        compile_fail(c, set, "a parameter that is a number", xasprintf("at() cannot set %s: it is no number", f->name));
    } else if (group_is_resolved(g)) {
        compile_fail(
            c, set, "a parameter of the model's own",
            xasprintf("at() cannot set %s: other parameters of the group \"%s\" follow from it", f->name, group_rows[g].name));
    } else {
        return find_input(c->m, f->name);
    }
    c->ok = false;
    return -1;
}

/* The value, which is the same for all elements of a loop. */
static int value_of(struct compiling *c, const struct formula_node *set, int input)
{
    const struct term is = {c->m->inputs[input].measure.dim, false, 0}, v = compile_node(c, set->args[0]);
    compile_same(c, set, is, v, set->name);
    if (c->ok && compile_varies(c->m, v.node))
        compile_fail(c, set, "give it what is the same for all elements",
                     xasprintf("at() cannot set %s to a number of the element of a loop", set->name));
    return v.node;
}

struct term compile_at(struct compiling *c, const struct formula_node *n)
{
    static const char hint[] = "at(batch = 4, step_s)";
    if (!compile_count(c, n, 2, 2)) return term_any;
    const struct formula_node *set = &c->f->nodes[n->args[0]];
    if (set->kind != FORMULA_SET)
        return compile_fail(c, set, hint, xasprintf("at() takes a parameter with its other value, and a formula"));
    const int input = parameter(c, set), value = c->ok ? value_of(c, set, input) : -1, outer = c->context;
    if (!c->ok) return term_any;
    const int inner = find_context(c, n, (struct setting){input, value});
    if (inner < 0) return term_any;
    c->context = inner;
    const struct term ret = compile_node(c, n->args[1]);
    c->context = outer;
    return ret;
}
