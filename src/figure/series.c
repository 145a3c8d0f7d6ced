#include "figure/series.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void series_init(struct series *s)
{
    *s = (struct series){.max = SERIES_MAX};
}

void categories_init(struct series *s)
{
    *s = (struct series){.max = CATEGORIES_MAX};
}

void series_release(struct series *s)
{
    for (size_t i = 0; i < s->n; i++) free(s->value[i].name);
    s->n = 0;
}

static int add(struct series *s, char *name, double number)
{
    if (s->n == s->max) {
        free(name);
        return -1;
    }
    s->value[s->n] = (struct series_value){.name = name, .number = number, .slot = -1};
    s->last = (uint32_t)s->n++;
    return (int)s->last;
}

int series_number(struct series *s, double number)
{
    if (s->n && s->value[s->last].number == number) return (int)s->last;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->value[i].number == number) return (int)(s->last = i);
    char buf[TEXT_NUMBER_MAX];
    return add(s, xstrdup(text_number(buf, number)), number);
}

int series_text(struct series *s, const char *text)
{
    if (s->n && isnan(s->value[s->last].number) && strcmp(s->value[s->last].name, text) == 0) return (int)s->last;
    for (uint32_t i = 0; i < s->n; i++)
        if (isnan(s->value[i].number) && strcmp(s->value[i].name, text) == 0) return (int)(s->last = i);
    return add(s, xstrdup(text), (double)NAN);
}

static bool comes_before(const struct series *s, uint32_t a, uint32_t b)
{
    if (s->numeric) return s->value[a].number < s->value[b].number;
    return strverscmp(s->value[a].name, s->value[b].name) < 0;
}

static void find_numeric(struct series *s)
{
    s->numeric = s->n > 0;
    for (size_t i = 0; i < s->n; i++)
        if (isnan(s->value[i].number)) s->numeric = false;
}

void series_keep_order(struct series *s)
{
    find_numeric(s);
    for (uint32_t i = 0; i < s->n; i++) s->rank[i] = s->order[i] = i;
}

void categories_sort(struct series *s)
{
    find_numeric(s);
    if (s->numeric)
        series_sort(s);
    else
        series_keep_order(s);
}

void series_sort(struct series *s)
{
    find_numeric(s);
    for (uint32_t i = 0; i < s->n; i++) { /* by insertion: there are few */
        uint32_t j = i;
        for (; j > 0 && comes_before(s, i, s->order[j - 1]); j--) s->order[j] = s->order[j - 1];
        s->order[j] = i;
    }
    for (uint32_t i = 0; i < s->n; i++) s->rank[s->order[i]] = i;
}

/* M. Okabe and K. Ito, "Color Universal Design", 2002; yellow last, because it is faint on white. */
static const uint32_t distinct[] = {0x0072B2, 0xD55E00, 0x009E73, 0xCC79A7, 0xE69F00, 0x56B4E9, 0x000000, 0xF0E442};
enum { DISTINCT = sizeof distinct / sizeof distinct[0] };
/* The same for areas, in an order of changing lightness (CIE L*: 46, 71, 89, 58, 33, 70, 54, 61): the first five are 12 and more
 * apart. Grey stands for black, which is heavy. */
static const uint32_t fills[DISTINCT] = {0x0072B2, 0xE69F00, 0xF0E442, 0x009E73, 0x4D4D4D, 0x56B4E9, 0xD55E00, 0xCC79A7};

/* Eleven stops of viridis (S. van der Walt and N. Smith, matplotlib), without its lightest fifth, which is faint on white. */
static const uint32_t ramp[] = {0x440154, 0x482475, 0x414487, 0x355F8D, 0x2A788E, 0x21918C, 0x22A884, 0x44BF70, 0x7AD151};
enum { RAMP = sizeof ramp / sizeof ramp[0] };

static uint32_t mix(uint32_t a, uint32_t b, double t)
{
    uint32_t colour = 0;
    for (int shift = 0; shift <= 16; shift += 8) {
        double ca = (a >> shift) & 255, cb = (b >> shift) & 255;
        colour |= (uint32_t)lround(ca + (cb - ca) * t) << shift;
    }
    return colour;
}

static bool has_slots(const struct series *s)
{
    bool all = s->n > 0;
    for (size_t i = 0; i < s->n; i++) all = all && s->value[i].slot >= 0;
    return all;
}

/* The place that a value has among colours and markers: its own slot, or that of the legend where one has none. */
static size_t slot_of(const struct series *s, size_t place)
{
    return has_slots(s) && place < s->n ? (size_t)s->value[s->order[place]].slot : place;
}

static uint32_t colour_of(const struct series *s, size_t place, const uint32_t *texts)
{
    if (!s->numeric || s->n < 2) return texts[slot_of(s, place) % DISTINCT];
    double at = (double)place / (double)(s->n - 1) * (RAMP - 1);
    size_t i = (size_t)at;
    if (i == RAMP - 1) return ramp[i];
    return mix(ramp[i], ramp[i + 1], at - (double)i);
}

uint32_t series_colour(const struct series *s, size_t place)
{
    return colour_of(s, place, distinct);
}

uint32_t series_fill(const struct series *s, size_t place)
{
    return colour_of(s, place, has_slots(s) ? distinct : fills);
}

int series_marker(const struct series *s, size_t place)
{
    place = slot_of(s, place);
    /* After eight series the colours begin anew; a step there gives those another marker. */
    return (int)((place + place / DISTINCT * 3) % SERIES_MARKERS);
}
