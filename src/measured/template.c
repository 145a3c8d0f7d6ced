/* Texts with "{...}": a column, a column through a map, an expression over the numbers of a row. */
#include "measured/internal.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- expressions over a row ------------------------------------------------------------------------------------------------- */

static double *find_number(void *context, const char *name, struct srcloc loc, const char *source_text, struct diags *diags)
{
    struct measured_bind *b = context;
    size_t column = measured_column(b->file, name);
    if (column != SIZE_MAX) return &b->numbers[column];
    const char *near = text_nearest(name, b->file->table.columns, b->file->table.n_columns);
    char *hint = near ? xasprintf("did you mean %s?", near) : NULL;
    diags_input(diags, loc, source_text, hint, "%s.csv has no column \"%s\"", b->file->name, name);
    free(hint);
    return NULL;
}

struct expr *measured_row_expr(struct measured_bind *b, const char *text, const struct toml_node *node, size_t offset,
                               struct diags *diags)
{
    const struct expr_scope scope = {.find = find_number, .context = b};
    struct srcloc loc = toml_string_loc(b->set->doc, node);
    loc.column += (int)offset;
    return expr_new_in(text, loc, b->set->doc->text, &scope, diags);
}

/* ---- reading --------------------------------------------------------------------------------------------------------------- */

static double node_number(const struct toml_node *n)
{
    return n->type == TOML_INTEGER ? (double)n->integer : n->type == TOML_FLOAT ? n->number : (double)NAN;
}

/* Texts and numbers; of a band numbers, growing. */
static bool check_map(const struct piece *p, const struct measured_bind *b, struct diags *diags)
{
    const struct toml_doc *doc = b->set->doc;
    for (size_t i = 0; i < p->map->n; i++) {
        const struct toml_node *node = &p->map->children[i];
        const bool number = node->type == TOML_INTEGER || node->type == TOML_FLOAT;
        if (!number && (p->is_band || node->type != TOML_STRING))
            return diags_input(diags, toml_key_loc(doc, node), doc->text, "a key with dots in it stands in quotes",
                               "%s.%s: %s is needed, not %s", p->map_name, node->key,
                               p->is_band ? "a number" : "a text or a number", toml_type_name(node->type));
        if (p->is_band && i && node_number(node) <= node_number(node - 1))
            return diags_input(diags, toml_loc(doc, node), doc->text, NULL, "%s.%s: bands grow", p->map_name, node->key);
    }
    return true;
}

static bool find_map(struct piece *p, struct measured_bind *b, const char *name, const struct toml_node *node, struct diags *diags)
{
    const struct toml_node *root = &b->set->doc->root, *maps = toml_get(root, "maps"), *bands = toml_get(root, "bands");
    p->map = maps ? toml_get(maps, name) : NULL;
    if (!p->map && bands) {
        p->map = toml_get(bands, name);
        p->is_band = p->map != NULL;
    }
    if (p->map && p->map->type == TOML_TABLE) {
        p->map_name = p->map->key;
        return check_map(p, b, diags);
    }
    return diags_input(diags, toml_loc(b->set->doc, node), b->set->doc->text, "write [maps.NAME] or [bands.NAME]",
                       "there is no map \"%s\"", name);
}

/* What stands between braces. */
static bool read_braces(struct piece *p, struct measured_bind *b, char *inside, const struct toml_node *node, size_t offset,
                        struct diags *diags)
{
    *p = (struct piece){.column = measured_column(b->file, inside)};
    if (p->column != SIZE_MAX) return true;
    char *colon = strchr(inside, ':');
    if (!colon) {
        p->expr = measured_row_expr(b, inside, node, offset, diags);
        return p->expr != NULL;
    }
    *colon = '\0';
    p->column = measured_column(b->file, inside);
    if (p->column != SIZE_MAX) return find_map(p, b, colon + 1, node, diags);
    p->expr = measured_row_expr(b, inside, node, offset, diags); /* "{batch * 2:rows}" */
    return p->expr && find_map(p, b, colon + 1, node, diags);
}

