/* Random formulas with loops over ranges, tables and operators, functions with loops, and other values of parameters: points of the
 * graph, blocks of them and the walk give the same bits, and bounds hold. */
#include "many_rows.h"
#include "samples.h"
#include "scratch.h"
#include "walk_points.h"

#include "toml_model/toml_model.h"

/* ---- formulas ----------------------------------------------------------------------------------------------------------- */

enum { NAMES = 16, EQUATIONS = 5 };
struct writing {
    struct text t;
    char names[NAMES][16];     /* of loops around the formula at hand */
    int n, loops;              /* loops: written so far */
    int equation;              /* that is written: it may need those before */
    bool in_operators, varies; /* a loop over operators is around it; it may read the operator */
};

static int below(int n)
{
    return (int)(uniform() * n);
}

static void formula(struct writing *w, int depth);

static void write_atom(struct writing *w)
{
    static const char *const atoms[] = {"a", "b", "n", "batch", "0", "1", "2.5", "-3", "null", "inf"};
    const int kind = below(10);
    if (w->n && kind < 4)
        text_add(&w->t, w->names[below(w->n)]);
    else if (w->varies && kind < 6)
        text_add(&w->t, below(2) ? "op.repeat" : "op.x");
    else if (w->equation && kind < 8)
        text_addf(&w->t, "e%d", below(w->equation));
    else
        text_add(&w->t, atoms[below(below(4) ? 8 : 10)]);
}

/* Ranges, and so the walk, do not know the sign of a zero for sure: 0 + x is no negative zero. */
static void write_operation(struct writing *w, int depth)
{
    static const char *const between[] = {" + ", " - ", " * ", " / ", " < ", " >= ", " == ", " && "};
    static const char *const before[] = {"floor", "abs", "0 - ", "sqrt", "known", "expm1", "log1p"};
    const int kind = below(4);
    text_add(&w->t, "(0 + ");
    text_add(&w->t, kind == 0 ? before[below(7)] : kind == 1 ? (below(2) ? "min" : "max") : "");
    text_add(&w->t, "(");
    formula(w, depth - 1);
    if (kind == 1) text_add(&w->t, ", ");
    if (kind >= 2) text_add(&w->t, between[below(8)]);
    if (kind >= 1) formula(w, depth - 1);
    text_add(&w->t, "))");
}

static void write_choice(struct writing *w, int depth)
{
    text_add(&w->t, "(");
    formula(w, depth - 1);
    text_add(&w->t, " > 1 ? ");
    formula(w, depth - 1);
    text_add(&w->t, " : ");
    formula(w, depth - 1);
    text_add(&w->t, ")");
}

/* Over a range or a table. */
static void write_loop(struct writing *w, int depth)
{
    static const char *const loops[] = {"sum", "most", "least", "argmin", "argmax", "largest"};
    const int i = w->loops++, first = below(5) - 2, n = w->n;
    const bool table = below(2);
    text_addf(&w->t, "%s(i%d in ", loops[below(6)], i);
    if (table)
        text_add(&w->t, "pairs");
    else
        text_addf(&w->t, "%d..%d", first, first + below(4));
    if (w->n < NAMES) snprintf(w->names[w->n++], sizeof w->names[0], table ? (below(2) ? "i%d.x" : "i%d.y") : "i%d", i);
    if (below(2)) {
        text_add(&w->t, " if ");
        formula(w, depth - 2);
        text_add(&w->t, " > 0");
    }
    text_add(&w->t, ": ");
    formula(w, depth - 1);
    text_add(&w->t, ")");
    w->n = n;
}

static void write_operators(struct writing *w, int depth)
{
    const bool in = w->in_operators, varies = w->varies;
    text_addf(&w->t, "%s(for op in linear: ", below(2) ? "sum" : "most");
    w->in_operators = w->varies = true;
    formula(w, depth - 1);
    w->in_operators = in;
    w->varies = varies;
    text_add(&w->t, ")");
}

/* What at() sets, and what a function with a loop over operators is given, is of no operator. */
static void write_constant(struct writing *w, int depth)
{
    const bool varies = w->varies;
    w->varies = false;
    formula(w, depth);
    w->varies = varies;
}

static void write_at(struct writing *w, int depth)
{
    text_addf(&w->t, "at(%s = ", below(2) ? "a" : "n");
    write_constant(w, depth - 2);
    text_add(&w->t, ", ");
    formula(w, depth - 1);
    text_add(&w->t, ")");
}

/* What is solved grows with the number that is looked for. */
static void write_solve(struct writing *w, int depth)
{
    const int i = w->loops++;
    text_addf(&w->t, "solve(s%d in ", i);
    formula(w, depth - 3);
    text_add(&w->t, " .. ");
    formula(w, depth - 3);
    if (below(2))
        text_addf(&w->t, ": s%d * abs(s%d) + s%d / 2 - ", i, i, i);
    else
        text_addf(&w->t, ": at(b = s%d, (b > 1 ? b * b : b) + floor(b)) - ", i);
    formula(w, depth - 1);
    text_add(&w->t, ")");
}

static void write_call(struct writing *w, int depth)
{
    const int kind = below(3);
    text_add(&w->t, kind == 0 ? "pairs.y(" : kind == 1 ? "ranged(" : "worked(");
    if (kind == 2)
        write_constant(w, depth - 1);
    else
        formula(w, depth - 1);
    if (kind == 1) {
        text_add(&w->t, ", ");
        formula(w, depth - 1);
    }
    text_add(&w->t, ")");
}

