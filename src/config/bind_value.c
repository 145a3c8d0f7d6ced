/* Scalars and lists as values of a parameter. */
#include "base/hint.h"
#include "base/xalloc.h"
#include "config/bind_internal.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* An error at a node of the document. Always false. */
static bool bind_error(const struct toml_doc *doc, const struct toml_node *node, const struct field *f, struct diags *diags,
                       const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    char *allowed = field_allowed(f);
    diags_input(diags, toml_loc(doc, node), doc->text, allowed, "%s: %s", f->name, message);
    free(allowed);
    free(message);
    return false;
}

/* Add an error about a name that is not allowed. The hint is the nearest name, and all of them when they are few, or choices. */
static bool unknown_name(const struct toml_doc *doc, const struct toml_node *node, const struct field *f, const char *const *names,
                         size_t n, struct diags *diags)
{
    enum { FEW = 10 };
    if (diags_is_full(diags)) return false;
    struct text hint;
    text_init(&hint);
    const char *near = text_nearest(node->string, names, n);
    if (near) text_addf(&hint, "did you mean \"%s\"? ", near);
    const bool is_entry = f->type == DSE_TYPE_REF, all = !is_entry || n <= FEW;
    if (all) text_add(&hint, "There are: ");
    for (size_t i = 0; i < n && all; i++) text_addf(&hint, "%s%s", i ? ", " : "", names[i]);
    if (!all)
        text_addf(&hint, "`dse list %s` shows all %zu; entries of a file of your own need --catalog FILE (-c FILE)",
                  kind_plural(f->kind), n);
    const char *word = is_entry ? kind_singular(f->kind) : "choice";
    bool result =
        diags_input(diags, toml_loc(doc, node), doc->text, hint.s, "%s: there is no %s \"%s\"", f->name, word, node->string);
    text_release(&hint);
    return result;
}

static bool bind_choice(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, struct value *ret,
                        struct diags *diags)
{
    size_t n = 0;
    for (; f->choices[n]; n++) {
        if (strcmp(f->choices[n], node->string) != 0) continue;
        ret->choice = (int32_t)n;
        return true;
    }
    return unknown_name(doc, node, f, f->choices, n, diags);
}

static bool bind_ref(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                     struct value *ret, struct diags *diags)
{
    ret->ref = catalog_find(b->catalog, f->kind, node->string);
    if (ret->ref) return true;
    size_t n = 0;
    while (catalog_at(b->catalog, f->kind, n)) n++;
    const char **names = xcalloc(n, sizeof *names);
    for (size_t i = 0; i < n; i++) names[i] = catalog_at(b->catalog, f->kind, i)->name;
    unknown_name(doc, node, f, names, n, diags);
    free(names);
    return false;
}

static bool bind_number(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, const char *what,
                        struct value *ret, struct diags *diags)
{
    if (node->type != TOML_INTEGER && node->type != TOML_FLOAT)
        return bind_error(doc, node, f, diags, "a number is needed, not %s", toml_type_name(node->type));
    double x = node->type == TOML_INTEGER ? (double)node->integer : node->number;
    if (f->type == DSE_TYPE_F64) {
        ret->f64 = x == 0 ? 0 : x; /* there is one zero */
    } else if (node->type == TOML_INTEGER) {
        ret->i64 = node->integer;
    } else if (isfinite(x) && x == floor(x) && fabs(x) <= 9007199254740992.0) {
        ret->i64 = (int64_t)x;
    } else {
        char buf[TEXT_NUMBER_MAX];
        return bind_error(doc, node, f, diags, "%s is not a whole number", text_number(buf, x));
    }
    return field_check(f, *ret, toml_loc(doc, node), doc->text, what, diags);
}

bool bind_scalar(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                 const char *what, struct value *ret, struct diags *diags)
{
    *ret = (struct value){0};
    if (f->type == DSE_TYPE_F64 || f->type == DSE_TYPE_I64) return bind_number(f, doc, node, what, ret, diags);
    if (node->type != TOML_STRING)
        return bind_error(doc, node, f, diags, "a name in quotes is needed, not %s", toml_type_name(node->type));
    return f->type == DSE_TYPE_ENUM ? bind_choice(f, doc, node, ret, diags) : bind_ref(b, f, doc, node, ret, diags);
}

