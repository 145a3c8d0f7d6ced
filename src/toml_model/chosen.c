/* [chosen.PARAMETER]: a whole number that a point has at most, of which the model takes what fits, or what is best. */
#include "toml_model/internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the section ------------------------------------------------------------------------------------------------------------ */

/* The parameter whose choice says whether, a choice; and the one that is chosen, a whole number. */
static const struct field *find_of_type(const struct toml_model *m, const char *name, enum dse_type type)
{
    const struct field *f = name ? schema_find(&m->schema, name) : NULL;
    return f && f->type == type ? f : NULL;
}

static bool read_rows(struct toml_model *m, const struct toml_node *t, struct diags *diags)
{
    static const char *const keys[] = {"by", "fits", "round", "least"};
    const struct toml_node *by = toml_expect(m->doc, t, "by", TOML_STRING, diags);
    struct chosen *c = &m->chosen;
    bool ok = toml_check_keys(m->doc, t, keys, sizeof keys / sizeof *keys, diags);
    c->parameter = find_of_type(m, t->key, DSE_TYPE_I64);
    c->by = find_of_type(m, by ? by->string : NULL, DSE_TYPE_ENUM);
    if (!c->parameter || !c->by)
        return diags_input(diags, toml_key_loc(m->doc, t), m->doc->text, "[chosen.batch] with by = \"batch_policy\"",
                           "%s: a whole number is chosen, by a parameter with choices", t->key);
    for (int i = 0; i < CHOSEN_NUMBERS; i++) {
        const struct toml_node *n = toml_get(t, keys[i + 1]);
        if (!n)
            return diags_input(diags, toml_key_loc(m->doc, t), m->doc->text, NULL, "[chosen.%s] has no %s", t->key, keys[i + 1]);
        c->equations[i] = i == CHOSEN_LEAST ? formula_without_unit(m, n, diags) : formula_in_unit(m, n, "1", diags);
        ok = c->equations[i] >= 0 && ok;
    }
    return ok;
}

bool read_chosen(struct toml_model *m, struct diags *diags)
{
    const struct toml_node *t = toml_expect(m->doc, &m->doc->root, "chosen", TOML_TABLE, diags);
    if (!t) return !toml_get(&m->doc->root, "chosen");
    if (t->n != 1 || t->children[0].type != TOML_TABLE)
        return diags_input(diags, toml_loc(m->doc, t), m->doc->text, "[chosen.batch]", "one parameter is chosen");
    return read_rows(m, &t->children[0], diags);
}

/* ---- points ----------------------------------------------------------------------------------------------------------------- */

bool chooses(const struct toml_model *m, const void *params)
{
    return m->chosen.by && field_get(m->chosen.by, params).choice != 0;
}

void chosen_set(const struct toml_model *m, void *params, double x)
{
    field_set(m->chosen.parameter, params, (struct value){.i64 = (int64_t)x});
}

/* A point whose number is tried. */
struct trial {
    const struct chosen_ask *ask;
    const struct toml_model *m;
    void *params;
};

static double number_at(const struct trial *t, double x, enum chosen_number which)
{
    chosen_set(t->m, t->params, x);
    return t->ask->number(t->ask->object, t->params, which);
}

/* The largest that fits, if 1 does. */
static double largest(const struct trial *t, int64_t most)
{
    int64_t fit = 1, no = most + 1;
    while (no - fit > 1) {
        const int64_t middle = fit + (no - fit) / 2;
        const double fits = number_at(t, (double)middle, CHOSEN_FITS);
        if (!isnan(fits) && fits != 0)
            fit = middle;
        else
            no = middle;
    }
    return (double)fit;
}

/* Of 1, 2, 3, 4, 6, 8, 12, ... rounds, the most whole rounds, and the most. Returns how many. */
static int candidates(double round, double most, double ret[CHOSEN_TRIED_MAX])
{
    int n = 0;
    for (double rounds = 1; rounds * round <= most && n < CHOSEN_TRIED_MAX - 4; rounds *= 2) {
        ret[n++] = rounds * round;
        if (rounds > 1 && 1.5 * rounds * round <= most) ret[n++] = 1.5 * rounds * round;
    }
    if (most >= round) ret[n++] = floor(most / round) * round;
    ret[n++] = most;
    return n;
}

/* The first of those that are least, but for rounding: none of two equal ones is better for its last digit. */
static double first_of_least(const struct trial *t, const double *tried, int n)
{
    const double rounding = 1 + 1e-12;
    double of[CHOSEN_TRIED_MAX], least = (double)INFINITY;
    for (int i = 0; i < n; i++) {
        of[i] = number_at(t, tried[i], CHOSEN_LEAST);
        if (of[i] < least) least = of[i];
    }
    for (int i = 0; i < n; i++)
        if (of[i] <= least * rounding) return tried[i];
    return 1;
}

void chosen_take(const struct toml_model *m, const struct chosen_ask *ask, void *params)
{
    const struct trial t = {ask, m, params};
    const double most = largest(&t, field_get(m->chosen.parameter, params).i64), round = number_at(&t, most, CHOSEN_ROUND);
    double tried[CHOSEN_TRIED_MAX], best = most, least = number_at(&t, most, CHOSEN_LEAST);
    if (isnan(least)) {
        if (round > 0 && most >= round) best = floor(most / round) * round;
    } else if (round > 0) {
        const int n = candidates(round, most, tried);
        best = first_of_least(&t, tried, n);
    }
    chosen_set(m, params, best);
}
