#include "toml_model/machine.h"

#include "base/xalloc.h"

#include <dse/num.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum code {
    CODE_END,
    CODE_ADD,
    CODE_SUB,
    CODE_MUL,
    CODE_DIV,
    CODE_POW,
    CODE_LT,
    CODE_LE,
    CODE_GT,
    CODE_GE,
    CODE_EQ,
    CODE_NE,
    CODE_AND,
    CODE_OR,
    CODE_MIN,
    CODE_MAX,
    CODE_NEGATE,
    CODE_MOVE,
    CODE_JUMP,
    CODE_JUMP_UNLESS,
    CODE_CEIL,
    CODE_FLOOR,
    CODE_ROUND,
    CODE_ABS,
    CODE_SQRT,
    CODE_EXP,
    CODE_LN,
    CODE_LOG2,
    CODE_LOG10,
    CODE_KNOWN,
    CODE_SHARED
};

/* ---- compiling --------------------------------------------------------------------------------------------------------------- */

/* While compiling, a constant is -1 - its index, and what is in between is BETWEEN + its index. */
enum { BETWEEN = 1 << 24 };

struct compiling {
    const struct formula *f;
    struct machine_room *room;
    struct machine_code *out;
    int between; /* places in use */
    bool ok;
};

static int add(struct compiling *c, struct instruction i)
{
    c->out->list = xrealloc(c->out->list, (size_t)c->out->n + 1, sizeof *c->out->list);
    c->out->list[c->out->n] = i;
    return c->out->n++;
}

static int constant(struct machine_room *room, double number)
{
    for (int i = 0; i < room->n_constants; i++)
        if ((room->constants[i] == number && signbit(room->constants[i]) == signbit(number)) ||
            (isnan(number) && isnan(room->constants[i])))
            return -1 - i;
    room->constants = xrealloc(room->constants, (size_t)room->n_constants + 1, sizeof *room->constants);
    room->constants[room->n_constants] = number;
    return -1 - room->n_constants++;
}

static int new_place(struct compiling *c)
{
    if (++c->between > c->room->n_between) c->room->n_between = c->between;
    return BETWEEN + c->between - 1;
}

static int value_of(struct compiling *c, int node, int to);

/* Of one to four arguments, into `to`. */
static int operate(struct compiling *c, const struct formula_node *n, enum code code, int function, int to)
{
    const int before = c->between;
    int at[4] = {0};
    for (int i = 0; i < n->n_args && i < 4; i++) at[i] = value_of(c, n->args[i], new_place(c));
    c->between = before;
    add(c, (struct instruction){
               .code = (uint16_t)code, .function = (uint16_t)function, .to = to, .a = at[0], .b = at[1], .c = at[2], .d = at[3]});
    return to;
}

static int choose(struct compiling *c, const struct formula_node *n, int to)
{
    const int before = c->between, condition = value_of(c, n->args[0], new_place(c));
    c->between = before;
    const int unless = add(c, (struct instruction){.code = CODE_JUMP_UNLESS, .a = condition});
    const int yes = value_of(c, n->args[1], to);
    if (yes != to) add(c, (struct instruction){.code = CODE_MOVE, .to = to, .a = yes});
    const int over = add(c, (struct instruction){.code = CODE_JUMP});
    c->out->list[unless].to = c->out->n - unless;
    const int no = value_of(c, n->args[2], to);
    if (no != to) add(c, (struct instruction){.code = CODE_MOVE, .to = to, .a = no});
    c->out->list[over].to = c->out->n - over;
    return to;
}

