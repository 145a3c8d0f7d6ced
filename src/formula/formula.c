#include "formula/formula.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const formula_operators[OP_COUNT] = {"+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "&&", "||"};

/* What the dialects are called, and what is said of them. */
static const struct dialect {
    const char *noun, *less_deep, *example;
    size_t length_max;
    int depth_max, arguments_max;
    bool numbers_only; /* no units, strings and loops */
    bool compares_once;
} dialects[] = {
    [FORMULA_OF_MODEL] = {"formula", "a formula that is less deep",
                          "for example: \"max(cycles / clock_ghz, op.weight_bytes / bandwidth_gbs)\"", FORMULA_LENGTH_MAX,
                          FORMULA_DEPTH_MAX, FORMULA_ARGUMENTS_MAX, false, true},
    [FORMULA_EXPRESSION] = {"expression", "an expression that is less deep", "for example: \"area_mm2 <= 25 && tiles >= 4\"",
                            EXPRESSION_LENGTH_MAX, EXPRESSION_DEPTH_MAX, EXPRESSION_LENGTH_MAX, true, false},
};

struct parsing {
    struct formula *out;
    const struct dialect *dialect;
    const char *text, *at;
    int depth;
    bool failed;
    struct diags *diags;
};

static struct srcloc formula_loc_at(const struct formula *f, size_t at)
{
    struct srcloc loc = f->source.loc;
    const char *s = f->source.text;
    for (size_t i = 0; loc.column && i < at && s[i]; i++) {
        if (s[i] == '\n')
            loc.line++, loc.column = 1;
        else if (((unsigned char)s[i] & 0xc0) != 0x80)
            loc.column++;
    }
    return loc;
}

struct srcloc formula_loc(const struct formula *f, const struct formula_node *n)
{
    return formula_loc_at(f, n->at);
}

static void complain(const struct parsing *p, const char *at, const char *what)
{
    const struct srcloc loc = formula_loc_at(p->out, (size_t)(at - p->text));
    const char *file_text = p->out->source.file_text;
    if (*at == '\0')
        diags_input(p->diags, loc, file_text, p->dialect->example, "%s is expected here, where the %s ends", what,
                    p->dialect->noun);
    else if (*at == '=' && at[1] != '=' && p->dialect->numbers_only)
        diags_input(p->diags, loc, file_text, "to compare, write ==, <=, >= or !=", "an expression cannot assign");
    else
        diags_input(p->diags, loc, file_text, p->dialect->example, "%s is expected, not \"%.*s\"", what,
                    (int)strcspn(at, *at == '[' ? "\n" : " \n"), at);
}

static int fail(struct parsing *p, const char *at, const char *what)
{
    if (!p->failed) complain(p, at, what);
    p->failed = true;
    return 0;
}

/* Takes the node's name; the arguments are copied. */
static int new_node(struct parsing *p, struct formula_node n, const int *args, int n_args, const char *at)
{
    struct formula *f = p->out;
    n.at = (size_t)(at - p->text);
    n.n_args = n_args;
    n.args = n_args ? xcalloc((size_t)n_args, sizeof *n.args) : NULL;
    for (int i = 0; i < n_args; i++) n.args[i] = args[i];
    if ((f->n & (f->n - 1)) == 0) f->nodes = xrealloc(f->nodes, f->n ? 2 * (size_t)f->n : 1, sizeof *f->nodes);
    f->nodes[f->n] = n;
    return f->n++;
}

static int unary(struct parsing *p, enum formula_kind kind, int of, const char *at)
{
    return new_node(p, (struct formula_node){.kind = kind}, &of, 1, at);
}

static int binary(struct parsing *p, enum formula_operator op, int a, int b, const char *at)
{
    return new_node(p, (struct formula_node){.kind = FORMULA_BINARY, .op = op}, (const int[]){a, b}, 2, at);
}

static void skip_space(struct parsing *p)
{
    p->at += strspn(p->at, " \t\r\n");
}

