/* Expressions against muParser, another evaluator of the same language: in what sweeps and documents hold, in random expressions,
 * and in rubbish.
 *
 * muParser joins constants: x * 8 / 1e9 becomes x * 8e-9, x + 1 - 1 becomes x, and of two constants && and || take the whole
 * parts. Ours calculates as it is written. Random expressions are given to muParser with a variable of its own in the place of
 * every number and every name, so that there is nothing to join: all values are the same, to the bit but for the sign of zero. */
#include "space/expr.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "dse_config.h"

#include <ctype.h>
#include <fts.h>
#include <math.h>
#include <muParserDLL.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- both evaluators -------------------------------------------------------------------------------------------------------- */

enum { NAMES = 2000, LENGTH = 20000 };

/* Names with their numbers. */
struct numbers {
    char *names[NAMES];
    double values[NAMES];
    int n;
};

static double *number_of(struct numbers *n, const char *name)
{
    for (int i = 0; i < n->n; i++)
        if (strcmp(n->names[i], name) == 0) return &n->values[i];
    assert_true(n->n < NAMES);
    n->names[n->n] = xstrdup(name);
    n->values[n->n] = 1;
    return &n->values[n->n++];
}

static void release(struct numbers *n)
{
    for (int i = 0; i < n->n; i++) free(n->names[i]);
    n->n = 0;
}

static double *find(void *context, const char *name, struct srcloc loc, const char *source_text, struct diags *diags)
{
    (void)loc, (void)source_text, (void)diags;
    return number_of(context, name);
}

/* Any name is a number. NULL: refused. */
static struct expr *ours(const char *text, struct numbers *numbers)
{
    struct diags d;
    diags_init(&d);
    struct expr *e = expr_new_in(text, (struct srcloc){"f", 1, 1}, text, &(struct expr_scope){find, numbers}, &d);
    diags_release(&d);
    return e;
}

static muParserHandle_t theirs(const char *text, struct numbers *numbers)
{
    muParserHandle_t p = mupCreate(muBASETYPE_FLOAT);
    mupSetArgSep(p, ',');
    mupDefineNameChars(p, "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.");
    for (int i = 0; i < numbers->n; i++) mupDefineVar(p, numbers->names[i], &numbers->values[i]);
    mupSetExpr(p, text);
    return p;
}

/* Infinite numbers are none, as expr.h has it. */
static double value_of(muParserHandle_t p)
{
    const double v = mupEval(p);
    return isfinite(v) ? v : (double)NAN;
}

/* Does muParser take it, as one value? Then *ret is what it is. */
static bool takes(muParserHandle_t p, double *ret)
{
    int values = 0;
    mupEvalMulti(p, &values);
    *ret = value_of(p);
    const bool takes = !mupError(p) && values == 1;
    mupErrorReset(p);
    return takes;
}

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* ---- random expressions ----------------------------------------------------------------------------------------------------- */

static double any(void)
{
    static const double odd[] = {0, 1, -1, 2, 0.5, 3, -2, 1e3, 1e-3, 1e300};
    return rand() % 4 == 0 ? odd[rand() % 10] : ((double)rand() / RAND_MAX - 0.3) * 8;
}

/* An expression as it is written, and as muParser is given it. */
struct pair {
    struct text ours, theirs;
    struct numbers named, plain; /* of ours and theirs; plain.values[i] follows named.values[source[i]] */
    int source[NAMES];           /* -1: a constant */
};

static void add_both(struct pair *p, const char *s)
{
    text_add(&p->ours, s);
    text_add(&p->theirs, s);
}

static void add_theirs(struct pair *p, int source, double value)
{
    char name[16];
    snprintf(name, sizeof name, "v%d", p->plain.n);
    p->source[p->plain.n] = source;
    *number_of(&p->plain, name) = value;
    text_add(&p->theirs, name);
}

static void add_name(struct pair *p)
{
    static const char *const names[] = {"clock_ghz", "tiles", "area_mm2", "llm.hidden", "usd"};
    const char *name = names[rand() % 5];
    double *number = number_of(&p->named, name);
    text_add(&p->ours, name);
    add_theirs(p, (int)(number - p->named.values), *number);
}