static bool same_value(const struct field *f, struct value a, struct value b)
{
    switch (f->type) {
    case DSE_TYPE_F64: return a.f64 == b.f64;
    case DSE_TYPE_I64: return a.i64 == b.i64;
    case DSE_TYPE_ENUM: return a.choice == b.choice;
    default: return a.ref == b.ref;
    }
}

/* The place of a value in a list: "third of the list". buf holds 64 bytes. */
static const char *ordinal(size_t i, char buf[64])
{
    static const char *const words[] = {"first", "second",  "third",  "fourth", "fifth",
                                        "sixth", "seventh", "eighth", "ninth",  "tenth"};
    if (i < sizeof words / sizeof *words)
        snprintf(buf, 64, "%s of the list", words[i]);
    else
        snprintf(buf, 64, "number %zu of the list", i + 1);
    return buf;
}

struct listed {
    struct value value;
    size_t at;
};

static int compare_listed(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    int order = (x->value.i64 > y->value.i64) - (x->value.i64 < y->value.i64); /* of the bits, whatever the type */
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

/* Check that each value is given once, by sorting the bits of all values and comparing neighbours. */
static bool check_duplicates(const struct field *f, const struct toml_doc *doc, const struct toml_node *list,
                             const struct value *values, struct diags *diags)
{
    struct listed *sorted = xcalloc(list->n, sizeof *sorted);
    for (size_t i = 0; i < list->n; i++) sorted[i] = (struct listed){values[i], i};
    qsort(sorted, list->n, sizeof *sorted, compare_listed);
    bool ok = true;
    for (size_t i = 1; i < list->n; i++) {
        if (!same_value(f, sorted[i - 1].value, sorted[i].value)) continue;
        char buf[TEXT_NUMBER_MAX], place[64];
        ok = bind_error(doc, &list->children[sorted[i].at], f, diags, "%s (%s) stands in the list already",
                        value_text(f, sorted[i].value, buf), ordinal(sorted[i].at, place));
    }
    free(sorted);
    return ok;
}

static bool bind_list(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                      struct given *g, struct diags *diags)
{
    if (node->n == 0) return bind_error(doc, node, f, diags, "the list is empty");
    struct value *values = xcalloc(node->n, sizeof *values);
    bool ok = true;
    for (size_t i = 0; i < node->n; i++) {
        char place[64];
        const struct toml_node *child = &node->children[i];
        if (child->type == TOML_ARRAY || child->type == TOML_TABLE)
            ok = bind_error(doc, child, f, diags, "a list holds values, not %s", toml_type_name(child->type));
        else
            ok = bind_scalar(b, f, doc, child, ordinal(i, place), &values[i], diags) && ok;
    }
    if (ok) ok = check_duplicates(f, doc, node, values, diags);
    if (!ok) {
        free(values);
        return false;
    }
    g->n = node->n;
    g->values = values;
    return true;
}

/* Ranges: { from, to, step }, { from, to, points, scale = "linear" | "log" } and { from, to, continuous = true, scale }.
 *
 * A step makes an exact decimal grid: every value is rounded to 15 significant digits, so that 0.5 + 1 * 0.1 is 0.6. The end is
 * included when it is on the grid. The count is known before anything is expanded.
 */

struct range {
    double from, to, step;
    int64_t points; /* 0: by step */
    bool log, continuous;
};

/* How near the end must be to the grid to be on it: a part of a step, and of the way there (steps like 1e-7 are no exact doubles).
 */
static const double GRID_TOLERANCE = 1e-9, GRID_ROUNDING = 4e-16;

/* A number key of the range; false with an error when it is missing and needed, or not a finite number. */
static bool read_number(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, const char *key,
                        bool *ret_there, double *ret, struct diags *diags)
{
    const struct toml_node *n = toml_get(node, key);
    *ret_there = n != NULL;
    if (!n) return true;
    if (n->type != TOML_INTEGER && n->type != TOML_FLOAT)
        return bind_error(doc, n, f, diags, "%s: a number is needed, not %s", key, toml_type_name(n->type));
    *ret = n->type == TOML_INTEGER ? (double)n->integer : n->number;
    if (isfinite(*ret)) return true;
    return bind_error(doc, n, f, diags, "%s: a range needs finite numbers", key);
}

static bool read_points(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, struct range *r,
                        struct diags *diags)
{
    const struct toml_node *n = toml_get(node, "points");
    if (!n) return true;
    if (n->type != TOML_INTEGER || n->integer < 2)
        return bind_error(doc, n, f, diags, "points: a whole number of at least 2 is needed");
    r->points = n->integer;
    return true;
}

static bool read_scale(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, struct range *r,
                       struct diags *diags)
{
    const struct toml_node *n = toml_get(node, "scale");
    if (!n) return true;
    if (n->type == TOML_STRING && strcmp(n->string, "linear") == 0) return true;
    r->log = n->type == TOML_STRING && strcmp(n->string, "log") == 0;
    if (r->log) return true;
    return bind_error(doc, n, f, diags, "scale: \"linear\" or \"log\" is needed");
}

static bool read_continuous(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, struct range *r,
                            struct diags *diags)
{
    const struct toml_node *n = toml_get(node, "continuous");
    if (!n) return true;
    if (n->type != TOML_BOOLEAN) return bind_error(doc, n, f, diags, "continuous: true or false is needed");
    r->continuous = n->boolean;
    if (!r->continuous || f->type == DSE_TYPE_F64) return true;
    return bind_error(doc, n, f, diags, "continuous: only whole numbers are allowed here; write step = 1");
}

/* Check what the keys of a range must satisfy together. */
static bool check_range(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, const struct range *r,
                        bool has_step, struct diags *diags)
{
    char from[TEXT_NUMBER_MAX], to[TEXT_NUMBER_MAX];
    if (has_step && r->points) return bind_error(doc, node, f, diags, "a range has step or points, not both");
    if (r->continuous && (has_step || r->points))
        return bind_error(doc, node, f, diags, "a continuous range has neither step nor points");
    if (!has_step && !r->points && !r->continuous)
        return bind_error(doc, node, f, diags, "a range needs step or points: { from = 1, to = 8, step = 1 }");
    if (has_step && r->log) return bind_error(doc, node, f, diags, "a log range needs points, not step");
    if (has_step && r->step <= 0) {
        char step[TEXT_NUMBER_MAX];
        return bind_error(doc, toml_get(node, "step"), f, diags, "step: %s is not above 0", text_number(step, r->step));
    }
    if (r->from > r->to || ((r->points || r->continuous) && r->from >= r->to))
        return bind_error(doc, node, f, diags, "the range from %s to %s is empty", text_number(from, r->from),
                          text_number(to, r->to));
    if (r->log && r->from <= 0) return bind_error(doc, toml_get(node, "from"), f, diags, "a log range starts above 0");
    return true;
}

static bool read_range(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, struct range *r,
                       struct diags *diags)
{
    static const char *const keys[] = {"from", "to", "step", "points", "scale", "continuous"};
    bool has_from, has_to, has_step;
    bool ok = toml_check_keys(doc, node, keys, sizeof keys / sizeof *keys, diags);
    ok = read_number(f, doc, node, "from", &has_from, &r->from, diags) && ok;
    ok = read_number(f, doc, node, "to", &has_to, &r->to, diags) && ok;
    ok = read_number(f, doc, node, "step", &has_step, &r->step, diags) && ok;
    ok = read_points(f, doc, node, r, diags) && ok;
    ok = read_scale(f, doc, node, r, diags) && ok;
    ok = read_continuous(f, doc, node, r, diags) && ok;
    if (ok && !(has_from && has_to)) ok = bind_error(doc, node, f, diags, "a range needs from and to");
    return ok && check_range(f, doc, node, r, has_step, diags);
}

static uint64_t count_of(const struct range *r)
{
    if (r->continuous) return 2; /* its ends */
    if (r->points) return (uint64_t)r->points;
    const long double from = (long double)r->from, to = (long double)r->to, step = (long double)r->step;
    long double steps = (to - from) / step;
    steps += fmaxl((long double)GRID_TOLERANCE, steps * (long double)GRID_ROUNDING);
    return steps >= 1.8e19L ? UINT64_MAX : (uint64_t)steps + 1;
}

/* The same as round_decimal() without text, where that is exact: v is m / 10^k, both whole and exact as doubles. False where v is
 * as near to one m as to the next, as far as long doubles can tell, or has another size. */
static bool round_decimal_fast(double v, double *ret)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                    1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    if (LDBL_MANT_DIG < 64 || !(v >= 1e-3 && v < 1e14)) return false;
    int k = 14 - (int)floor(log10(v));
    const long double scaled = (long double)v * (long double)powers[k], m = floorl(scaled + 0.5L);
    if (m < 1e14L || m >= 1e15L || fabsl(scaled - floorl(scaled) - 0.5L) < 1e-3L) return false;
    *ret = (double)m / powers[k];
    return true;
}

