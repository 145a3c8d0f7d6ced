/* An axis: its scale, range, ticks and label.
 *
 * gnuplot is told nothing of scales: every axis runs from 0 to 1 there, and the ticks are placed and written here. So a picture
 * does not depend on the locale, a raster fits logarithmic axes, and numbers look the same everywhere.
 */
#ifndef DSE_FIGURE_AXIS_H
#define DSE_FIGURE_AXIS_H

#include "figure/series.h"
#include "figure/spec.h"

enum { AXIS_TICKS_MAX = CATEGORIES_MAX, AXIS_TEXT_MAX = 64 };

struct tick {
    double at;                /* 0 to 1 along the axis */
    char text[AXIS_TEXT_MAX]; /* "" for a minor tick */
};
/* Set the text of a tick to a name, whose end becomes "…" where gnuplot could not show all of it. */
void tick_set_name(struct tick *t, const char *name);

struct axis {
    enum scale scale;
    double low, high; /* on the scale: logarithms on a logarithmic axis */
    size_t n;
    struct tick tick[AXIS_TICKS_MAX];
    int thousands; /* tick texts are in units of 1000^thousands: 0 for most */
    char *label;
};

/* The position of a value on a scale, and the value at a position. */
double axis_scale(enum scale scale, double v);
double axis_unscale(enum scale scale, double v);
/* Range and ticks for data from min to max (on the scale), within the limits of the file; about n_ticks labelled ticks. The label
 * is not set. */
void axis_fit(struct axis *a, const struct column_spec *spec, double min, double max, int n_ticks);
/* The same without room at the ends: the axis goes from min to max, but for limits of the file. */
void axis_fit_exactly(struct axis *a, const struct column_spec *spec, double min, double max, int n_ticks);
/* An axis of names at 0, 1, 2, ... in the order of their ranks; `down`: from the top, so that 0 stands at high. */
void axis_fit_names(struct axis *a, const struct series *names, bool down);
void axis_release(struct axis *a);
/* The place of a value along the axis: 0 at `low`, 1 at `high`. */
double axis_position(const struct axis *a, double v);

/* Set the label: the file's own; else the column's name as words with its unit: "area_mm2", "mm2" gives "Area [mm²]". unit may be
 * NULL. Ticks in thousands or millions are told in the label. */
void axis_set_label(struct axis *a, const struct column_spec *spec, const char *unit);

#endif