static bool take(struct parsing *p, const char *sign)
{
    skip_space(p);
    const size_t n = strlen(sign);
    if (p->failed || strncmp(p->at, sign, n) != 0) return false;
    p->at += n;
    return true;
}

static int choice(struct parsing *p);

static bool is_name(char c, bool first)
{
    return isalpha((unsigned char)c) || c == '_' || (!first && (isdigit((unsigned char)c) || c == '.'));
}

/* Of the name that begins here; two dots are those of a range. */
static size_t name_length(const char *s)
{
    size_t n = 0;
    while (is_name(s[n], n == 0) && !(s[n] == '.' && s[n + 1] == '.')) n++;
    return n;
}

/* The name at hand; NULL: none. */
static char *name_at(struct parsing *p)
{
    skip_space(p);
    const size_t n = name_length(p->at);
    if (!n) {
        fail(p, p->at, "a name");
        return NULL;
    }
    char *name = xstrndup(p->at, n);
    p->at += n;
    return name;
}

/* Is this word next, as a word? */
static bool take_word(struct parsing *p, const char *word)
{
    skip_space(p);
    const size_t n = strlen(word);
    if (strncmp(p->at, word, n) != 0 || is_name(p->at[n], false)) return false;
    p->at += n;
    return true;
}

/* Does a name stand here, and behind it one of these? */
static bool is_name_before(struct parsing *p, const char *const *next, int n)
{
    skip_space(p);
    const size_t length = name_length(p->at);
    const char *behind = p->at + length + strspn(p->at + length, " \t\r\n");
    for (int i = 0; i < n && length; i++) {
        const size_t k = strlen(next[i]);
        const bool is_word = is_name(next[i][0], true);
        if (strncmp(behind, next[i], k) == 0 && !(is_word && is_name(behind[k], false))) return true;
    }
    return false;
}

/* What a loop runs over: a name, or the ends of a range. */
static int domain(struct parsing *p, struct formula_node *n, int *args)
{
    static const char *const behind[] = {":", "if"};
    if (is_name_before(p, behind, 2)) {
        n->domain = name_at(p);
        return 1;
    }
    args[1] = choice(p);
    if (!p->failed && !take(p, "..")) fail(p, p->at, "\"..\"");
    args[2] = p->failed ? 0 : choice(p);
    return 3;
}

static int loop(struct parsing *p, const char *start)
{
    struct formula_node n = {.kind = FORMULA_LOOP, .name = name_at(p)};
    int args[4] = {0}, n_args = 1;
    if (!p->failed && !take_word(p, "in")) fail(p, p->at, "\"in\"");
    if (!p->failed) n_args = domain(p, &n, args);
    if (!p->failed && take_word(p, "if")) args[n_args++] = choice(p);
    if (!p->failed && !take(p, ":")) fail(p, p->at, "\":\"");
    args[0] = p->failed ? 0 : choice(p);
    return new_node(p, n, args, n_args, start);
}

int formula_condition(const struct formula_node *loop)
{
    const int before = loop->domain ? 1 : 3;
    return loop->n_args > before ? loop->args[before] : -1;
}

static int argument(struct parsing *p)
{
    static const char *const same[] = {"=="}, *const set[] = {"="};
    if (p->dialect->numbers_only || is_name_before(p, same, 1) || !is_name_before(p, set, 1)) return choice(p);
    const char *start = p->at;
    const struct formula_node n = {.kind = FORMULA_SET, .name = name_at(p)};
    take(p, "=");
    const int value = choice(p);
    return new_node(p, n, &value, 1, start);
}

/* The arguments of a call; the caller frees *ret. Returns their number. */
static int arguments(struct parsing *p, int **ret)
{
    int n = 0;
    *ret = NULL;
    do {
        if (n == p->dialect->arguments_max) return fail(p, p->at, "an argument less");
        const int next = argument(p);
        *ret = xrealloc(*ret, (size_t)n + 1, sizeof **ret);
        (*ret)[n++] = next;
    } while (take(p, ","));
    return n;
}

