#include "space/expr.h"

#include "base/hint.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <ctype.h>
#include <math.h>
#include <muParserDLL.h>
#include <stdlib.h>
#include <string.h>

/* One field that an expression of expr_new uses: where its number comes from, and where muParser reads it. */
struct variable {
    const struct field *field;
    bool is_metric;
    double value;
};

struct expr {
    muParserHandle_t parser;
    struct variable *used; /* of expr_new */
    size_t n_used;
};

static struct srcloc at(struct srcloc loc, size_t position)
{
    if (loc.column) loc.column += (int)position;
    return loc;
}

/* A single '=' assigns in muParser; here it is a mistyped '=='. Returns its position or SIZE_MAX. */
static size_t find_assignment(const char *s)
{
    for (size_t i = 0; s[i]; i++) {
        if (s[i] != '=') continue;
        if (s[i + 1] == '=')
            i++;
        else if (i == 0 || !strchr("<>!=", s[i - 1]))
            return i;
    }
    return SIZE_MAX;
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_name_character(char c, bool dotted)
{
    return isalnum((unsigned char)c) || c == '_' || (dotted && c == '.');
}

static const char *const functions[] = {"sin",   "cos",   "tan",   "asin", "acos",  "atan", "sinh", "cosh", "tanh",
                                        "asinh", "acosh", "atanh", "log2", "log10", "log",  "ln",   "exp",  "sqrt",
                                        "sign",  "rint",  "abs",   "min",  "max",   "sum",  "avg",  "_pi",  "_e"};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static bool is_function(const char *name)
{
    for (size_t i = 0; i < FUNCTIONS; i++)
        if (strcmp(functions[i], name) == 0) return true;
    return false;
}

/* ---- names ------------------------------------------------------------------------------------------------------------------ */

/* A function of muParser; or a name of the scope, whose number muParser reads from now on. */
static bool use_name(struct expr *e, const char *name, struct srcloc loc, const char *source_text, const struct expr_scope *scope,
                     struct diags *diags)
{
    if (is_function(name)) return true;
    double *number = scope->find(scope->context, name, loc, source_text, diags);
    if (number) mupDefineVar(e->parser, name, number);
    return number != NULL;
}

/* The next identifier from *at on, which then stands behind it; NULL at the end. Numbers like 1e9 are skipped whole. The caller
 * frees it. */
static char *next_name(const char **at, bool dotted, const char **ret_start)
{
    for (const char *s = *at; *s;) {
        if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1]))) {
            text_scan_f64(s, &s);
            continue;
        }
        if (!is_name_start(*s)) {
            s++;
            continue;
        }
        size_t n = 1;
        while (is_name_character(s[n], dotted)) n++;
        *ret_start = s;
        *at = s + n;
        return xstrndup(s, n);
    }
    return NULL;
}

/* Register every identifier of the text with muParser. */
static bool use_names(struct expr *e, const char *text, struct srcloc loc, const char *source_text, const struct expr_scope *scope,
                      struct diags *diags)
{
    bool ok = true;
    char *name;
    for (const char *s = text, *start; (name = next_name(&s, scope->dotted, &start)) != NULL; free(name))
        ok = use_name(e, name, at(loc, (size_t)(start - text)), source_text, scope, diags) && ok;
    return ok;
}

/* The scope of expr_new: the fields of two schemas. */
struct fields {
    struct expr *expr;
    const struct schema *params, *metrics;
};

static bool unknown_field(const struct fields *in, const char *name, struct srcloc loc, const char *source_text,
                          struct diags *diags)
{
    const struct schema *params = in->params, *metrics = in->metrics;
    const char **known = xcalloc(params->n + metrics->n + FUNCTIONS, sizeof *known);
    size_t n = 0;
    for (size_t i = 0; i < params->n; i++)
        if (field_is_number(&params->fields[i])) known[n++] = params->fields[i].name;
    for (size_t i = 0; i < metrics->n; i++)
        if (field_is_number(&metrics->fields[i])) known[n++] = metrics->fields[i].name;
    for (size_t i = 0; i < FUNCTIONS; i++) known[n++] = functions[i];
    diags_unknown(diags, loc, source_text, name, known, n,
                  "an expression sees every numeric parameter and metric: see `dse describe`",
                  "\"%s\" is neither a parameter nor a metric", name);
    free(known);
    return false;
}

/* The list is sized for all fields before: muParser keeps pointers into it. */
static double *find_field(void *context, const char *name, struct srcloc loc, const char *source_text, struct diags *diags)
{
    const struct fields *in = context;
    struct expr *e = in->expr;
    const struct field *f = schema_find(in->params, name);
    bool is_metric = !f;
    if (!f) f = schema_find(in->metrics, name);
    if (!f) {
        unknown_field(in, name, loc, source_text, diags);
        return NULL;
    }
    if (!field_is_number(f)) {
        diags_input(diags, loc, source_text, NULL, "%s is a name, not a number: it cannot stand in an expression", name);
        return NULL;
    }
    for (size_t i = 0; i < e->n_used; i++)
        if (e->used[i].field == f) return &e->used[i].value;
    e->used[e->n_used] = (struct variable){.field = f, .is_metric = is_metric, .value = 1};
    return &e->used[e->n_used++].value;
}

