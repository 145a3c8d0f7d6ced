/* The distinct values of one column, in the order they are met, later sorted: the series of a figure, with their colours, or the
 * categories of an axis. */
#ifndef DSE_FIGURE_SERIES_H
#define DSE_FIGURE_SERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many series and categories can be told apart in one picture. */
enum { SERIES_MAX = 24, CATEGORIES_MAX = 256 };

struct series_value {
    char *name;    /* as the legend shows it */
    double number; /* NaN for a text */
    int slot;      /* whose colour and marker it has, whatever its place; -1: those of its place */
};

struct series {
    size_t n, max;
    struct series_value value[CATEGORIES_MAX];
    uint32_t rank[CATEGORIES_MAX];  /* place of value i in the order of the legend; set by series_sort */
    uint32_t order[CATEGORIES_MAX]; /* the other way round: which value stands at place i */
    bool numeric;                   /* all values are numbers; set by series_sort */
    uint32_t last;                  /* the value met last: rows come in long stretches of one value */
};

void series_init(struct series *s);
/* The same for the categories of an axis. */
void categories_init(struct series *s);
void series_release(struct series *s);
/* Number of a value, which is added if it is new; -1 when that would make too many. */
int series_number(struct series *s, double number);
int series_text(struct series *s, const char *text);
/* Sort: numbers by value, texts so that "llama2-7b" stands before "llama2-13b". */
void series_sort(struct series *s);
/* Sort numbers; texts keep the order in which they were met. */
void categories_sort(struct series *s);
/* Keep the order in which they were met, whatever they are. */
void series_keep_order(struct series *s);
/* Colour of the value at place i of the legend, 0xRRGGBB: distinct for colour-blind readers (Okabe and Ito) for texts, from dark
 * to light (viridis) for numbers. */
uint32_t series_colour(const struct series *s, size_t place);
/* The same of an area, which no marker names: texts get colours whose lightness differs, too, for a print in grey;
 * values with slots have the colours of these. */
uint32_t series_fill(const struct series *s, size_t place);
/* Marker of the value at a place: 0 to SERIES_MARKERS - 1, distinct from its neighbours. */
enum { SERIES_MARKERS = 6 };
int series_marker(const struct series *s, size_t place);

#endif