static int call(struct parsing *p, char *name, const char *start)
{
    static const char *const behind[] = {"in"};
    int *args = NULL, n = 0;
    skip_space(p);
    const char *in = p->at;
    if (!p->dialect->numbers_only && (take_word(p, "for") || is_name_before(p, behind, 1))) {
        const int body = loop(p, in);
        args = xcalloc(1, sizeof *args);
        args[n++] = body;
    } else if (*p->at != ')') {
        n = arguments(p, &args);
    }
    if (!p->failed && !take(p, ")")) fail(p, p->at, "\")\"");
    const int node = new_node(p, (struct formula_node){.kind = FORMULA_CALL, .name = name}, args, n, start);
    free(args);
    return node;
}

/* The number at hand. That of "1..16" ends before the dots. */
static double scan(const struct parsing *p, const char **ret_end)
{
    enum { DIGITS_MAX = 16 };
    const size_t n = strspn(p->at, "0123456789");
    if (!n || n > DIGITS_MAX || p->at[n] != '.' || p->at[n + 1] != '.') return text_scan_f64(p->at, ret_end);
    char digits[DIGITS_MAX + 1] = "";
    const char *end;
    memcpy(digits, p->at, n);
    *ret_end = p->at + n;
    return text_scan_f64(digits, &end);
}

/* A decimal number, with the unit behind it. */
static int number(struct parsing *p)
{
    const char *start = p->at;
    const char *end;
    struct formula_node n = {.kind = FORMULA_NUMBER, .number = scan(p, &end)};
    const bool decimal = strspn(start, "0123456789.eE+-") >= (size_t)(end - start);
    if (end == p->at || is_name(*end, true) || !decimal || !isfinite(n.number)) return fail(p, p->at, "a number");
    p->at = end;
    skip_space(p);
    const char *open = p->at;
    if (!p->dialect->numbers_only && take(p, "[")) {
        const size_t size = strcspn(p->at, "]");
        struct measure m;
        if (p->at[size] != ']' || !measure_parse(p->at, size, &m)) {
            p->at = open + 1;
            return fail(p, open, "a unit like [B], [us] or [GB/s]");
        }
        n.number *= m.scale;
        n.dim = m.dim;
        p->at += size + 1;
    }
    return new_node(p, n, NULL, 0, start);
}

static int string(struct parsing *p)
{
    const char *start = p->at, quote[] = {*start, '\0'};
    const size_t n = strcspn(start + 1, quote);
    if (start[1 + n] != *quote) return fail(p, start, "a string with both of its quotes");
    p->at += n + 2;
    return new_node(p, (struct formula_node){.kind = FORMULA_STRING, .name = xstrndup(start + 1, n)}, NULL, 0, start);
}

static int atom(struct parsing *p)
{
    skip_space(p);
    const char *start = p->at;
    if (isdigit((unsigned char)*start) || *start == '.') return number(p);
    if (!p->dialect->numbers_only && (*start == '\'' || *start == '"')) return string(p);
    if (is_name(*start, true)) {
        char *name = name_at(p);
        if (take(p, "(")) return call(p, name, start);
        return new_node(p, (struct formula_node){.kind = FORMULA_NAME, .name = name}, NULL, 0, start);
    }
    if (!take(p, "(")) return fail(p, p->at, "a number, a name or \"(\"");
    const int inner = choice(p);
    if (!p->failed && !take(p, ")")) fail(p, p->at, "\")\"");
    return inner;
}

