#include "space/expr_bounds.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum opcode { NUMBER, PARAM, METRIC, NEGATE, ADD, SUB, MUL, DIV, POW, LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, AND, OR, CHOOSE, CALL };

/* One instruction of a stack machine. LESS and LESS_EQUAL with `swapped` are > and >=. */
struct instruction {
    enum opcode code;
    bool swapped;
    int arguments; /* CALL */
    struct dse_interval number;
    const struct field *field;
    const struct expr_function *function;
};

enum { DEPTH_MAX = 32 };

struct expr_bounds {
    struct instruction *code;
    size_t n;
    char *why_not;
};

/* Where compiling is. */
struct compiling {
    const char *at;
    const struct schema *params, *metrics;
    struct expr_bounds *out;
    int depth, nested;
};

/* ---- compiling -------------------------------------------------------------------------------------------------------------- */

static void refuse(struct compiling *c, char *why)
{
    if (c->out->why_not)
        free(why);
    else
        c->out->why_not = why;
}

static void emit(struct compiling *c, struct instruction i, int takes)
{
    c->out->code = xrealloc(c->out->code, c->out->n + 1, sizeof *c->out->code);
    c->out->code[c->out->n++] = i;
    c->depth += 1 - takes;
    if (c->depth > DEPTH_MAX) refuse(c, xasprintf("it is nested too deeply"));
}

/* Take the sign if it is next. */
static bool take(struct compiling *c, const char *sign)
{
    c->at += strspn(c->at, " \t\r\n");
    const size_t n = strlen(sign);
    if (c->out->why_not || strncmp(c->at, sign, n) != 0) return false;
    c->at += n;
    return true;
}

static void compile_choice(struct compiling *c);

static void expect(struct compiling *c, const char *what)
{
    if (!take(c, what)) refuse(c, xasprintf("it is not understood at \"%s\"", c->at));
}

static void compile_call(struct compiling *c, const char *name, size_t n)
{
    const struct expr_function *f = expr_function_find(name, n);
    if (!f) {
        refuse(c, xasprintf("%.*s() has no bound", (int)n, name));
        return;
    }
    int arguments = 0;
    do {
        compile_choice(c);
        arguments++;
    } while (take(c, ","));
    expect(c, ")");
    if (f->arity && f->arity != arguments) refuse(c, xasprintf("%s() takes %d", f->name, f->arity));
    emit(c, (struct instruction){.code = CALL, .function = f, .arguments = arguments}, arguments);
}

/* muParser's two constants have as many digits as its version gives them. */
static void compile_name(struct compiling *c)
{
    const char *name = c->at;
    size_t n = 0;
    while (isalnum((unsigned char)name[n]) || name[n] == '_') n++;
    c->at += n;
    if (take(c, "(")) {
        compile_call(c, name, n);
        return;
    }
    char *text = xstrndup(name, n);
    const struct field *param = schema_find(c->params, text), *metric = schema_find(c->metrics, text);
    if (strcmp(text, "_pi") == 0)
        emit(c, (struct instruction){.code = NUMBER, .number = {3.141592653589, 3.14159265359}}, 0);
    else if (strcmp(text, "_e") == 0)
        emit(c, (struct instruction){.code = NUMBER, .number = {2.718281828459, 2.71828182846}}, 0);
    else if (param || metric)
        emit(c, (struct instruction){.code = param ? PARAM : METRIC, .field = param ? param : metric}, 0);
    else
        refuse(c, xasprintf("\"%s\" is not understood", text));
    free(text);
}

static void compile_atom(struct compiling *c)
{
    c->at += strspn(c->at, " \t\r\n");
    if (isdigit((unsigned char)*c->at) || *c->at == '.') {
        const char *end;
        const double number = text_scan_f64(c->at, &end);
        if (end == c->at) refuse(c, xasprintf("it is not understood at \"%s\"", c->at));
        c->at = end;
        emit(c, (struct instruction){.code = NUMBER, .number = dse_iv_of(number)}, 0);
    } else if (isalpha((unsigned char)*c->at) || *c->at == '_') {
        compile_name(c);
    } else {
        expect(c, "(");
        compile_choice(c);
        expect(c, ")");
    }
}

static void compile_power(struct compiling *c)
{
    compile_atom(c);
    if (!take(c, "^")) return;
    bool negative = false;
    for (;;) {
        if (take(c, "-"))
            negative = !negative;
        else if (!take(c, "+"))
            break;
    }
    compile_power(c);
    if (negative) emit(c, (struct instruction){.code = NEGATE}, 1);
    emit(c, (struct instruction){.code = POW}, 2);
}

static void compile_signed(struct compiling *c)
{
    bool negative = false;
    for (;;) {
        if (take(c, "-"))
            negative = !negative;
        else if (!take(c, "+"))
            break;
    }
    compile_power(c);
    if (negative) emit(c, (struct instruction){.code = NEGATE}, 1);
}

/* Operands joined by operators of one precedence, which bind to the left; of two that begin alike the longer comes first. */
struct joint {
    const char *sign;
    struct instruction code;
};

static void compile_joined(struct compiling *c, void (*operand)(struct compiling *c), const struct joint *joints, size_t n)
{
    operand(c);
    for (size_t i = 0; i < n;) {
        if (!take(c, joints[i].sign)) {
            i++;
            continue;
        }
        operand(c);
        emit(c, joints[i].code, 2);
        i = 0;
    }
}

static void compile_product(struct compiling *c)
{
    static const struct joint joints[] = {{"*", {.code = MUL}}, {"/", {.code = DIV}}};
    compile_joined(c, compile_signed, joints, 2);
}

