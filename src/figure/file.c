/* Reading a figure file. */
#include "base/text.h"
#include "base/xalloc.h"
#include "figure/kinds.h"
#include "figure/spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- values ----------------------------------------------------------------------------------------------------------- */

/* A copy of the string `key` of the table, or NULL. */
static char *read_string(const struct toml_doc *doc, const struct toml_node *table, const char *key, struct diags *diags)
{
    const struct toml_node *node = toml_expect(doc, table, key, TOML_STRING, diags);
    return node ? xstrdup(node->string) : NULL;
}

/* The number `key` within [min, max]; `*ret` stays as it is when the key is missing or wrong. */
static void read_number(const struct toml_doc *doc, const struct toml_node *table, const char *key, double min, double max,
                        double *ret, struct diags *diags)
{
    const struct toml_node *node = toml_get(table, key);
    if (!node) return;
    double v;
    if (node->type == TOML_INTEGER) {
        v = (double)node->integer;
    } else if (node->type == TOML_FLOAT) {
        v = node->number;
    } else {
        diags_input(diags, toml_loc(doc, node), doc->text, NULL, "%s: %s where a number is needed", key,
                    toml_type_name(node->type));
        return;
    }
    if (!isfinite(v) || v < min || v > max) {
        char a[TEXT_NUMBER_MAX], b[TEXT_NUMBER_MAX], c[TEXT_NUMBER_MAX];
        text_number(a, v), text_number(b, min), text_number(c, max);
        if (isinf(max) && isfinite(v) == 0)
            diags_input(diags, toml_loc(doc, node), doc->text, NULL, "%s: %s is not a finite number", key, a);
        else
            diags_input(diags, toml_loc(doc, node), doc->text, NULL, "%s: %s is outside of %s to %s", key, a, b, c);
        return;
    }
    *ret = v;
}

/* The index of the word `key` among names[0..n), or `missing` when the key is missing or wrong. */
static int read_word(const struct toml_doc *doc, const struct toml_node *table, const char *key, const char *const *names, size_t n,
                     int missing, struct diags *diags)
{
    const struct toml_node *node = toml_expect(doc, table, key, TOML_STRING, diags);
    if (!node) return missing;
    for (size_t i = 0; i < n; i++)
        if (strcmp(node->string, names[i]) == 0) return (int)i;
    struct text hint;
    text_init(&hint);
    const char *near = text_nearest(node->string, names, n);
    if (near) text_addf(&hint, "did you mean \"%s\"? ", near);
    text_addf(&hint, "%s is one of", key);
    for (size_t i = 0; i < n; i++) text_addf(&hint, "%s \"%s\"", i ? "," : "", names[i]);
    diags_input(diags, toml_loc(doc, node), doc->text, hint.s, "%s: unknown value \"%s\"", key, node->string);
    text_release(&hint);
    return missing;
}

/* Where the text of a string begins: behind its quotes and, in a multi-line string, behind the newline that TOML drops. The place of the
 * node counts characters; this one counts bytes, as places in SQL do. */
static struct srcloc string_start(const struct toml_doc *doc, const struct toml_node *node)
{
    struct srcloc loc = toml_loc(doc, node);
    const char *line = doc->text;
    for (int i = 1; line && i < loc.line; i++) {
        line = strchr(line, '\n');
        if (line) line++;
    }
    if (!line) return loc;
    const char *p = line;
    for (int i = 1; i < loc.column && *p && *p != '\n'; i++) {
        p++;
        while (((unsigned char)*p & 0xC0) == 0x80) p++;
    }
    bool multi = strncmp(p, "\"\"\"", 3) == 0 || strncmp(p, "'''", 3) == 0;
    loc.column = (int)(p - line) + (multi ? 4 : 2);
    if (multi && (p[3] == '\n' || (p[3] == '\r' && p[4] == '\n'))) {
        loc.line++;
        loc.column = 1;
    }
    return loc;
}