static struct piece *add_piece(struct template *t)
{
    t->pieces = xrealloc(t->pieces, t->n + 1, sizeof *t->pieces);
    t->pieces[t->n] = (struct piece){.column = SIZE_MAX};
    return &t->pieces[t->n++];
}

static bool read_text(struct template *t, struct measured_bind *b, const struct toml_node *node, struct diags *diags)
{
    const char *s = node->string;
    while (*s) {
        size_t plain = strcspn(s, "{");
        if (plain) {
            add_piece(t)->text = xstrndup(s, plain);
            s += plain;
            continue;
        }
        const char *end = strchr(s, '}');
        if (!end) return diags_input(diags, toml_loc(b->set->doc, node), b->set->doc->text, NULL, "a { that is not closed");
        char *inside = xstrndup(s + 1, (size_t)(end - s) - 1);
        bool ok = read_braces(add_piece(t), b, inside, node, (size_t)(s + 1 - node->string), diags);
        free(inside);
        if (!ok) return false;
        s = end + 1;
    }
    return true;
}

bool template_init(struct template *t, struct measured_bind *b, const struct toml_node *node, struct diags *diags)
{
    char buf[TEXT_NUMBER_MAX];
    *t = (struct template){.node = node};
    switch (node->type) {
    case TOML_STRING: return read_text(t, b, node, diags);
    case TOML_INTEGER: add_piece(t)->text = xasprintf("%lld", (long long)node->integer); return true;
    case TOML_FLOAT: add_piece(t)->text = xstrdup(text_number(buf, node->number)); return true;
    default:
        return diags_input(diags, toml_loc(b->set->doc, node), b->set->doc->text, NULL, "a text or a number is needed, not %s",
                           toml_type_name(node->type));
    }
}

void template_release(struct template *t)
{
    for (size_t i = 0; i < t->n; i++) {
        free(t->pieces[i].text);
        expr_free(t->pieces[i].expr);
    }
    free(t->pieces);
}

/* ---- a row ------------------------------------------------------------------------------------------------------------------ */

/* The key of the first entry that is not below the number. */
static const char *band_of(const struct toml_node *bands, double v)
{
    for (size_t i = 0; i < bands->n; i++)
        if (v <= node_number(&bands->children[i])) return bands->children[i].key;
    return NULL;
}

/* Add what the map makes of the text. */
static bool add_mapped(const struct piece *p, const char *from, double number, struct text *out)
{
    if (p->is_band) {
        const char *band = band_of(p->map, number);
        if (band) text_add(out, band);
        return band != NULL;
    }
    const struct toml_node *to = toml_get(p->map, from);
    char buf[TEXT_NUMBER_MAX];
    if (!to) return false;
    text_add(out, to->type == TOML_STRING ? to->string : text_number(buf, node_number(to)));
    return true;
}

/* Add a piece; what it was made of, for complaints, in *ret_of. */
static bool add_value(const struct piece *p, const struct measured_bind *b, size_t row, char buf[TEXT_NUMBER_MAX],
                      const char **ret_of, struct text *out)
{
    const double number = p->expr ? expr_number(p->expr) : p->column == SIZE_MAX ? 0 : b->numbers[p->column];
    *ret_of = p->expr ? text_number(buf, number) : b->file->table.rows[row].cells[p->column];
    if (p->map) return add_mapped(p, *ret_of, number, out);
    if (p->expr && isnan(number)) return false;
    text_add(out, *ret_of);
    return true;
}

char *template_text(const struct template *t, const struct measured_bind *b, size_t row, char **ret_why)
{
    struct text out;
    char buf[TEXT_NUMBER_MAX];
    text_init(&out);
    for (size_t i = 0; i < t->n; i++) {
        const struct piece *p = &t->pieces[i];
        const char *of;
        if (p->text) {
            text_add(&out, p->text);
        } else if (!add_value(p, b, row, buf, &of, &out)) {
            *ret_why =
                p->map ? xasprintf("map %s has nothing for \"%s\"", p->map_name, of) : xstrdup("a number that it needs is empty");
            text_release(&out);
            return NULL;
        }
    }
    return text_detach(&out);
}
