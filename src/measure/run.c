#include "base/xalloc.h"
#include "measure/meter_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A chunk of work between two looks at the board's sensors, and the part of a power point that only warms up: NVML's power is a
 * mean over one second on most boards. */
static const double CHUNK_S = 0.1, WARM_SHARE = 0.25;

struct job {
    struct meter_device *device;
    const struct meter_control *control;
    const struct meter_point *point;
    struct meter_result *result;
    bool is_warm;    /* something has run: clocks are up */
    bool is_held;    /* clocks are not as they were */
    double held_mhz; /* at what */
};

static bool wants_stop(const struct job *j)
{
    return j->control->stop && *j->control->stop;
}

/* Carry out `units` and look at the sensors meanwhile, if `senses` is not NULL. */
static enum meter_answer once(struct job *j, uint64_t units, double sense_after, struct meter_senses *senses, double *ret_s)
{
    struct meter_device *d = j->device;
    enum meter_answer a = d->start(d, units);
    if (a != METER_YES) return a;
    if (senses) {
        if (sense_after > 0) d->sleep(d, sense_after);
        d->sense(d, senses);
    }
    return d->wait(d, ret_s);
}

/* Run until the device is warm. *ret_unit_s: what a unit takes then. */
static enum meter_answer warm_up(struct job *j, double *ret_unit_s)
{
    struct meter_device *d = j->device;
    const double begin = d->now(d), warm_s = fmin(j->is_warm ? METER_WARM_S : METER_FIRST_WARM_S, j->point->seconds);
    double s = 0;
    uint64_t units = 1;
    for (int i = 0; i < 2 || d->now(d) - begin < warm_s; i++) {
        const enum meter_answer a = once(j, units, 0, NULL, &s);
        if (a != METER_YES) return a;
        s /= (double)units;
        if (s <= 0) {
            snprintf(d->reason, sizeof d->reason, "the device's clock stands still");
            return METER_NO;
        }
        units = (uint64_t)fmin(fmax(METER_REPEAT_S / s, 1), 1e6);
        if (wants_stop(j)) break;
    }
    *ret_unit_s = s;
    j->is_warm = true;
    return METER_YES;
}

static uint64_t units_for(double seconds, double unit_s)
{
    return (uint64_t)fmin(fmax(ceil(seconds / unit_s), 1), 1e6);
}

static void note_senses(struct meter_result *r, const struct meter_senses *s)
{
    r->clock_mhz = s->clock_mhz;
    r->celsius = s->celsius;
    r->limit = s->limit;
}

/* The time of one operation: repeats until the point's time is over. */
static enum meter_answer measure_time(struct job *j)
{
    struct meter_device *d = j->device;
    double unit_s, values[METER_REPEATS_MAX];
    enum meter_answer a = warm_up(j, &unit_s);
    if (a != METER_YES) return a;
    const uint64_t units = units_for(METER_REPEAT_S, unit_s);
    const double begin = d->now(d);
    size_t n = 0;
    while (n < METER_REPEATS_MAX && (n < METER_REPEATS_MIN || d->now(d) - begin < j->point->seconds) && !wants_stop(j)) {
        struct meter_senses senses;
        double s;
        const bool look = n == METER_REPEATS_MIN / 2;
        a = once(j, units, look ? 0.5 * (double)units * unit_s : 0, look ? &senses : NULL, &s);
        if (a != METER_YES) return a;
        if (look) note_senses(j->result, &senses);
        values[n++] = s / ((double)units * (double)d->unit);
    }
    if (n < METER_REPEATS_MIN) return METER_YES; /* stopped: the point has no number */
    j->result->time = meter_summarize(values, n);
    j->result->is_done = true;
    return METER_YES;
}

/* ---- power --------------------------------------------------------------------------------------------------------------- */

/* What the sensors said over a time. */
struct watch {
    double begin, first_joules, last_joules, end; /* times of the two counters */
    double watts, clocks;                         /* sums over n */
    size_t n;
    const char *limit;
    double celsius;
};

static void look(struct watch *w, double now, const struct meter_senses *s)
{
    if (w->n == 0) w->begin = now, w->first_joules = s->joules;
    w->end = now;
    w->last_joules = s->joules;
    w->watts += s->watts;
    w->clocks += s->clock_mhz;
    if (*s->limit) w->limit = s->limit;
    w->celsius = s->celsius;
    w->n++;
}