static int signed_power(struct parsing *p)
{
    if (p->failed || ++p->depth > p->dialect->depth_max) return fail(p, p->at, p->dialect->less_deep);
    skip_space(p);
    const char *start = p->at;
    int ret;
    if (take(p, "+")) {
        ret = signed_power(p);
    } else if (take(p, "-")) {
        const int of = signed_power(p);
        ret = unary(p, FORMULA_NEGATE, of, start);
    } else if (p->at[0] == '!' && p->at[1] != '=') {
        p->at++;
        const int of = signed_power(p);
        ret = unary(p, FORMULA_NOT, of, start);
    } else {
        ret = atom(p);
        skip_space(p);
        const char *sign = p->at;
        if (take(p, "^")) {
            const int power = signed_power(p);
            ret = binary(p, OP_POW, ret, power, sign);
        }
    }
    p->depth--;
    return ret;
}

/* Operands joined by operators first..last, which bind to the left; of two that begin alike the longer is tried first. */
static int joined(struct parsing *p, int (*operand)(struct parsing *p), enum formula_operator first, enum formula_operator last,
                  bool once)
{
    int left = operand(p);
    for (bool found = true; found && !p->failed;) {
        found = false;
        skip_space(p);
        const char *start = p->at;
        for (int op = (int)last; op >= (int)first && !found; op--) {
            const bool shorter = (op == OP_LT || op == OP_GT) && start[0] && start[1] == '=';
            if (shorter || !take(p, formula_operators[op])) continue;
            const int right = operand(p);
            left = binary(p, (enum formula_operator)op, left, right, start);
            found = !once;
            break;
        }
    }
    return left;
}

static int product(struct parsing *p)
{
    return joined(p, signed_power, OP_MUL, OP_DIV, false);
}

static int sum(struct parsing *p)
{
    return joined(p, product, OP_ADD, OP_SUB, false);
}

static int compared(struct parsing *p)
{
    return joined(p, sum, OP_LT, OP_NE, p->dialect->compares_once);
}

static int and_of(struct parsing *p)
{
    return joined(p, compared, OP_AND, OP_AND, false);
}

static int choice(struct parsing *p)
{
    if (p->failed || ++p->depth > p->dialect->depth_max) return fail(p, p->at, p->dialect->less_deep);
    const int condition = joined(p, and_of, OP_OR, OP_OR, false);
    int ret = condition;
    skip_space(p);
    const char *start = p->at;
    if (take(p, "?")) {
        const int yes = choice(p);
        if (!p->failed && !take(p, ":")) fail(p, p->at, "\":\"");
        const int no = p->failed ? 0 : choice(p);
        ret = new_node(p, (struct formula_node){.kind = FORMULA_CHOOSE}, (const int[]){condition, yes, no}, 3, start);
    }
    p->depth--;
    return ret;
}

bool formula_parse(struct formula *ret, const struct formula_source *source, struct diags *diags)
{
    *ret = (struct formula){.source = *source};
    const struct dialect *dialect = &dialects[source->dialect];
    char length[TEXT_NUMBER_MAX], most[TEXT_NUMBER_MAX];
    if (strlen(source->text) > dialect->length_max)
        return diags_input(diags, source->loc, NULL, "give parts of it names of their own", "the %s has %s characters; at most %s",
                           dialect->noun, text_count(length, strlen(source->text)), text_count(most, dialect->length_max));
    struct parsing p = {.out = ret, .dialect = dialect, .text = source->text, .at = source->text, .diags = diags};
    ret->root = choice(&p);
    skip_space(&p);
    if (!p.failed && *p.at) fail(&p, p.at, "an operator");
    return !p.failed;
}

void formula_of_number(struct formula *ret, const struct formula_source *source, double number)
{
    *ret = (struct formula){.source = *source};
    ret->nodes = xcalloc(1, sizeof *ret->nodes);
    ret->nodes[ret->n++] = (struct formula_node){.kind = FORMULA_NUMBER, .number = number};
}

void formula_release(struct formula *f)
{
    for (int i = 0; i < f->n; i++) {
        free(f->nodes[i].name);
        free(f->nodes[i].domain);
        free(f->nodes[i].args);
    }
    free(f->nodes);
    *f = (struct formula){0};
}