static void add_leaf(struct pair *p)
{
    static const char *const constants[] = {"0", "1", "2.5", ".5", "5.", "1e3", "2E-3", "7"};
    if (rand() % 3) {
        add_name(p);
        return;
    }
    const char *constant = constants[rand() % 8], *end;
    text_add(&p->ours, constant);
    add_theirs(p, -1, text_scan_f64(constant, &end));
}

static void add_any(struct pair *p, int depth);

static void add_operation(struct pair *p, int depth)
{
    static const char *const operators[] = {" + ", "-", "*", "/", "^", " < ", "<=", ">", " >= ", "==", "!=", " && ", "||"};
    const bool brackets = rand() % 2;
    if (brackets) add_both(p, "(");
    if (brackets && rand() % 6 == 0) add_both(p, rand() % 2 ? "-" : "+ ");
    add_any(p, depth - 1);
    add_both(p, operators[rand() % 13]);
    if (rand() % 6 == 0) add_both(p, "-");
    add_any(p, depth - 1);
    if (brackets) add_both(p, ")");
}

static void add_call(struct pair *p, int depth)
{
    static const char *const functions[] = {"min",  "max",  "sum",  "avg",  "sin",   "cos",   "tan",  "asin", "acos",
                                            "atan", "sinh", "cosh", "tanh", "log2",  "log10", "log",  "ln",   "exp",
                                            "sqrt", "sign", "rint", "abs",  "asinh", "acosh", "atanh"};
    const int which = rand() % 25, n = which < 4 ? 1 + rand() % 11 : 1;
    add_both(p, functions[which]);
    for (int i = 0; i < n; i++) {
        add_both(p, i ? ", " : "(");
        add_any(p, n > 3 ? 0 : depth - 1);
    }
    add_both(p, ")");
}

static void add_any(struct pair *p, int depth)
{
    const int kind = depth <= 0 ? 0 : rand() % 12;
    if (kind < 2) {
        add_leaf(p);
    } else if (kind < 7) {
        add_operation(p, depth);
    } else if (kind == 7) {
        static const char *const powers[] = {" ^ 2", "^3", "^4"};
        add_name(p);
        add_both(p, powers[rand() % 3]);
    } else if (kind < 11) {
        add_call(p, depth);
    } else {
        add_both(p, "(");
        add_any(p, depth - 1);
        add_both(p, " ? ");
        add_any(p, depth - 1);
        add_both(p, " : ");
        add_any(p, depth - 1);
        add_both(p, ")");
    }
}

static long numbers, none;

static void compare(struct pair *p)
{
    struct expr *e = ours(p->ours.s, &p->named);
    muParserHandle_t m = theirs(p->theirs.s, &p->plain);
    for (int k = 0; k < 12; k++) {
        for (int i = 0; i < p->named.n; i++) p->named.values[i] = k ? any() : 1;
        for (int i = 0; i < p->plain.n; i++)
            if (p->source[i] >= 0) p->plain.values[i] = p->named.values[p->source[i]];
        double b;
        if (!takes(m, &b)) fail_msg("muParser refuses %s", p->ours.s);
        if (!e) fail_msg("%s is refused", p->ours.s);
        const double a = expr_number(e);
        isnan(a) ? none++ : numbers++;
        if (!same(a, b)) fail_msg("%s: %.17g, not %.17g", p->ours.s, a, b);
    }
    expr_free(e);
    mupRelease(m);
}

static void expr__gives_what_muparser_gives_to_the_bit(void **state)
{
    (void)state;
    enum { EXPRESSIONS = 15000 };
    struct pair *p = xcalloc(1, sizeof *p);
    srand(5);
    for (int i = 0; i < EXPRESSIONS; i++) {
        text_init(&p->ours);
        text_init(&p->theirs);
        add_any(p, 1 + rand() % 4);
        compare(p);
        release(&p->named);
        release(&p->plain);
        text_release(&p->ours);
        text_release(&p->theirs);
    }
    free(p);
    assert_true(numbers > 100000 && none > 10000);
}