/* By the energy counter, whose steps are small beside the whole time; without one the mean of the readings. */
static double watts_of(const struct watch *w)
{
    const double joules = w->last_joules - w->first_joules, seconds = w->end - w->begin;
    return joules > 0 && seconds > 0 ? joules / seconds : w->watts / (double)w->n;
}

static void note_watch(struct meter_result *r, const struct watch *w)
{
    r->power_w = watts_of(w);
    r->clock_mhz = w->clocks / (double)w->n;
    r->celsius = w->celsius;
    r->limit = w->limit;
}

/* Two looks at the counter make a power. */
static bool is_over(const struct job *j, const struct watch *w, double begin)
{
    return (w->n >= 2 && j->device->now(j->device) - begin >= j->point->seconds) || wants_stop(j);
}

/* Keep the device at its work, or idle, and watch. */
static enum meter_answer measure_power(struct job *j)
{
    struct meter_device *d = j->device;
    const bool works = j->point->work != METER_IDLE;
    double unit_s = 1, values[METER_REPEATS_MAX];
    enum meter_answer a = works ? warm_up(j, &unit_s) : METER_YES;
    const uint64_t units = units_for(CHUNK_S, unit_s);
    const double begin = d->now(d);
    struct watch w = {.limit = ""};
    size_t n = 0;
    while (a == METER_YES && !is_over(j, &w, begin)) {
        struct meter_senses senses;
        double s = 0;
        if (works) {
            a = once(j, units, 0.5 * (double)units * unit_s, &senses, &s);
        } else {
            d->sleep(d, CHUNK_S);
            d->sense(d, &senses);
        }
        if (a != METER_YES || d->now(d) - begin < WARM_SHARE * j->point->seconds) continue;
        look(&w, d->now(d), &senses);
        if (works && n < METER_REPEATS_MAX) values[n++] = s / ((double)units * (double)d->unit);
    }
    if (a != METER_YES || w.n < 2 || wants_stop(j)) return a;
    if (n) j->result->time = meter_summarize(values, n);
    note_watch(j->result, &w);
    j->result->is_done = !isnan(j->result->power_w);
    if (!j->result->is_done) snprintf(d->reason, sizeof d->reason, "the board does not tell its power");
    return j->result->is_done ? METER_YES : METER_NO;
}

/* ---- a run --------------------------------------------------------------------------------------------------------------- */

/* Clocks as the point has them. */
static enum meter_answer hold(struct job *j)
{
    struct meter_device *d = j->device;
    const double share = j->point ? j->point->clock_share : 0;
    if (share <= 0 && !j->is_held) return METER_YES;
    const enum meter_answer a = d->hold_clock(d, share, &j->held_mhz);
    if (a == METER_YES) j->is_held = share > 0;
    return a;
}

static enum meter_answer measure(struct job *j)
{
    struct meter_device *d = j->device;
    enum meter_answer a = hold(j);
    if (a == METER_YES) a = d->prepare(d, j->point);
    if (a == METER_YES) a = j->point->kind == METER_POWER ? measure_power(j) : measure_time(j);
    j->result->set_mhz = j->is_held ? j->held_mhz : (double)NAN;
    if (a != METER_YES) snprintf(j->result->reason, sizeof j->result->reason, "%s", d->reason);
    return a;
}

enum meter_end meter_run(struct meter_device *device, const struct meter_point *points, size_t n, const struct meter_control *c,
                         struct meter_result *results)
{
    struct job j = {.device = device, .control = c};
    const double begin = device->now(device);
    enum meter_end end = METER_WHOLE;
    for (size_t i = 0; i < n; i++)
        results[i] = (struct meter_result){.power_w = NAN, .clock_mhz = NAN, .set_mhz = NAN, .celsius = NAN, .limit = ""};
    for (size_t i = 0; i < n && end == METER_WHOLE; i++) {
        if (c->progress) c->progress(c->user, i, n, &points[i]);
        j.point = &points[i];
        j.result = &results[i];
        if (device->now(device) - begin >= c->limit_s)
            end = METER_LATE;
        else if (!wants_stop(&j) && measure(&j) == METER_DEAD)
            end = METER_BROKEN;
        if (end == METER_WHOLE && wants_stop(&j)) end = METER_STOPPED;
    }
    j.point = NULL;
    device->keeps_clock = hold(&j) != METER_YES;
    return end;
}
