#include "model/slopes.h"

#include <math.h>
#include <stdlib.h>

void slope_list_release(struct slope_list *l)
{
    for (size_t i = 0; i < l->n; i++) free(l->variables[i].name);
    free(l->variables);
    free(l->slopes);
    *l = (struct slope_list){0};
}

/* What is left of a difference of equal numbers is not a slope. */
static double without_rounding(double slope)
{
    return fabs(slope) < 1e-9 ? 0 : slope;
}

struct two_sides two_sides_of(double below, double at, double above, double step)
{
    const double alike = 0x1p-10, bend = 16; /* what the slope may change by within a smooth step */
    if (at == 0) return (struct two_sides){(double)NAN, (double)NAN, (double)NAN, false};
    struct two_sides ret = {.down = without_rounding((at - below) / (step * at)),
                            .up = without_rounding((above - at) / (step * at))};
    if (isnan(ret.down) || isnan(ret.up)) {
        ret.is = isnan(ret.down) ? ret.up : ret.down;
        return ret;
    }
    ret.differ = fabs(ret.up - ret.down) > alike * (fabs(ret.up) + fabs(ret.down)) + bend * step;
    ret.is = without_rounding((above - below) / (2 * step * at));
    if (ret.differ) ret.is = fabs(ret.down) < fabs(ret.up) ? ret.down : ret.up;
    return ret;
}
