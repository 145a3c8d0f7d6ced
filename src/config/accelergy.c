#include "config/accelergy.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 64 << 20, UM2_PER_MM2 = 1000000 };

/* A line "  - key: value", taken apart in place. */
struct yaml_line {
    size_t indent, at; /* of the dash, or of the key; of the key */
    bool item;         /* begins an element of a list */
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
    ret->at = (size_t)(p - line);
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
    c->actions[c->n_actions] = (struct energy_action){.name = xstrdup(name), .energy_pj = (double)NAN};
    return &c->actions[c->n_actions++];
}

static void component_release(struct energy_component *c)
{
    for (size_t k = 0; k < c->n_actions; k++) free(c->actions[k].name);
    free(c->actions);
    free(c->name);
    *c = (struct energy_component){0};
}

/* ---- lines ----------------------------------------------------------------------------------------------------------------- */

/* Where the reader stands. Keys of a component and of an action are those in the column of its first one: what is deeper, or in a
 * list beside the actions (who estimated what), is not looked at. */
struct place {
    struct energy_table *table;
    size_t n; /* components so far */
    struct srcloc loc;
    bool in_tables;
    size_t tables_at;              /* column of the key "tables" */
    size_t items_at, component_at; /* columns of the dashes of components, and of the keys of this one */
    struct energy_component now;   /* this one; its name NULL until it is read */
    bool in_actions;
    size_t action_at; /* column of the keys of actions; SIZE_MAX: there was none yet */
    char *action;     /* the name of this one; NULL until it is read */
    double energy_pj; /* its, NaN until that is read */
};

static bool read_number(const struct place *p, const struct yaml_line *l, double *ret, struct diags *diags)
{
    if (text_parse_f64(l->value, ret) && *ret >= 0 && isfinite(*ret)) return true;
    return diags_input(diags, p->loc, NULL, NULL, "%s: \"%s\" is no number of 0 or more", l->key, l->value);
}

static void set_name(char **name, const char *value)
{
    free(*name);
    *name = xstrdup(value);
}

static void end_action(struct place *p)
{
    if (p->action) {
        struct energy_action *a = add_action(&p->now, p->action);
        a->energy_pj = fmax(a->energy_pj, p->energy_pj);
    }
    free(p->action);
    p->action = NULL;
    p->energy_pj = (double)NAN;
}

static void end_component(struct place *p)
{
    end_action(p);
    if (p->now.name) {
        struct energy_component *c = add_component(p->table, p->now.name);
        p->n++;
        if (!isnan(p->now.area_mm2)) c->area_mm2 = p->now.area_mm2;
        for (size_t k = 0; k < p->now.n_actions; k++) {
            struct energy_action *a = add_action(c, p->now.actions[k].name);
            a->energy_pj = fmax(a->energy_pj, p->now.actions[k].energy_pj);
        }
    }
    component_release(&p->now);
    p->now.area_mm2 = (double)NAN;
    p->in_actions = false;
}

/* A key of a component. */
static bool take_of_component(struct place *p, const struct yaml_line *l, struct diags *diags)
{
    double v;
    end_action(p);
    p->in_actions = strcmp(l->key, "actions") == 0;
    p->action_at = SIZE_MAX;
    if (strcmp(l->key, "name") == 0) set_name(&p->now.name, l->value);
    if (strcmp(l->key, "area") != 0) return true;
    if (!read_number(p, l, &v, diags)) return false;
    p->now.area_mm2 = v / UM2_PER_MM2;
    return true;
}

/* A line in the list of actions. A summary has the largest energy, the mean and the least of an action with several arguments. */
static bool take_of_action(struct place *p, const struct yaml_line *l, struct diags *diags)
{
    double v;
    if (p->action_at == SIZE_MAX) p->action_at = l->at;
    if (l->at != p->action_at) return true;
    if (l->item) end_action(p);
    if (strcmp(l->key, "name") == 0) set_name(&p->action, l->value);
    if (strcmp(l->key, "energy") != 0 && strcmp(l->key, "max_energy") != 0) return true;
    if (!read_number(p, l, &v, diags)) return false;
    p->energy_pj = fmax(p->energy_pj, v);
    return true;
}

static bool take_line(struct place *p, const struct yaml_line *l, struct diags *diags)
{
    if (!l->item && (strcmp(l->key, "tables") == 0 || strcmp(l->key, "table_summary") == 0)) {
        end_component(p);
        p->in_tables = true;
        p->tables_at = l->at;
        p->items_at = SIZE_MAX;
        return true;
    }
    if (p->in_tables && !l->item && l->at <= p->tables_at) {
        end_component(p);
        p->in_tables = false;
    }
    if (!p->in_tables || (p->items_at == SIZE_MAX && !l->item)) return true;
    if (l->item && (p->items_at == SIZE_MAX || l->indent == p->items_at)) {
        end_component(p);
        p->items_at = l->indent;
        p->component_at = l->at;
    }
    if (l->at == p->component_at) return take_of_component(p, l, diags);
    return !p->in_actions || take_of_action(p, l, diags);
}

bool energy_table_read(struct energy_table *t, const char *path, struct diags *diags)
{
    char *text;
    if (!text_read_file(path, FILE_MAX, &text, NULL, diags)) return false;
    struct place p = {.table = t, .loc = {.file = path}, .now.area_mm2 = (double)NAN, .energy_pj = (double)NAN};
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
    end_component(&p);
    if (ok && p.n == 0)
        ok = diags_input(diags, (struct srcloc){.file = path}, NULL, "an ERT.yaml or ART.yaml, with a list of tables",
                         "there is no component in it");
    free(text);
    return ok;
}

void energy_table_release(struct energy_table *t)
{
    for (size_t i = 0; i < t->n; i++) component_release(&t->components[i]);
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