static void read_query(const struct toml_doc *doc, const struct toml_node *table, const char *key, struct query_spec *ret,
                       struct diags *diags)
{
    const struct toml_node *node = toml_expect(doc, table, key, TOML_STRING, diags);
    if (!node) return;
    if (node->string[strspn(node->string, " \t\r\n;")] == '\0') {
        diags_input(diags, toml_loc(doc, node), doc->text, NULL, "%s: is empty, an SQL query is needed", key);
        return;
    }
    ret->sql = xstrdup(node->string);
    ret->loc = string_start(doc, node);
}

/* ---- columns ---------------------------------------------------------------------------------------------------------- */

static const char *const axis_keys[] = {"column", "label", "scale", "min", "max", "better"};
static const char *const series_keys[] = {"column", "label"};
static const char *const scale_names[] = {"linear", "log", "log2"};
static const char *const better_names[] = {"", "min", "max"};

static void read_axis_table(const struct toml_doc *doc, const struct toml_node *node, struct column_spec *ret, struct diags *diags)
{
    ret->scale = (enum scale)read_word(doc, node, "scale", scale_names, COUNT(scale_names), SCALE_LINEAR, diags);
    ret->better = (enum better)(1 + read_word(doc, node, "better", better_names + 1, COUNT(better_names) - 1, -1, diags));
    const char *const limits[] = {"min", "max"};
    double *const values[] = {&ret->min, &ret->max};
    for (size_t i = 0; i < 2; i++) {
        read_number(doc, node, limits[i], -HUGE_VAL, HUGE_VAL, values[i], diags);
        if (ret->scale == SCALE_LINEAR || !(*values[i] <= 0)) continue;
        diags_input(diags, toml_loc(doc, toml_get(node, limits[i])), doc->text, NULL, "%s: must be above 0 on a logarithmic axis",
                    limits[i]);
        *values[i] = (double)NAN;
    }
    if (ret->min >= ret->max) diags_input(diags, toml_loc(doc, toml_get(node, "max")), doc->text, NULL, "max: must be above min");
}

/* `key = "column"`, or `key = { column = "...", ... }`. */
static void read_column(const struct toml_doc *doc, const struct toml_node *table, const char *key, bool is_axis,
                        struct column_spec *ret, struct diags *diags)
{
    ret->min = ret->max = (double)NAN;
    const struct toml_node *node = toml_get(table, key);
    if (!node) return;
    ret->loc = toml_loc(doc, node);
    if (node->type == TOML_STRING) {
        ret->column = xstrdup(node->string);
    } else if (node->type == TOML_TABLE) {
        toml_check_keys(doc, node, is_axis ? axis_keys : series_keys, is_axis ? COUNT(axis_keys) : COUNT(series_keys), diags);
        ret->column = read_string(doc, node, "column", diags);
        if (ret->column)
            ret->loc = toml_loc(doc, toml_get(node, "column"));
        else if (!toml_get(node, "column"))
            diags_input(diags, toml_key_loc(doc, node), doc->text, NULL, "%s: column is missing, the name of a column of the query",
                        key);
        ret->label = read_string(doc, node, "label", diags);
        if (is_axis) read_axis_table(doc, node, ret, diags);
    } else {
        diags_input(diags, ret->loc, doc->text, NULL, "%s: %s where the name of a column or a table is needed", key,
                    toml_type_name(node->type));
    }
}

/* ---- the file --------------------------------------------------------------------------------------------------------- */

static const char *const root_keys[] = {"figure", "output"};
static const char *const figure_keys[] = {"title", "kind", "sweep", "sql", "x", "y", "series", "front_sql"};
static const char *const output_keys[] = {"width_mm", "height_mm", "font", "font_size", "dpi", "legend"};
static const char *const legend_names[] = {"below", "right", "none"};

static void read_output(struct figure *f, const struct toml_node *table, struct diags *diags)
{
    toml_check_keys(f->doc, table, output_keys, COUNT(output_keys), diags);
    read_number(f->doc, table, "width_mm", 30, 600, &f->width_mm, diags);
    f->height_mm = 0.75 * f->width_mm;
    read_number(f->doc, table, "height_mm", 30, 600, &f->height_mm, diags);
    read_number(f->doc, table, "font_size", 4, 32, &f->font_size, diags);
    read_number(f->doc, table, "dpi", 72, 1200, &f->dpi, diags);
    f->legend = (enum legend)read_word(f->doc, table, "legend", legend_names, COUNT(legend_names), LEGEND_BELOW, diags);
    char *font = read_string(f->doc, table, "font", diags);
    if (!font) return;
    free(f->font);
    f->font = font;
    if (font[0] == '\0' || strchr(font, ',') || strchr(font, ':'))
        diags_input(diags, toml_loc(f->doc, toml_get(table, "font")), f->doc->text, NULL,
                    "font: \"%s\" is not the name of one font family, like \"Arial\"", font);
}

