/* [claims.ID]: published numbers and how the model answers them (docs/reference/claims-file.md), of which claims.csv and
 * claims.toml are made as texts. The latter is the file itself, without all other lines, so that its places are right. */
#include "toml_model/internal.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

/* Of a row of claims.csv; all other keys of a claim are those of claims.toml. */
enum { NUMBER, NUMBER_HI, QUANTITY, SOURCE, CONDITIONS, KIND, SPLIT, ROW_KEYS };
static const char *const row_keys[ROW_KEYS] = {"number", "number_hi", "quantity", "source", "conditions", "kind", "split"};
static const char *const kinds[] = {"input", "equation", "derived", "measured", "algorithmic"}, *const splits[] = {"calibrate",
                                                                                                                   "holdout"};

/* ---- lines ------------------------------------------------------------------------------------------------------------------- */

/* Where each line of the file begins. The caller frees it. */
static const char **find_lines(const char *text)
{
    size_t n = 2;
    for (const char *s = text; (s = strchr(s, '\n')) != NULL; s++) n++;
    const char **lines = xcalloc(n, sizeof *lines);
    n = 0;
    for (const char *s = text; s; s = strchr(s, '\n'), s = s ? s + 1 : NULL) lines[n++] = s;
    return lines;
}

static const char *line_at(const struct toml_model *m, int line)
{
    return m->lines[line - 1];
}

static bool begins(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

/* Is it the header of a section that claims.toml has, too? */
static bool is_claims_header(const char *line)
{
    static const char *const sections[] = {"[claims.", "[machines.", "[cases.", "[accounting.", "[contradictions."};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (begins(line, sections[i])) return true;
    return false;
}

static void blank_line(char *at)
{
    for (; *at && *at != '\n'; at++) *at = ' ';
}

/* The file without what claims.toml has not. */
static char *claims_text(const struct toml_model *m, const struct toml_node *claims)
{
    char *text = xstrdup(m->doc->text);
    bool inside = false;
    for (char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (*line == '[') inside = is_claims_header(line);
        if (!inside) blank_line(line);
    }
    for (size_t i = 0; i < claims->n; i++)
        for (int k = 0; k < ROW_KEYS; k++) {
            const struct toml_node *n = toml_get(&claims->children[i], row_keys[k]);
            if (n) blank_line(text + (line_at(m, n->key_line) - m->doc->text));
        }
    return text;
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

static void add_cell(struct text *t, const char *s, size_t n, bool last)
{
    text_add(t, "\"");
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '"') text_add(t, "\"");
        text_add_bytes(t, &s[i], 1);
    }
    text_add(t, last ? "\"\n" : "\",");
}

static void add_text(struct text *t, const char *s, bool last)
{
    add_cell(t, s, strlen(s), last);
}

/* What is written there: its digits count. */
static void add_number(const struct toml_model *m, struct text *t, const struct toml_node *n)
{
    if (!n || n->type == TOML_STRING) {
        add_text(t, n ? n->string : "", false);
        return;
    }
    const char *s = line_at(m, n->line) + n->column - 1;
    add_cell(t, s, strcspn(s, " \t\r\n#"), false);
}

static bool is_one_of(const struct toml_model *m, const struct toml_node *n, const char *const *words, size_t n_words,
                      const char *all, struct diags *diags)
{
    for (size_t i = 0; n && i < n_words; i++)
        if (n->type == TOML_STRING && strcmp(words[i], n->string) == 0) return true;
    return !n || diags_unknown(diags, toml_loc(m->doc, n), m->doc->text, n->type == TOML_STRING ? n->string : "", words, n_words,
                               all, "%s is no %s of a claim", n->type == TOML_STRING ? n->string : "that", n->key);
}

static bool check_row(const struct toml_model *m, const struct toml_node *c, struct diags *diags)
{
    static const char hint[] =
        "number = 18.6, unit = \"1/s\", quantity = \"tokens a second\", source = \"Table 2\", each in a line";
    if (c->type != TOML_TABLE || *line_at(m, c->key_line) != '[')
        return diags_input(diags, toml_key_loc(m->doc, c), m->doc->text, "[claims.NAME], and its keys below",
                           "a claim is a table with a header");
    const struct toml_node *number = toml_get(c, "number");
    const bool is_number = number && (number->type == TOML_STRING || number->type == TOML_INTEGER || number->type == TOML_FLOAT);
    if (!is_number || !toml_get(c, "quantity") || !toml_get(c, "unit") || !toml_get(c, "source"))
        return diags_input(diags, toml_key_loc(m->doc, c), m->doc->text, hint, "a claim needs number, unit, quantity and source");
    bool ok = is_one_of(m, toml_get(c, "kind"), kinds, sizeof kinds / sizeof *kinds,
                        "input, equation, derived, measured, algorithmic", diags);
    ok = is_one_of(m, toml_get(c, "split"), splits, sizeof splits / sizeof *splits, "calibrate, holdout", diags) && ok;
    for (int k = QUANTITY; k < ROW_KEYS; k++) {
        const struct toml_node *n = toml_get(c, row_keys[k]);
        if (!n || (n->type == TOML_STRING && !strchr(n->string, '\n'))) continue;
        ok = diags_input(diags, toml_loc(m->doc, n), m->doc->text, NULL, "%s is a string of one line", n->key);
    }
    return ok;
}

static const char *said(const struct toml_node *claim, const char *key, const char *otherwise)
{
    const struct toml_node *n = toml_get(claim, key);
    return n && n->type == TOML_STRING ? n->string : otherwise;
}

static void add_row(const struct toml_model *m, struct text *t, const struct toml_node *c)
{
    add_text(t, c->key, false);
    add_text(t, m->desc.name, false);
    add_text(t, m->desc.cite, false);
    add_text(t, said(c, "source", ""), false);
    add_text(t, said(c, "quantity", ""), false);
    add_number(m, t, toml_get(c, "number"));
    add_number(m, t, toml_get(c, "number_hi"));
    add_text(t, said(c, "unit", ""), false);
    add_text(t, said(c, "conditions", ""), false);
    add_text(t, said(c, "kind", "measured"), false);
    add_text(t, "yes", false);
    add_text(t, "", false);
    add_text(t, said(c, "split", "holdout"), true);
}

bool read_claims(struct toml_model *m, struct diags *diags)
{
    const struct toml_node *claims = toml_expect(m->doc, &m->doc->root, "claims", TOML_TABLE, diags);
    if (!claims) return !toml_get(&m->doc->root, "claims");
    struct text t;
    m->lines = find_lines(m->doc->text);
    text_init(&t);
    text_add(&t, "id,system,paper,location,quantity,value,value_hi,unit,conditions,kind,modelable,how,split\n");
    bool ok = true;
    for (size_t i = 0; i < claims->n; i++) {
        const bool good = check_row(m, &claims->children[i], diags);
        if (good) add_row(m, &t, &claims->children[i]);
        ok = ok && good;
    }
    m->claims_csv = text_detach(&t);
    m->claims_toml = claims_text(m, claims);
    free(m->lines);
    m->lines = NULL;
    return ok;
}
