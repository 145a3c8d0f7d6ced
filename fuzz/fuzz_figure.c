/* Figure files: whatever the bytes, errors or a figure; and whatever its rows say, a script for gnuplot in which no text is more
 * than a quoted string. The rows have the columns that the figure names, and values made from the bytes. */
#include "base/text.h"
#include "base/xalloc.h"
#include "figure/script.h"
#include "memory_file.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

enum { COLUMNS_MAX = 32, ROWS = 40, TEXT_LONGEST = 24 };

struct made_rows {
    struct rows rows;
    const char *names[COLUMNS_MAX];
    bool names_things[COLUMNS_MAX]; /* series, groups, texts */
    const uint8_t *data;
    size_t n;
    uint64_t at, seed;
    char text[COLUMNS_MAX][TEXT_LONGEST + 1];
};

static uint64_t draw(const struct made_rows *m, int column, unsigned what)
{
    const uint64_t key[] = {m->seed, m->at, (uint64_t)column, what};
    return text_hash(TEXT_HASH_INIT, key, sizeof key) >> 16;
}

static const char *made_name(const struct rows *r, int column)
{
    return ((const struct made_rows *)r)->names[column];
}

/* Numbers where a figure needs them, texts where it likes them; seldom the other, nothing or a blob. */
static enum cell_type made_type(const struct rows *r, int column)
{
    const struct made_rows *m = (const struct made_rows *)r;
    const bool texts = (m->seed >> column & (m->names_things[column] ? 3 : 15)) == (m->names_things[column] ? m->seed & 3 : 1);
    const uint64_t draws = draw(m, column, 0) % 64;
    if (m->seed % 4 == 0 && draws < 2) return draws ? CELL_BLOB : CELL_NULL;
    return texts || (m->names_things[column] && m->seed % 2) ? CELL_TEXT : draws % 2 ? CELL_REAL : CELL_INTEGER;
}

static double made_f64(const struct rows *r, int column)
{
    const struct made_rows *m = (const struct made_rows *)r;
    static const double odd[] = {0, -0.0, 1e300, -1e300, 1e-300, 5e-324, HUGE_VAL, NAN};
    const uint64_t draws = draw(m, column, 1);
    if (m->seed % 8 == 0 && draws % 16 == 0) return odd[draws / 16 % (sizeof odd / sizeof *odd)];
    const double unit = m->seed % 3 ? 1 : 1e6;
    if ((m->seed >> column) % 2) return (double)m->at * unit; /* of every row another */
    return (double)(draws % 12) * unit + (m->seed % 5 ? 1 : -3);
}

/* A piece of the input: figure files are full of what must be quoted. */
static const char *made_text(const struct rows *r, int column)
{
    const struct made_rows *m = (const struct made_rows *)r;
    char *to = ((struct made_rows *)(uintptr_t)m)->text[column];
    const size_t start = draw(m, column, 2) % 6 * 31 % (m->n + 1), left = m->n - start,
                 length = left < TEXT_LONGEST ? left : TEXT_LONGEST;
    memcpy(to, m->data + start, length);
    to[length] = '\0';
    return to;
}

static int made_next(struct rows *r, struct diags *diags)
{
    (void)diags;
    struct made_rows *m = (struct made_rows *)r;
    return m->at++ < ROWS;
}

static void add_name(struct made_rows *m, const char *name, bool names_things)
{
    if (!name || m->rows.n_columns == COLUMNS_MAX) return;
    for (int i = 0; i < m->rows.n_columns; i++)
        if (strcmp(m->names[i], name) == 0) return;
    m->names_things[m->rows.n_columns] = names_things;
    m->names[m->rows.n_columns++] = name;
}

static void make_rows(struct made_rows *ret, const struct figure *f, const uint8_t *data, size_t n, unsigned which)
{
    *ret = (struct made_rows){.rows = {.name = made_name, .next = made_next, .type = made_type, .f64 = made_f64, .text = made_text},
                              .data = data,
                              .n = n,
                              .seed = text_hash(TEXT_HASH_INIT + which, data, n)};
    const struct column_spec *const specs[] = {&f->x, &f->y, &f->series, &f->value, &f->end, &f->group};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        add_name(ret, specs[i]->column, specs[i] == &f->series || specs[i] == &f->group);
    for (size_t i = 0; i < f->n_columns; i++) add_name(ret, f->columns[i].column, false);
    static const char *const of_notes[] = {"x", "y", "text", "x_from", "x_to"};
    for (size_t i = 0; i < sizeof of_notes / sizeof *of_notes; i++) add_name(ret, of_notes[i], i == 2);
}

/* ---- scripts ----------------------------------------------------------------------------------------------------------------- */

/* Behind a quote: where the string ends. Letters, digits, spaces and octal escapes stand in it; in what the script says itself
 * ("#RRGGBB", ",8") some signs more. */
