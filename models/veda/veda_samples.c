/* How much of VEDA's event level is simulated (E40): as much as leaves the precision asked for, by the spread of its own parts.
 *
 * What goes on evenly is extrapolated from a sample. What happens once in each layer, and is over before many refreshes have come,
 * is simulated again at other places between two refreshes: no layer begins where the one before did. */
#include "veda_events.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

enum { REPEATS_MAX = 32 };
static const double golden = 0.6180339887498949; /* multiples of it lie evenly between 0 and 1, however many there are */
/* Of a step whose place is open within one n-th, at its beginning and at its end: sqrt(2 / 12). */
static const double of_place = 0.408;

double veda_refresh_s(const struct veda_run *run)
{
    const bool none = dse_sim_ideal(run->sim, DSE_IDEAL_REFRESH) || dse_sim_ideal(run->sim, DSE_IDEAL_DRAM);
    return none ? 0 : run->closed->pause_s;
}

double veda_rest_error(const struct veda_run *run, double rest_s, double measured_s, double error)
{
    const double regular = measured_s > 0 ? of_place * veda_refresh_s(run) / measured_s : 1;
    return rest_s * (isfinite(error) ? error : regular);
}

/* Of the mean of all repetitions: of their place, and of what each extrapolated. */
double veda_sample_error(const struct veda_run *run, const struct veda_sample *s)
{
    const double spread = s->n > 1 ? s->most_s - s->least_s : veda_refresh_s(run);
    return hypot(of_place * spread / s->n, s->error_s / sqrt(s->n));
}

bool veda_sample_more(const struct veda_run *run, struct veda_sample *s, double time_s, double error_s)
{
    s->least_s = s->n > 0 ? fmin(s->least_s, time_s) : time_s;
    s->most_s = s->n > 0 ? fmax(s->most_s, time_s) : time_s;
    s->sum_s += time_s;
    s->error_s = error_s;
    s->n++;
    const double enough = run->closed->precision * s->sum_s / s->n;
    if (veda_sample_error(run, s) <= enough || s->n >= REPEATS_MAX) return false;
    if (error_s <= enough) return true;
    *s = (struct veda_sample){.times = 2 * s->times}; /* begin anew with a sample twice as long */
    return true;
}

double veda_sample_pause(const struct veda_run *run, const struct veda_sample *s)
{
    const double period_s = run->dram->timing.t_refi_ns / DSE_GIGA, now_s = dse_s_of_ps(dse_sim_now(run->sim)),
                 place = fmod(s->n * golden, 1), is = fmod(now_s / period_s, 1);
    return period_s > 0 ? period_s * (place >= is ? place - is : 1 + place - is) : 0;
}
