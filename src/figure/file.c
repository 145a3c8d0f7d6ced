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
    ret->loc = toml_string_loc(doc, node);
}

/* ---- columns ---------------------------------------------------------------------------------------------------------- */

static const char *const axis_keys[] = {"column", "label", "scale", "min", "max", "better"};
static const char *const series_keys[] = {"column", "label", "order"};
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

/* A column's name, or a table { column = "...", ... }. */
static void read_column_node(const struct toml_doc *doc, const struct toml_node *node, const char *key, bool is_axis,
                             struct column_spec *ret, struct diags *diags)
{
    ret->min = ret->max = (double)NAN;
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

static void read_column(const struct toml_doc *doc, const struct toml_node *table, const char *key, bool is_axis,
                        struct column_spec *ret, struct diags *diags)
{
    ret->min = ret->max = (double)NAN;
    const struct toml_node *node = toml_get(table, key);
    if (node) read_column_node(doc, node, key, is_axis, ret, diags);
}

/* ---- the file --------------------------------------------------------------------------------------------------------- */

static const char *const root_keys[] = {"figure", "output"};
static const char *const figure_keys[] = {
    "title",           "kind",           "sweep",    "sql",     "x",          "y",         "series",
    "group",           "value",          "end",      "columns", "front_sql",  "normalize", "reference_sql",
    "reference_label", "annotation_sql", "band_sql", "quoted",  "lossy_label"};
static const char *const output_keys[] = {"width_mm", "height_mm", "font", "font_size", "dpi", "legend", "style"};
static const char *const order_names[] = {"value", "rows"};
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
    f->style = (enum style)read_word(f->doc, table, "style", figure_styles, 2, STYLE_LIGHT, diags);
    char *font = read_string(f->doc, table, "font", diags);
    if (!font) return;
    free(f->font);
    f->font = font;
    if (font[0] == '\0' ||
        font[strspn(font, TEXT_ALNUM " -")]) /* it stands in an attribute of an SVG, where gnuplot quotes nothing */
        diags_input(diags, toml_loc(f->doc, toml_get(table, "font")), f->doc->text, "letters, digits, spaces and hyphens",
                    "font: \"%s\" is not the name of one font family, like \"Arial\"", font);
}

/* The list of axes of a figure of kind parallel: names, or tables as of an axis. */
static void read_columns(struct figure *f, const struct toml_node *table, struct diags *diags)
{
    const struct toml_node *node = toml_expect(f->doc, table, "columns", TOML_ARRAY, diags);
    if (!node) return;
    if (node->n < 2) diags_input(diags, toml_loc(f->doc, node), f->doc->text, NULL, "columns: two axes or more are needed");
    f->columns = xcalloc(node->n, sizeof *f->columns);
    f->n_columns = node->n;
    for (size_t i = 0; i < node->n; i++) read_column_node(f->doc, &node->children[i], "columns", true, &f->columns[i], diags);
}

/* Does any kind ask for the key, so that others do not take it? */
static bool is_of_some_kinds(const char *key)
{
    const char *names[KINDS_MAX];
    for (size_t i = 0, n = kinds_names(names); i < n; i++)
        if (kind_takes(kinds_at(i), key)) return true;
    return false;
}

static void check_keys_of_kind(const struct figure *f, const struct toml_node *table, struct diags *diags)
{
    for (size_t i = 0; i < COUNT(figure_keys); i++) {
        const struct toml_node *node = toml_get(table, figure_keys[i]);
        if (!node || kind_takes(f->kind, figure_keys[i]) || !is_of_some_kinds(figure_keys[i])) continue;
        bool axis = strcmp(figure_keys[i], "x") == 0 || strcmp(figure_keys[i], "y") == 0;
        diags_input(diags, toml_key_loc(f->doc, node), f->doc->text, NULL, "%s: a figure of kind \"%s\" has %s%s", figure_keys[i],
                    f->kind->name, axis ? f->kind->needs[0] : "no ", axis ? " instead" : figure_keys[i]);
    }
    for (const char *const *key = f->kind->needs; *key; key++)
        if (!toml_get(table, *key))
            diags_input(diags, toml_key_loc(f->doc, table), f->doc->text, NULL, "%s: is missing from [figure]", *key);
}

static void check_kind(const struct figure *f, const struct toml_node *table, struct diags *diags)
{
    check_keys_of_kind(f, table, diags);
    if (f->normalize && !f->series.column)
        diags_input(diags, f->normalize_loc, f->doc->text, NULL, "normalize: needs series, of which it names one");
}

