#include "figure/raster.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdlib.h>

/* A cell while it is summed up: number of points, and their colours weighted by it. */
struct sum {
    float n, red, green, blue;
};

/* Where the lattice cell of a coordinate lies along a side of `cells` raster cells. One much smaller than these is taken for the
 * point that it stands for, so that this point is seen as one sharp dot. */
static void find_extent(const struct axis *a, double v, double cells_per_unit, int cells, double *ret_from, double *ret_to)
{
    static const double small = 0.25;
    double cell = floor(v * cells_per_unit);
    *ret_from = axis_position(a, cell / cells_per_unit) * cells;
    *ret_to = axis_position(a, (cell + 1) / cells_per_unit) * cells;
    if (isfinite(*ret_from) && isfinite(*ret_to) && *ret_to - *ret_from > small) return;
    *ret_from = fmin(floor(axis_position(a, v) * cells), cells - 1) + small;
    *ret_to = *ret_from + small;
}

/* The share of [from, to] that lies in cell i. */
static double overlap(double from, double to, int i)
{
    double a = fmax(from, i), b = fmin(to, i + 1);
    return b > a ? (b - a) / (to - from) : 0;
}

/* Spread a mark over the raster cells that its lattice cell covers. */
static void splat(struct sum *sum, int width, int height, const struct scene *s, const struct cloud *c, const struct mark *m,
                  uint32_t colour)
{
    double x0, x1, y0, y1;
    find_extent(&s->x, m->x, c->cells_per_x, width, &x0, &x1);
    find_extent(&s->y, m->y, c->cells_per_y, height, &y0, &y1);
    int first_x = (int)fmin(fmax(floor(x0), 0), width), last_x = (int)fmin(fmax(floor(x1), -1), width - 1);
    int first_y = (int)fmin(fmax(floor(y0), 0), height), last_y = (int)fmin(fmax(floor(y1), -1), height - 1);
    for (int j = first_y; j <= last_y; j++) {
        double share = (double)m->count * overlap(y0, y1, j);
        for (int i = first_x; i <= last_x; i++) {
            float n = (float)(share * overlap(x0, x1, i));
            struct sum *cell = &sum[(size_t)j * (size_t)width + (size_t)i];
            cell->n += n;
            cell->red += n * (float)(colour >> 16 & 255);
            cell->green += n * (float)(colour >> 8 & 255);
            cell->blue += n * (float)(colour & 255);
        }
    }
}

unsigned char *raster_paint(const struct scene *s, const struct cloud *c, int width, int height, double faint, double dense)
{
    size_t cells = (size_t)width * (size_t)height;
    struct sum *sum = xcalloc(cells, sizeof *sum);
    uint32_t colour[SERIES_MAX] = {0};
    for (size_t i = 0; i < s->names.series.n; i++) colour[i] = series_colour(&s->names.series, s->names.series.rank[i]);
    for (size_t i = 0; i < c->capacity; i++)
        if (c->slot[i].count) splat(sum, width, height, s, c, &c->slot[i], colour[mark_series(&c->slot[i])]);

    double most = 1;
    for (size_t i = 0; i < cells; i++) most = fmax(most, (double)sum[i].n);
    unsigned char *rgba = xcalloc(cells, 4);
    for (size_t i = 0; i < cells; i++) {
        double n = (double)sum[i].n;
        if (!(n > 0)) continue;
        double alpha = faint * fmin(n, 1) + (dense - faint) * log1p(n) / log1p(most);
        rgba[4 * i] = (unsigned char)lround((double)sum[i].red / n);
        rgba[4 * i + 1] = (unsigned char)lround((double)sum[i].green / n);
        rgba[4 * i + 2] = (unsigned char)lround((double)sum[i].blue / n);
        rgba[4 * i + 3] = (unsigned char)lround(255 * fmin(fmax(alpha, 0), 1));
    }
    free(sum);
    return rgba;
}