static const char *skip_string(const char *s)
{
    for (; *s != '"'; s++) {
        need(*s == '\\' || isalnum((unsigned char)*s) || *s == ' ' || strchr("#,.:-+*=%@o", *s));
        if (*s != '\\') continue;
        for (int i = 1; i <= 3; i++) need(s[i] >= '0' && s[i] <= '7');
        s += 3;
    }
    return s + 1;
}

static void check_script(const char *s)
{
    while (*s) {
        if (*s == '"') {
            s = skip_string(s + 1);
            continue;
        }
        need(isalnum((unsigned char)*s) || strchr(" \n.,:#()='%/_+-[]", *s)); /* none of ` ! $ | < ; { @ */
        s++;
    }
}

static void check_scene(const struct figure *f, const uint8_t *data, size_t n, const struct canvas *canvas)
{
    struct made_rows made[5];
    for (unsigned i = 0; i < 5; i++) make_rows(&made[i], f, data, n, i);
    const struct inputs in = {.query = &made[0].rows,
                              .front = f->front.sql ? &made[1].rows : NULL,
                              .reference = f->reference.sql ? &made[2].rows : NULL,
                              .annotation = f->annotation.sql ? &made[3].rows : NULL,
                              .band = f->band.sql ? &made[4].rows : NULL};
    struct diags d;
    diags_init(&d);
    struct scene scene = {0};
    const bool ok = scene_build(&scene, f, &in, BETTER_MIN, BETTER_MAX, &d);
    need(ok == (d.errors == 0));
    if (ok) {
        struct text script, points;
        text_init(&script);
        text_init(&points);
        scene_fit_axes(&scene, script_ticks_x(f, canvas), script_ticks_y(f, canvas), "mm2", NULL);
        scene_label_value(&scene, "us");
        for (size_t i = 0; i < scene.n_axes; i++) scene_label_column(&scene, i, NULL);
        script_write(&script, &points, &scene, canvas);
        check_script(script.s);
        text_release(&script);
        text_release(&points);
    }
    scene_release(&scene);
    diags_release(&d);
}

/* A figure of every kind, for inputs that are none: their bytes are its texts. */
#define FIGURE(kind) "[figure]\nkind='" kind "'\nsql='s'\ny='b'\nannotation_sql='s'\n"
static const char *const figures[] = {
    FIGURE("pareto") "x='a'\nfront_sql='s'\n",
    FIGURE("pareto") "x='a'\nseries='s'\n",
    FIGURE("scatter") "x={column='a',scale='log'}\nseries='s'\n",
    FIGURE("lines") "x={column='a',scale='log2'}\nseries='s'\nband_sql='s'\nreference_sql='s'\n",
    FIGURE("bars") "x='a'\n",
    FIGURE("grouped-bars") "x='a'\nseries='s'\n[output]\nlegend='right'\nstyle='dark'\n",
    FIGURE("stacked-bars") "x='a'\nseries='s'\ngroup='g'\n",
    FIGURE("heatmap") "x='a'\nvalue='z'\n",
    FIGURE("contour") "x='a'\nvalue={column='z',scale='log'}\n",
    FIGURE("interval-map") "x='a'\nseries='s'\n",
    FIGURE("gantt") "x='a'\nend='e'\nseries='s'\n[output]\nlegend='none'\n",
    "[figure]\nkind='parallel'\nsql='s'\ncolumns=['a',{column='b',scale='log'},'c']\nseries='s'\n",
};

/* From where on `what` says, to at most 40 bytes. */
static char *piece(const uint8_t *data, size_t n, uint64_t what)
{
    size_t start = n ? what % n : 0, left = n - start;
    return xstrndup((const char *)data + start, left < 40 ? left : 40);
}

static struct figure *figure_of(const uint8_t *data, size_t n, uint64_t hash)
{
    struct diags d;
    diags_init(&d);
    struct figure *f = figure_read_text("fuzz/fuzz.toml", (const char *)data, n, &d);
    need((f == NULL) == (d.errors > 0));
    diags_release(&d);
    if (f) return f;
    const char *text = figures[hash % (sizeof figures / sizeof *figures)];
    f = figure_read_text("fuzz/own.toml", text, strlen(text), &d);
    need(f != NULL);
    diags_release(&d);
    free(f->title);
    f->title = piece(data, n, hash >> 8);
    struct column_spec *const specs[] = {&f->x, &f->y, &f->series, &f->value, &f->group};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        if (specs[i]->column && !specs[i]->label && hash >> (16 + i) & 1) specs[i]->label = piece(data, n, hash >> (24 + i));
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct canvas canvases[] = {{.format = FORMAT_SVG}, {.format = FORMAT_TEXT, .columns = 60, .rows = 20}};
    const uint64_t hash = text_hash(TEXT_HASH_INIT, data, n) >> 4;
    struct figure *f = figure_of(data, n, hash);
    need(!f->sweep || text_is_file_name(f->sweep));
    need(f->font[strspn(f->font, TEXT_ALNUM " -")] == '\0');
    check_scene(f, data, n, &canvases[hash >> 40 & 1]);
    figure_free(f);
    return 0;
}