static int call_of(struct compiling *c, const struct formula_node *n, int to)
{
    static const struct {
        const char *name;
        enum code code;
    } known[] = {{"mn", CODE_MIN},     {"mx", CODE_MAX},    {"ceil", CODE_CEIL},   {"floor", CODE_FLOOR},
                 {"rint", CODE_ROUND}, {"abs", CODE_ABS},   {"sqrt", CODE_SQRT},   {"exp", CODE_EXP},
                 {"ln", CODE_LN},      {"log2", CODE_LOG2}, {"log10", CODE_LOG10}, {"known", CODE_KNOWN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].name, n->name) == 0) return operate(c, n, known[i].code, 0, to);
    for (int i = 0; shared_functions[i].name; i++)
        if (strcmp(shared_functions[i].name, n->name) == 0) return operate(c, n, CODE_SHARED, i, to);
    c->ok = false;
    return to;
}

static int named(struct compiling *c, const char *name)
{
    if (strcmp(name, "inf") == 0) return constant(c->room, (double)INFINITY);
    if (strcmp(name, "null") == 0) return constant(c->room, (double)NAN);
    if (*name != 'v') c->ok = false;
    return (int)strtol(name + 1, NULL, 10);
}

/* Where the value of the node stands: `to`, unless it stands somewhere already. */
static int value_of(struct compiling *c, int node, int to)
{
    const struct formula_node *n = &c->f->nodes[node];
    switch (n->kind) {
    case FORMULA_NUMBER: return constant(c->room, n->number);
    case FORMULA_NAME: return named(c, n->name);
    case FORMULA_NEGATE: return operate(c, n, CODE_NEGATE, 0, to);
    case FORMULA_BINARY: return operate(c, n, (enum code)(CODE_ADD + (int)n->op - (int)OP_ADD), 0, to);
    case FORMULA_CHOOSE: return choose(c, n, to);
    case FORMULA_CALL: return call_of(c, n, to);
    default: c->ok = false; return to;
    }
}
_Static_assert(CODE_OR - CODE_ADD == OP_OR - OP_ADD, "operators have instructions in the same order");

/* "v12=...": as long as parentheses are open, a comma does not end it. */
static size_t statement_length(const char *s)
{
    size_t n = 0;
    for (int depth = 0; s[n] && (depth > 0 || s[n] != ','); n++) depth += (s[n] == '(') - (s[n] == ')');
    return n;
}

static bool compile_statement(const char *s, size_t n, struct machine_room *room, struct machine_code *out)
{
    const char *equals = memchr(s, '=', n);
    char *text = xstrndup(equals + 1, n - (size_t)(equals + 1 - s));
    struct formula f;
    const int to = (int)strtol(s + 1, NULL, 10);
    bool ok = formula_parse_made(&f, text);
    if (ok) {
        struct compiling c = {.f = &f, .room = room, .out = out, .ok = true};
        const int at = value_of(&c, f.root, to);
        if (at != to) add(&c, (struct instruction){.code = CODE_MOVE, .to = to, .a = at});
        ok = c.ok;
    }
    formula_release(&f);
    free(text);
    return ok;
}

bool machine_compile(const char *text, struct machine_room *room, struct machine_code *ret)
{
    bool ok = true;
    *ret = (struct machine_code){0};
    while (ok && *text) {
        const size_t n = statement_length(text);
        ok = compile_statement(text, n, room, ret);
        text += n + (text[n] == ',');
    }
    add(&(struct compiling){.out = ret}, (struct instruction){.code = CODE_END});
    return ok;
}

static int32_t placed(int32_t at, const struct machine_room *room)
{
    if (at < 0) return room->n_slots - 1 - at;
    return at >= BETWEEN ? room->n_slots + room->n_constants + at - BETWEEN : at;
}

void machine_place(struct machine_code *code, const struct machine_room *room)
{
    for (int i = 0; i < code->n; i++) {
        struct instruction *in = &code->list[i];
        if (in->code != CODE_JUMP && in->code != CODE_JUMP_UNLESS) in->to = placed(in->to, room);
        in->a = placed(in->a, room);
        in->b = placed(in->b, room);
        in->c = placed(in->c, room);
        in->d = placed(in->d, room);
    }
}

