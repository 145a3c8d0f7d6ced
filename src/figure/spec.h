/* A figure file, read and checked: what struct figure holds. The keys are described in docs/reference/figure-file.md.
 *
 * Everything here is known before a database is opened; places in the file are kept, so that a complaint about the rows (a column
 * that the query does not give) points at the key that asked for it.
 */
#ifndef DSE_FIGURE_SPEC_H
#define DSE_FIGURE_SPEC_H

#include "config/toml.h"
#include "figure/figure.h"

enum scale { SCALE_LINEAR, SCALE_LOG, SCALE_LOG2 };
enum legend { LEGEND_BELOW, LEGEND_RIGHT, LEGEND_NONE };
enum better { BETTER_UNKNOWN, BETTER_MIN, BETTER_MAX };

/* A query as the file gives it. sql NULL: not given. loc is where the text of the SQL begins, behind the quotes. */
struct query_spec {
    char *sql;
    struct srcloc loc;
};

/* A column as the file names it: for an axis, or for the series. column NULL: not given. */
struct column_spec {
    char *column;
    char *label; /* as given, or NULL: made from column_info */
    struct srcloc loc;
    enum scale scale;
    enum better better;
    double min, max; /* NaN: from the data */
};

/* What a figure is drawn on. */
enum style { STYLE_LIGHT, STYLE_DARK };

/* How a kind of figure turns rows into layers; kinds.h. */
struct kind;

struct figure {
    char *name, *title;
    char *sweep;                   /* whose database the figure is drawn from when none is named; or NULL */
    const struct catalog *catalog; /* whose titles stand for names; borrowed; NULL: none */
    struct toml_doc *doc;
    const struct kind *kind;
    struct query_spec query, front;
    struct query_spec reference, annotation, band; /* published points; texts and rules; shaded ranges of x */
    char *reference_label;
    char *lossy_label; /* what the legend calls hollow marks; NULL: by the run's budget */
    struct column_spec x, y, series;
    struct column_spec value;    /* a cell's colour */
    struct column_spec end;      /* where a bar that starts at x ends */
    struct column_spec group;    /* the bars of a category, side by side */
    struct column_spec quoted;   /* bars: not 0 where a row is a number of somebody else's */
    struct column_spec *columns; /* parallel: an axis each */
    size_t n_columns;
    bool series_in_row_order; /* instead of sorted */
    char *normalize;          /* the series whose y is 1 at every x; or NULL */
    struct srcloc normalize_loc;
    enum style style;
    double width_mm, height_mm, font_size;
    double dpi; /* of a PNG */
    char *font;
    enum legend legend;
};

/* The same as figure_read, from memory; `path` stands for the file in messages. */
struct figure *figure_read_text(const char *path, const char *text, size_t n, struct diags *diags);

#endif