/* The double nearest to v rounded to 15 significant digits. */
static double round_decimal(double v)
{
    double fast;
    if (v == floor(v) && fabs(v) < 1e15) return v;
    if (round_decimal_fast(v, &fast)) return fast;
    char buf[TEXT_NUMBER_MAX];
    snprintf(buf, sizeof buf, "%.14e", v);
    double rounded;
    return text_parse_f64(buf, &rounded) ? rounded : v;
}

static double value_at(const struct range *r, uint64_t i)
{
    if (r->continuous) return i ? r->to : r->from;
    if (!r->points) return fmin(round_decimal(r->from + (double)i * r->step), r->to);
    uint64_t last = (uint64_t)r->points - 1;
    if (i == last) return r->to;
    double t = (double)i / (double)last;
    if (r->log) return i ? round_decimal(exp(log(r->from) + t * (log(r->to) - log(r->from)))) : r->from;
    return round_decimal(r->from + t * (r->to - r->from));
}

/* The values of a range of whole numbers: of a step all must be whole; of points each is rounded, and what falls together counts
 * once. */
static bool expand_whole(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, const struct range *r,
                         struct given *g, struct diags *diags)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < g->n; i++) {
        double v = value_at(r, i);
        if (!r->points && v != floor(v)) {
            char buf[TEXT_NUMBER_MAX];
            return bind_error(doc, node, f, diags, "%s, of the range, is not a whole number", text_number(buf, v));
        }
        int64_t whole = (int64_t)nearbyint(v);
        if (n && g->values[n - 1].i64 == whole) continue;
        g->values[n++].i64 = whole;
    }
    g->n = n;
    return true;
}