static void read_figure(struct figure *f, const struct toml_node *table, struct diags *diags)
{
    const struct toml_doc *doc = f->doc;
    toml_check_keys(doc, table, figure_keys, COUNT(figure_keys), diags);
    f->title = read_string(doc, table, "title", diags);
    if (!f->title) f->title = xstrdup("");
    f->sweep = read_string(doc, table, "sweep", diags);
    if (f->sweep && !text_is_file_name(f->sweep))
        diags_input(diags, toml_loc(doc, toml_get(table, "sweep")), doc->text, TEXT_FILE_NAME_RULE,
                    "sweep: \"%s\" is not the name of a sweep", f->sweep);
    const char *names[KINDS_MAX];
    size_t n = kinds_names(names);
    f->kind = kinds_at((size_t)read_word(doc, table, "kind", names, n, 0, diags));
    read_query(doc, table, "sql", &f->query, diags);
    read_query(doc, table, "front_sql", &f->front, diags);
    read_query(doc, table, "reference_sql", &f->reference, diags);
    read_query(doc, table, "annotation_sql", &f->annotation, diags);
    read_query(doc, table, "band_sql", &f->band, diags);
    f->reference_label = read_string(doc, table, "reference_label", diags);
    f->lossy_label = read_string(doc, table, "lossy_label", diags);
    f->normalize = read_string(doc, table, "normalize", diags);
    if (f->normalize) f->normalize_loc = toml_loc(doc, toml_get(table, "normalize"));
    read_column(doc, table, "x", true, &f->x, diags);
    read_column(doc, table, "y", true, &f->y, diags);
    read_column(doc, table, "value", true, &f->value, diags);
    read_column(doc, table, "end", true, &f->end, diags);
    f->end.scale = f->x.scale; /* it lies on the axis of x */
    read_column(doc, table, "group", false, &f->group, diags);
    read_column(doc, table, "quoted", false, &f->quoted, diags);
    read_column(doc, table, "series", false, &f->series, diags);
    const struct toml_node *series = toml_get(table, "series");
    if (series && series->type == TOML_TABLE)
        f->series_in_row_order = read_word(doc, series, "order", order_names, COUNT(order_names), 0, diags) == 1;
    read_columns(f, table, diags);
    static const char *const required[] = {"kind", "sql"};
    for (size_t i = 0; i < COUNT(required); i++)
        if (!toml_get(table, required[i]))
            diags_input(diags, toml_key_loc(doc, table), doc->text, NULL, "%s: is missing from [figure]", required[i]);
    check_kind(f, table, diags);
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
    struct query_spec *queries[] = {&f->query, &f->front, &f->reference, &f->annotation, &f->band};
    for (size_t i = 0; i < COUNT(queries); i++) free(queries[i]->sql);
    free(f->reference_label);
    free(f->lossy_label);
    free(f->normalize);
    struct column_spec *columns[] = {&f->x, &f->y, &f->series, &f->value, &f->end, &f->group, &f->quoted};
    for (size_t i = 0; i < COUNT(columns); i++) column_release(columns[i]);
    for (size_t i = 0; i < f->n_columns; i++) column_release(&f->columns[i]);
    free(f->columns);
    toml_free(f->doc);
    free(f);
}

/* ---- what the file leaves to who draws it ------------------------------------------------------------------------------- */

const char *const figure_sizes[] = {"single", "double", "slide", NULL};
const char *const figure_styles[] = {"light", "dark", NULL};

bool figure_set_size(struct figure *f, const char *size)
{
    static const struct {
        double width, height_share, font; /* height_share 0: the file's */
    } sizes[] = {{85, 0, 8}, {178, 0.5, 8}, {254, 9.0 / 16, 16}};
    for (size_t i = 0; figure_sizes[i]; i++) {
        if (strcmp(figure_sizes[i], size) != 0) continue;
        double share = sizes[i].height_share > 0 ? sizes[i].height_share : f->height_mm / f->width_mm;
        f->width_mm = sizes[i].width;
        f->height_mm = share * f->width_mm;
        f->font_size = sizes[i].font;
        return true;
    }
    return false;
}

bool figure_set_style(struct figure *f, const char *style)
{
    for (size_t i = 0; figure_styles[i]; i++) {
        if (strcmp(figure_styles[i], style) != 0) continue;
        f->style = (enum style)i;
        return true;
    }
    return false;
}

void figure_set_catalog(struct figure *f, const struct catalog *c)
{
    f->catalog = c;
}

void figure_set_dpi(struct figure *f, double dpi)
{
    f->dpi = dpi;
}

const char *figure_sql(const struct figure *f)
{
    return f->query.sql;
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
