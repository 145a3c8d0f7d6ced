#include "space/margin.h"

#include "base/xalloc.h"
#include "space/expr.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct margin {
    struct expr *left, *right; /* NULL: the constraint does not compare two sides */
};

/* Where the only comparison stands that is not within parentheses, and how long it is; NULL when there is none, or more than a
 * comparison. */
static const char *find_comparison(const char *text, size_t *ret_n)
{
    const char *found = NULL;
    int depth = 0;
    for (const char *s = text; *s; s++) {
        depth += (*s == '(') - (*s == ')');
        if (strchr("&|?!:=", *s)) return NULL; /* the = of <= is passed over below */
        if (depth || (*s != '<' && *s != '>')) continue;
        if (found) return NULL;
        found = s;
        *ret_n = s[1] == '=' ? 2 : 1;
        s += *ret_n - 1;
    }
    return found;
}

static struct expr *compile(const char *text, size_t n, const struct schema *params, const struct schema *metrics)
{
    struct diags ignored; /* the whole has been compiled */
    diags_init(&ignored);
    char *side = xstrndup(text, n);
    struct expr *e = expr_new(side, (struct srcloc){0}, NULL, params, metrics, &ignored);
    free(side);
    diags_release(&ignored);
    return e;
}

struct margin *margin_new(const char *constraint, const struct schema *params, const struct schema *metrics)
{
    struct margin *m = xcalloc(1, sizeof *m);
    size_t n = 0;
    const char *at = find_comparison(constraint, &n);
    if (!at) return m;
    m->left = compile(constraint, (size_t)(at - constraint), params, metrics);
    m->right = compile(at + n, strlen(at + n), params, metrics);
    return m;
}

void margin_free(struct margin *m)
{
    if (!m) return;
    expr_free(m->left);
    expr_free(m->right);
    free(m);
}

double margin_broken(struct margin *m, const void *params, const void *metrics)
{
    const double least = 1e-12; /* "a < b" is broken by equals */
    if (!m->left || !m->right) return 1;
    const double left = expr_eval(m->left, params, metrics), right = expr_eval(m->right, params, metrics);
    const double share = fabs(left - right) / (fabs(left) + fabs(right));
    return isfinite(share) ? fmax(least, share) : 1;
}