static bool check_ends(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, const struct range *r,
                       struct diags *diags)
{
    const char *const keys[] = {"from", "to"};
    const double ends[] = {r->from, value_at(r, count_of(r) - 1)};
    for (int i = 0; i < 2; i++) {
        struct value v = {.f64 = ends[i]};
        if (f->type == DSE_TYPE_I64) v.i64 = fabs(ends[i]) < 9e15 ? (int64_t)ends[i] : ends[i] < 0 ? INT64_MIN : INT64_MAX;
        if (!field_check(f, v, toml_loc(doc, toml_get(node, keys[i])), doc->text, "of the range", diags)) return false;
    }
    return true;
}

/* Read the table of a range. */
static bool bind_range(const struct field *f, const struct toml_doc *doc, const struct toml_node *node, struct given *g,
                       struct diags *diags)
{
    struct range r = {0};
    if (f->type != DSE_TYPE_F64 && f->type != DSE_TYPE_I64)
        return bind_error(doc, node, f, diags, "names have no range: write a list");
    if (!read_range(f, doc, node, &r, diags) || !check_ends(f, doc, node, &r, diags)) return false;
    g->n = count_of(&r);
    g->continuous = r.continuous;
    g->log = r.continuous && r.log;
    g->values = NULL;
    if (g->n > BIND_VALUES_MAX) return true;
    g->values = xcalloc(g->n, sizeof *g->values);
    if (f->type == DSE_TYPE_I64) {
        if (expand_whole(f, doc, node, &r, g, diags)) return true;
        free(g->values);
        return false;
    }
    for (uint64_t i = 0; i < g->n; i++) {
        g->values[i].f64 = value_at(&r, i);
        if (i == 0 || g->values[i].f64 > g->values[i - 1].f64) continue;
        free(g->values);
        return bind_error(doc, node, f, diags, "the values of the range cannot be told apart: its step is too small");
    }
    return true;
}

bool bind_values(const struct binding *b, const struct field *f, const struct toml_doc *doc, const struct toml_node *node,
                 struct given *g, struct diags *diags)
{
    if (node->type == TOML_ARRAY) return bind_list(b, f, doc, node, g, diags);
    if (node->type == TOML_TABLE) return bind_range(f, doc, node, g, diags);
    struct value v;
    if (!bind_scalar(b, f, doc, node, NULL, &v, diags)) return false;
    g->n = 1;
    g->values = xcalloc(1, sizeof v);
    g->values[0] = v;
    return true;
}