/* ---- texts as people write them --------------------------------------------------------------------------------------------- */

static long shipped, joined;

/* A text that may be an expression: what muParser takes is taken, and gives the same but for this share. */
static void compare_text(const char *text, double error)
{
    struct numbers n = {.n = 0};
    struct expr *e = ours(text, &n);
    muParserHandle_t m = theirs(text, &n);
    double b;
    const bool is_one = takes(m, &b);
    if (!e && is_one) fail_msg("%s is refused, muParser gives %g", text, b);
    for (int k = 0; e && is_one && k < 20; k++) {
        for (int i = 0; i < n.n; i++) n.values[i] = k ? any() + 3.1 : 1;
        const double a = expr_number(e);
        b = value_of(m);
        shipped += k == 0;
        joined += !same(a, b);
        if (!same(a, b) && !(fabs(a - b) <= error * fabs(a))) fail_msg("%s: %.17g, not %.17g", text, a, b);
    }
    expr_free(e);
    mupRelease(m);
    release(&n);
}

/* What stands between quotes, and in them between braces. */
static void compare_quoted(const char *line)
{
    char text[1000];
    for (const char *open = line; (open = strpbrk(open, "\"{")) != NULL; open++) {
        const size_t n = strcspn(open + 1, *open == '"' ? "\"\n" : "}:\"\n");
        if (n == 0 || n >= sizeof text || open[1 + n] == '\n' || !open[1 + n]) continue;
        memcpy(text, open + 1, n);
        text[n] = '\0';
        if (strpbrk(text, "+-*/^<>&|?(")) compare_text(text, 4 * 0x1p-53);
    }
}

static void expr__gives_what_muparser_gives_in_files(void **state)
{
    (void)state;
    char sweeps[] = DSE_SOURCE_DATA "/sweeps", examples[] = DSE_SOURCE_DATA "/examples", models[] = DSE_SOURCE_DATA "/models",
         docs[] = DSE_SOURCE_DATA "/docs", measured[] = DSE_SOURCE_DATA "/catalog/measured";
    char *const folders[] = {sweeps, examples, models, docs, measured, NULL};
    FTS *files = fts_open(folders, FTS_LOGICAL | FTS_NOCHDIR, NULL);
    char *line = NULL;
    size_t size = 0;
    for (FTSENT *f; (f = fts_read(files)) != NULL;) {
        const char *ending = strrchr(f->fts_name, '.');
        if (f->fts_info != FTS_F || !ending || (strcmp(ending, ".toml") != 0 && strcmp(ending, ".md") != 0)) continue;
        FILE *in = fopen(f->fts_path, "r");
        while (getline(&line, &size, in) >= 0) compare_quoted(line);
        fclose(in);
    }
    free(line);
    fts_close(files);
    print_message("%ld expressions, %ld values of %ld differ in the last digits\n", shipped, joined, 20 * shipped);
    assert_true(shipped > 500);
}

static void expr__takes_what_muparser_takes(void **state)
{
    (void)state;
    static const char *const pieces[] = {"x",  "y", "z",  "2",  "1.5", ".5", "3e2", "+", "-", "*", "/",    "^",    "(",  ")",   "<",
                                         "<=", ">", ">=", "==", "!=",  "&&", "||",  "?", ":", " ", "min(", "abs(", "_e", "sum("};
    srand(11);
    for (int i = 0; i < 400000; i++) {
        char text[200] = "";
        const int n = 1 + rand() % 12;
        for (int k = 0; k < n; k++) strcat(text, pieces[rand() % 29]);
        const bool wholes = strstr(text, "&&") || strstr(text, "||"); /* of constants muParser takes the whole parts */
        compare_text(text, wholes ? (double)INFINITY : 1e-9);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expr__gives_what_muparser_gives_to_the_bit),
        cmocka_unit_test(expr__gives_what_muparser_gives_in_files),
        cmocka_unit_test(expr__takes_what_muparser_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