static void read_figure(struct figure *f, const struct toml_node *table, struct diags *diags)
{
    const struct toml_doc *doc = f->doc;
    toml_check_keys(doc, table, figure_keys, COUNT(figure_keys), diags);
    f->title = read_string(doc, table, "title", diags);
    if (!f->title) f->title = xstrdup("");
    f->sweep = read_string(doc, table, "sweep", diags);
    const char *names[KINDS_MAX];
    size_t n = kinds_names(names);
    f->kind = kinds_at((size_t)read_word(doc, table, "kind", names, n, 0, diags));
    read_query(doc, table, "sql", &f->query, diags);
    read_query(doc, table, "front_sql", &f->front, diags);
    read_column(doc, table, "x", true, &f->x, diags);
    read_column(doc, table, "y", true, &f->y, diags);
    read_column(doc, table, "series", false, &f->series, diags);
    static const char *const required[] = {"kind", "sql", "x", "y"};
    for (size_t i = 0; i < COUNT(required); i++)
        if (!toml_get(table, required[i]))
            diags_input(diags, toml_key_loc(doc, table), doc->text, NULL, "%s: is missing from [figure]", required[i]);
    const struct toml_node *front = toml_get(table, "front_sql");
    if (front && toml_get(table, "kind") && !f->kind->has_front)
        diags_input(diags, toml_key_loc(doc, front), doc->text, NULL, "front_sql: a figure of kind \"%s\" has no front",
                    f->kind->name);
}

static struct figure *figure_from(struct toml_doc *doc, struct diags *diags)
{
    if (!doc) return NULL;
    struct figure *f = xcalloc(1, sizeof *f);
    f->doc = doc;
    f->font = xstrdup("Arial");
    f->width_mm = 85;
    f->height_mm = 0.75 * f->width_mm;
    f->font_size = 8;
    f->dpi = 300;
    const char *base = strrchr(doc->file, '/');
    base = base ? base + 1 : doc->file;
    size_t length = strlen(base);
    f->name = xstrndup(base, length > 5 && strcmp(base + length - 5, ".toml") == 0 ? length - 5 : length);

    size_t before = diags->errors;
    toml_check_keys(doc, &doc->root, root_keys, COUNT(root_keys), diags);
    const struct toml_node *table = toml_expect(doc, &doc->root, "figure", TOML_TABLE, diags);
    if (table)
        read_figure(f, table, diags);
    else if (!toml_get(&doc->root, "figure"))
        diags_input(diags, (struct srcloc){.file = doc->file}, NULL, NULL, "the table [figure] is missing");
    table = toml_expect(doc, &doc->root, "output", TOML_TABLE, diags);
    if (table) read_output(f, table, diags);
    if (diags->errors == before) return f;
    figure_free(f);
    return NULL;
}

struct figure *figure_read(const char *path, struct diags *diags)
{
    return figure_from(toml_read_file(path, diags), diags);
}

struct figure *figure_read_text(const char *path, const char *text, size_t n, struct diags *diags)
{
    return figure_from(toml_read_text(path, text, n, diags), diags);
}

static void column_release(struct column_spec *c)
{
    free(c->column);
    free(c->label);
}

void figure_free(struct figure *f)
{
    if (!f) return;
    free(f->name);
    free(f->title);
    free(f->sweep);
    free(f->font);
    free(f->query.sql);
    free(f->front.sql);
    column_release(&f->x);
    column_release(&f->y);
    column_release(&f->series);
    toml_free(f->doc);
    free(f);
}

const char *figure_title(const struct figure *f)
{
    return f->title;
}

const char *figure_sweep(const struct figure *f)
{
    return f->sweep;
}

const char *figure_name(const struct figure *f)
{
    return f->name;
}