double *machine_numbers(const struct machine_room *room)
{
    double *v = xcalloc((size_t)(room->n_slots + room->n_constants + room->n_between) + 1, sizeof *v);
    for (int i = 0; i < room->n_slots; i++) v[i] = 1;
    if (room->n_constants) memcpy(v + room->n_slots, room->constants, (size_t)room->n_constants * sizeof *v);
    return v;
}

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

static const double whole_below = 0x1p62; /* beyond which every number is whole */

static double ceil_of(double x)
{
    return x >= 0 && x < whole_below ? dse_ceil(x) : ceil(x);
}

static double floor_of(double x)
{
    return x >= 0 && x < whole_below ? dse_floor(x) : floor(x);
}

static double call(const struct instruction *i, const double *v, const struct shared *s)
{
    const double a[] = {v[i->a], v[i->b], v[i->c], v[i->d]};
    return s->params ? shared_functions[i->function].of(s, a) : 1;
}

/* A division by zero is infinite, or no value, as muParser and every formula of a user have it. */
__attribute__((no_sanitize("undefined"))) void machine_run(const struct machine_code *code, double *v, const struct shared *s)
{
    for (const struct instruction *i = code->list;; i++) {
        switch ((enum code)i->code) {
        case CODE_END: return;
        case CODE_ADD: v[i->to] = v[i->a] + v[i->b]; break;
        case CODE_SUB: v[i->to] = v[i->a] - v[i->b]; break;
        case CODE_MUL: v[i->to] = v[i->a] * v[i->b]; break;
        case CODE_DIV: v[i->to] = v[i->a] / v[i->b]; break;
        case CODE_POW: v[i->to] = pow(v[i->a], v[i->b]); break;
        case CODE_LT: v[i->to] = v[i->a] < v[i->b]; break;
        case CODE_LE: v[i->to] = v[i->a] <= v[i->b]; break;
        case CODE_GT: v[i->to] = v[i->a] > v[i->b]; break;
        case CODE_GE: v[i->to] = v[i->a] >= v[i->b]; break;
        case CODE_EQ: v[i->to] = v[i->a] == v[i->b]; break;
        case CODE_NE: v[i->to] = v[i->a] != v[i->b]; break;
        case CODE_AND: v[i->to] = v[i->a] != 0 && v[i->b] != 0; break;
        case CODE_OR: v[i->to] = v[i->a] != 0 || v[i->b] != 0; break;
        case CODE_MIN: v[i->to] = v[i->b] < v[i->a] ? v[i->b] : v[i->a]; break;
        case CODE_MAX: v[i->to] = v[i->b] > v[i->a] ? v[i->b] : v[i->a]; break;
        case CODE_NEGATE: v[i->to] = -v[i->a]; break;
        case CODE_MOVE: v[i->to] = v[i->a]; break;
        case CODE_JUMP_UNLESS:
            if (v[i->a] == 0) i += i->to - 1;
            break;
        case CODE_JUMP: i += i->to - 1; break;
        case CODE_CEIL: v[i->to] = ceil_of(v[i->a]); break;
        case CODE_FLOOR: v[i->to] = floor_of(v[i->a]); break;
        case CODE_ROUND: v[i->to] = rint(v[i->a]); break;
        case CODE_ABS: v[i->to] = fabs(v[i->a]); break;
        case CODE_SQRT: v[i->to] = sqrt(v[i->a]); break;
        case CODE_EXP: v[i->to] = exp(v[i->a]); break;
        case CODE_LN: v[i->to] = log(v[i->a]); break;
        case CODE_LOG2: v[i->to] = log2(v[i->a]); break;
        case CODE_LOG10: v[i->to] = log10(v[i->a]); break;
        case CODE_KNOWN: v[i->to] = !isnan(v[i->a]); break;
        case CODE_SHARED: v[i->to] = call(i, v, s); break;
        }
    }
}