static void formula(struct writing *w, int depth)
{
    const int kind = depth > 0 ? below(10) : -1;
    if (kind < 0)
        write_atom(w);
    else if (kind < 3)
        write_operation(w, depth);
    else if (kind == 3)
        write_choice(w, depth);
    else if (kind < 6)
        write_loop(w, depth);
    else if (kind == 6)
        write_at(w, depth);
    else if (kind == 7 && !w->in_operators)
        write_operators(w, depth);
    else if (kind == 9 && !w->in_operators)
        write_solve(w, depth);
    else
        write_call(w, depth);
}

/* A model of random equations; its text, which the caller frees. */
static char *random_model(const char *name)
{
    struct writing w = {.n = 0};
    text_init(&w.t);
    text_addf(
        &w.t,
        "[model]\nname = '%s'\ntitle = 'random formulas'\ncite = 'none'\nuses = ['workload']\n[parameters]\n"
        "a = { default = 1.5, range = [-4.0, 9.0], doc = 'a' }\nb = { default = 0.5, range = [0.0, 3.0], doc = 'b' }\n"
        "n = { default = 3, range = [-3, 12], doc = 'n' }\n"
        "[tables]\npairs = { columns = ['x', 'y'], rows = [[1, 2], [0.5, -1], [3, 0]] }\n"
        "[functions]\n'ranged(u, v)' = 'argmin(k in 1..4 if k != v: abs(k - u)) + v'\n"
        "'worked(u)' = 'sum(for op in linear: min(op.x, u) / 8)'\n[for.linear]\nx = 'floor(op.repeat / 8) + a'\n[equations]\n",
        name);
    for (w.equation = 0; w.equation < EQUATIONS; w.equation++) {
        text_addf(&w.t, "e%d = '", w.equation);
        formula(&w, 4);
        text_add(&w.t, "'\n");
    }
    text_add(&w.t, "[step]\ntime = '1 [s] + (abs(e0) < 9 ? 1 [s] : 0)'\n[metrics]\n");
    for (int i = 0; i < EQUATIONS; i++) text_addf(&w.t, "m%d = { is = 'e%d', doc = 'x', mean = 'steps' }\n", i, i);
    return text_detach(&w.t);
}

/* ---- comparisons -------------------------------------------------------------------------------------------------------- */

static void compare_blocks(const char *name)
{
    char *sweep =
        xasprintf("[sweep]\nname = \"t\"\nmodels = [\"%s\"]\n[params]\nllm = [\"llama2-7b\", \"opt-2.7b\"]\nbatch = [1, 3]\n"
                  "a = { from = -4, to = 9, points = 7 }\nb = [0, 0.5, 3]\nn = { from = -3, to = 12, points = 8, scale = "
                  "\"linear\" }\n[objectives]\nlatency_us = \"min\"\n",
                  name);
    assert_true(compare_many(sweep) >= 0);
    free(sweep);
}

static void compare_at_points(const struct model *m)
{
    enum { POINTS = 20 };
    struct boxes b;
    if (!boxes_init(&b, m)) {
        fail();
        return;
    }
    void *walked = xcalloc(1, m->desc->metrics_size), *point = xcalloc(1, m->desc->params_size);
    for (int k = 0; k < POINTS; k++)
        if (random_point(m, space_fixed(b.one.space), 0.2, point)) compare_points(&b, point, walked);
    free(walked);
    free(point);
    boxes_release(&b);
}

/* Steps of floor() and comparisons make much of a rounding, so that both bounds need not be alike here. */
static void ask_bounds(const struct model *m, const char *text)
{
    enum { BOXES = 30, ASKED = 12 };
    struct boxes b;
    if (!boxes_init(&b, m)) {
        fail();
        return;
    }
    for (int k = 0; k < BOXES; k++) {
        const char *wrong = box_draw(&b, 0.2, 0.2, 3) ? box_ask(&b, ASKED, 1e-12) : NULL;
        if (wrong) fail_msg("%s is outside of its bound: %s\n%s", wrong, box_text(&b, wrong), text);
    }
    boxes_release(&b);
}

static void compare_model(const struct model *m, const char *text)
{
    struct model walked = *m;
    walked.desc = m->plain;
    compare_at_points(m);
    ask_bounds(m, text);
    ask_bounds(&walked, text);
    compare_blocks(m->desc->name);
}

static void forms__are_the_same_in_graph_blocks_and_walk(void **state)
{
    (void)state;
    const int models = samples(40, 240);
    char *dir = scratch_new();
    int taken = 0;
    for (int i = 0; i < models; i++) {
        char *name = xasprintf("random_%d", i), *text = random_model(name), *file = xasprintf("%s.toml", name);
        struct diags found;
        diags_init(&found);
        scratch_write(dir, file, text);
        char *own = xasprintf("%s/%s", dir, file);
        if (toml_model_load(own, &found)) {
            taken++;
            compare_model(registry_find(name), text);
        } else if (!strstr(found.list[0].message, "more than") && !strstr(found.list[0].message, "less deep")) {
            fail_msg("%s: %s\n%s", name, found.list[0].message, text);
        }
        diags_release(&found);
        free(own);
        free(file);
        free(text);
        free(name);
    }
    print_message("%d of %d models\n", taken, models);
    assert_true(taken > models / 2);
    scratch_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms__are_the_same_in_graph_blocks_and_walk),
    };
    return cmocka_run_group_tests_name("toml_forms", tests, set_up, tear_down);
}