/* ---- compiling -------------------------------------------------------------------------------------------------------------- */

bool expr_names_known(const char *text, const struct schema *params, const struct schema *metrics)
{
    bool known = true;
    char *name;
    for (const char *s = text, *start; (name = next_name(&s, false, &start)) != NULL; free(name))
        known = known && (is_function(name) || schema_find(params, name) || schema_find(metrics, name));
    return known;
}

char *expr_find_name(const char *text, bool (*wanted)(const char *name), size_t *ret_at)
{
    char *name;
    for (const char *s = text, *start; (name = next_name(&s, false, &start)) != NULL; free(name)) {
        if (!wanted(name)) continue;
        *ret_at = (size_t)(start - text);
        return name;
    }
    return NULL;
}

/* Add muParser's message as an error at its place. Always false. */
static bool syntax_error(struct expr *e, struct srcloc loc, const char *source_text, const char *text, struct diags *diags)
{
    const char *message = mupGetErrorMsg(e->parser);
    muInt_t position = mupGetErrorPos(e->parser);
    enum { UNEXPECTED_END = 2 }; /* muParser's ecUNEXPECTED_EOF, whose position it leaves unset */
    size_t end = strlen(text);
    bool known = position >= 0 && (size_t)position <= end && mupGetErrorCode(e->parser) != UNEXPECTED_END;
    size_t place = known ? (size_t)position : end;
    diags_input(diags, at(loc, place), source_text, "for example: \"area_mm2 <= 25 && tiles >= 4\"", "in the expression \"%s\": %s",
                text, message);
    mupErrorReset(e->parser);
    return false;
}

static bool compile(struct expr *e, const char *text, struct srcloc loc, const char *source_text, const struct expr_scope *scope,
                    struct diags *diags)
{
    enum { LENGTH_MAX = 10000 };
    if (strlen(text) > LENGTH_MAX)
        return diags_input(diags, loc, NULL, NULL, "the expression is longer than %d characters", LENGTH_MAX);
    size_t assignment = find_assignment(text);
    if (assignment != SIZE_MAX)
        return diags_input(diags, at(loc, assignment), source_text,
                           "to compare, write ==, <=, >= or !=", "an expression cannot assign");
    if (strpbrk(text, "\"'"))
        return diags_input(diags, loc, source_text, NULL, "an expression works with numbers: strings cannot stand in it");
    if (text[strspn(text, " \t\r\n")] == '\0') return diags_input(diags, loc, source_text, NULL, "the expression is empty");
    if (!use_names(e, text, loc, source_text, scope, diags)) return false;
    mupSetExpr(e->parser, text);
    if (!mupError(e->parser)) mupEval(e->parser);
    if (mupError(e->parser)) return syntax_error(e, loc, source_text, text, diags);
    int results = 0;
    mupEvalMulti(e->parser, &results);
    if (results != 1) return diags_input(diags, loc, source_text, NULL, "the expression gives %d values; one is needed", results);
    return true;
}

/* mupSetDecSep is not called: it replaces a locale that all parsers of the process share, and threads make parsers at the same
 * time. That locale is the classic one with a '.' from the start. */
static struct expr *new_parser(void)
{
    struct expr *e = xcalloc(1, sizeof *e);
    e->parser = mupCreate(muBASETYPE_FLOAT);
    mupSetArgSep(e->parser, ',');
    return e;
}

struct expr *expr_new_in(const char *text, struct srcloc loc, const char *source_text, const struct expr_scope *scope,
                         struct diags *diags)
{
    struct expr *e = new_parser();
    if (scope->dotted) mupDefineNameChars(e->parser, "0123456789_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.");
    if (compile(e, text, loc, source_text, scope, diags)) return e;
    expr_free(e);
    return NULL;
}

struct expr *expr_new(const char *text, struct srcloc loc, const char *source_text, const struct schema *params,
                      const struct schema *metrics, struct diags *diags)
{
    struct expr *e = new_parser();
    e->used = xcalloc(params->n + metrics->n, sizeof *e->used);
    struct fields fields = {e, params, metrics};
    if (compile(e, text, loc, source_text, &(struct expr_scope){.find = find_field, .context = &fields}, diags)) return e;
    expr_free(e);
    return NULL;
}

void expr_free(struct expr *e)
{
    if (!e) return;
    mupRelease(e->parser);
    free(e->used);
    free(e);
}

double expr_number(struct expr *e)
{
    double result = mupEval(e->parser);
    if (mupError(e->parser)) {
        mupErrorReset(e->parser);
        return (double)NAN;
    }
    return isfinite(result) ? result : (double)NAN;
}

double expr_eval(struct expr *e, const void *params, const void *metrics)
{
    for (size_t i = 0; i < e->n_used; i++) {
        struct variable *v = &e->used[i];
        v->value = field_number(v->field, v->is_metric ? metrics : params);
    }
    return expr_number(e);
}

bool expr_uses_metrics(const struct expr *e)
{
    for (size_t i = 0; i < e->n_used; i++)
        if (e->used[i].is_metric) return true;
    return false;
}

bool expr_uses_without(const struct expr *e)
{
    for (size_t i = 0; i < e->n_used; i++)
        if (e->used[i].field->without) return true;
    return false;
}
