#include "config/accelergy.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 20, UM2_PER_MM2 = 1000000 };

/* A line "  - key: value", taken apart in place. */
struct yaml_line {
    size_t indent; /* of the dash, or of the key */
    bool item;     /* begins an element of a list */
    char *key, *value;
};

static char *trim(char *s)
{
    s += strspn(s, " \t");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1])) s[--n] = '\0';
    if (n > 1 && (*s == '"' || *s == '\'') && s[n - 1] == *s) {
        s[n - 1] = '\0';
        s++;
    }
    return s;
}

/* False when there is no key on the line. */
static bool split_line(char *line, struct yaml_line *ret)
{
    char *comment = strstr(line, " #");
    if (comment) *comment = '\0';
    *ret = (struct yaml_line){.indent = strspn(line, " ")};
    char *p = line + ret->indent;
    if (*p == '#') return false;
    while (p[0] == '-' && p[1] == ' ') {
        ret->item = true;
        p += 2 + strspn(p + 2, " ");
    }
    char *colon = strstr(p, ": ");
    const size_t n = strlen(p);
    if (!colon && n && p[n - 1] == ':') colon = p + n - 1;
    if (!colon) return false;
    *colon = '\0';
    ret->key = trim(p);
    ret->value = trim(colon + 1);
    return true;
}

/* ---- the table ------------------------------------------------------------------------------------------------------------- */

static struct energy_component *add_component(struct energy_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->components[i].name, name) == 0) return &t->components[i];
    t->components = xrealloc(t->components, t->n + 1, sizeof *t->components);
    t->components[t->n] = (struct energy_component){.name = xstrdup(name), .area_mm2 = (double)NAN};
    return &t->components[t->n++];
}

static struct energy_action *add_action(struct energy_component *c, const char *name)
{
    for (size_t i = 0; i < c->n_actions; i++)
        if (strcmp(c->actions[i].name, name) == 0) return &c->actions[i];
    c->actions = xrealloc(c->actions, c->n_actions + 1, sizeof *c->actions);
    c->actions[c->n_actions] = (struct energy_action){.name = xstrdup(name)};
    return &c->actions[c->n_actions++];
}

/* Where the reader stands. */
struct place {
    struct energy_table *table;
    struct energy_component *component;
    struct energy_action *action;
    size_t indent; /* of the lines that begin components */
    struct srcloc loc;
};

static bool read_number(const struct place *p, const struct yaml_line *l, double *ret, struct diags *diags)
{
    if (text_parse_f64(l->value, ret) && *ret >= 0 && isfinite(*ret)) return true;
    return diags_input(diags, p->loc, NULL, NULL, "%s: \"%s\" is no number of 0 or more", l->key, l->value);
}

static bool take_line(struct place *p, const struct yaml_line *l, struct diags *diags)
{
    double v;
    if (l->item && strcmp(l->key, "name") == 0) {
        const bool component = !p->component || l->indent <= p->indent;
        if (component) {
            p->indent = l->indent;
            p->component = add_component(p->table, l->value);
            p->action = NULL;
        } else {
            p->action = add_action(p->component, l->value);
        }
    } else if (strcmp(l->key, "energy") == 0) {
        if (!p->action) return diags_input(diags, p->loc, NULL, NULL, "an energy of no action");
        if (!read_number(p, l, &v, diags)) return false;
        if (v > p->action->energy_pj) p->action->energy_pj = v;
    } else if (strcmp(l->key, "area") == 0) {
        if (!p->component) return diags_input(diags, p->loc, NULL, NULL, "an area of no component");
        if (!read_number(p, l, &v, diags)) return false;
        p->component->area_mm2 = v / UM2_PER_MM2;
    }
    return true;
}

bool energy_table_read(struct energy_table *t, const char *path, struct diags *diags)
{
    char *text;
    if (!text_read_file(path, FILE_MAX, &text, NULL, diags)) return false;
    const size_t before = t->n;
    struct place p = {.table = t, .loc = {.file = path}};
    bool ok = true;
    for (char *line = text; ok && line;) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        p.loc.line++;
        struct yaml_line l;
        if (split_line(line, &l)) {
            p.loc.column = (int)(l.value - line) + 1;
            ok = take_line(&p, &l, diags);
        }
        line = end ? end + 1 : NULL;
    }
    if (ok && !p.component && t->n == before)
        ok = diags_input(diags, (struct srcloc){.file = path}, NULL, "an ERT.yaml or ART.yaml, with a list of tables",
                         "there is no component in it");
    free(text);
    return ok;
}

void energy_table_release(struct energy_table *t)
{
    for (size_t i = 0; i < t->n; i++) {
        for (size_t k = 0; k < t->components[i].n_actions; k++) free(t->components[i].actions[k].name);
        free(t->components[i].actions);
        free(t->components[i].name);
    }
    free(t->components);
    *t = (struct energy_table){0};
}

const struct energy_component *energy_table_find(const struct energy_table *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++) {
        const char *full = t->components[i].name, *bracket = strchr(full, '[');
        char *bare = xstrndup(full, bracket ? (size_t)(bracket - full) : strlen(full));
        const char *last = strrchr(bare, '.');
        const bool is = strcmp(full, name) == 0 || strcmp(bare, name) == 0 || (last && strcmp(last + 1, name) == 0);
        free(bare);
        if (is) return &t->components[i];
    }
    return NULL;
}

double energy_of(const struct energy_component *c, const char *action)
{
    for (size_t i = 0; i < c->n_actions; i++)
        if (strcmp(c->actions[i].name, action) == 0) return c->actions[i].energy_pj;
    return (double)NAN;
}