static void compile_sum(struct compiling *c)
{
    static const struct joint joints[] = {{"+", {.code = ADD}}, {"-", {.code = SUB}}};
    compile_joined(c, compile_product, joints, 2);
}

static void compile_compared(struct compiling *c)
{
    static const struct joint joints[] = {
        {"<=", {.code = LESS_EQUAL}}, {">=", {.code = LESS_EQUAL, .swapped = true}},
        {"==", {.code = EQUAL}},      {"!=", {.code = NOT_EQUAL}},
        {"<", {.code = LESS}},        {">", {.code = LESS, .swapped = true}},
    };
    compile_joined(c, compile_sum, joints, sizeof joints / sizeof *joints);
}

static void compile_and(struct compiling *c)
{
    static const struct joint joints[] = {{"&&", {.code = AND}}};
    compile_joined(c, compile_compared, joints, 1);
}

static void compile_or(struct compiling *c)
{
    static const struct joint joints[] = {{"||", {.code = OR}}};
    compile_joined(c, compile_and, joints, 1);
}

static void compile_choice(struct compiling *c)
{
    if (++c->nested > DEPTH_MAX) refuse(c, xasprintf("it is nested too deeply"));
    if (c->out->why_not) return;
    compile_or(c);
    if (take(c, "?")) {
        compile_choice(c);
        expect(c, ":");
        compile_choice(c);
        emit(c, (struct instruction){.code = CHOOSE}, 3);
    }
    c->nested--;
}

struct expr_bounds *expr_bounds_new(const char *text, const struct schema *params, const struct schema *metrics)
{
    struct expr_bounds *e = xcalloc(1, sizeof *e);
    struct compiling c = {.at = text, .params = params, .metrics = metrics, .out = e};
    compile_choice(&c);
    c.at += strspn(c.at, " \t\r\n");
    if (*c.at) refuse(&c, xasprintf("it is not understood at \"%s\"", c.at));
    return e;
}

void expr_bounds_free(struct expr_bounds *e)
{
    if (!e) return;
    free(e->code);
    free(e->why_not);
    free(e);
}

const char *expr_bounds_why_not(const struct expr_bounds *e)
{
    return e->why_not;
}

bool expr_bounds_reads(const struct expr_bounds *e, const struct field *metric)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->code[i].code == METRIC && e->code[i].field == metric) return true;
    return false;
}

/* ---- evaluating -------------------------------------------------------------------------------------------------------------- */

static struct expr_value param_value(const struct field *f, const struct expr_box *box)
{
    const double a = field_number(f, box->lo), b = field_number(f, box->hi);
    if (isnan(a) || isnan(b)) return expr_value_unknown();
    return (struct expr_value){dse_iv(dse_min(a, b), dse_max(a, b)), false};
}

struct expr_value expr_bounds_metric(const struct field *metric, const void *floor, const void *ceiling)
{
    if (metric->type == DSE_TYPE_I64) {
        const int64_t a = field_get(metric, floor).i64, b = field_get(metric, ceiling).i64;
        return (struct expr_value){
            dse_iv(a == INT64_MIN ? -(double)INFINITY : (double)a, b == INT64_MAX ? (double)INFINITY : (double)b), false};
    }
    const double a = field_number(metric, floor), b = field_number(metric, ceiling), slack = 1e-12;
    return (struct expr_value){dse_iv(isnan(a)   ? -(double)INFINITY
                                      : isinf(a) ? a
                                                 : a - slack * fabs(a),
                                      isnan(b)   ? (double)INFINITY
                                      : isinf(b) ? b
                                                 : b + slack * fabs(b)),
                               metric->may_be_null || metric->without};
}

static struct expr_value binary(const struct instruction *i, struct expr_value a, struct expr_value b)
{
    switch (i->code) {
    case ADD: return expr_value_add(a, b);
    case SUB: return expr_value_sub(a, b);
    case MUL: return expr_value_mul(a, b);
    case DIV: return expr_value_div(a, b);
    case POW: return expr_value_pow(a, b);
    case LESS:
    case LESS_EQUAL: return expr_value_less(i->swapped ? b : a, i->swapped ? a : b, i->code == LESS_EQUAL);
    case EQUAL:
    case NOT_EQUAL: return expr_value_equal(a, b, i->code == NOT_EQUAL);
    case AND: return expr_value_and(a, b);
    default: return expr_value_or(a, b);
    }
}

struct expr_value expr_bounds_of(const struct expr_bounds *e, const struct expr_box *box)
{
    if (e->why_not) return expr_value_unknown();
    struct expr_value stack[DEPTH_MAX + 1] = {0};
    int top = 0; /* values on the stack */
    for (size_t i = 0; i < e->n; i++) {
        const struct instruction *in = &e->code[i];
        switch (in->code) {
        case NUMBER: stack[top++] = (struct expr_value){in->number, false}; break;
        case PARAM: stack[top++] = param_value(in->field, box); break;
        case METRIC: stack[top++] = expr_bounds_metric(in->field, box->floor, box->ceiling); break;
        case NEGATE: stack[top - 1] = expr_value_negative(stack[top - 1]); break;
        case CALL:
            top -= in->arguments - 1;
            stack[top - 1] = in->function->of(&stack[top - 1], in->arguments);
            break;
        case CHOOSE:
            top -= 2;
            stack[top - 1] = expr_value_choose(stack[top - 1], stack[top], stack[top + 1]);
            break;
        default:
            top--;
            stack[top - 1] = binary(in, stack[top - 1], stack[top]);
            break;
        }
    }
    return stack[0];
}
