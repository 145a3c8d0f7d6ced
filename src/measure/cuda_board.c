/* The board's sensors and clocks, by NVML. */
#include "base/text.h"
#include "base/xalloc.h"
#include "measure/cuda_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double or_nan(int answer, double v)
{
    return answer == NVML_SUCCESS ? v : (double)NAN;
}

static void note_limits(struct cuda_device *d)
{
    const struct nvml *n = &d->lib.nvml;
    struct meter_machine *m = &d->base.machine;
    unsigned v = 0, least = 0, most = 0;
    if (n->limit_mw(d->board, &v) == NVML_SUCCESS) m->limit_w = 1e-3 * v;
    if (n->default_limit_mw(d->board, &v) == NVML_SUCCESS) m->default_limit_w = 1e-3 * v;
    if (n->limits_mw(d->board, &least, &most) == NVML_SUCCESS) m->lowest_limit_w = 1e-3 * least, m->highest_limit_w = 1e-3 * most;
    if (n->max_clock_mhz(d->board, NVML_CLOCK_SM, &v) == NVML_SUCCESS) m->clock_mhz = v;
    if (n->max_clock_mhz(d->board, NVML_CLOCK_MEM, &v) == NVML_SUCCESS) m->memory_mhz = v;
    if (n->driver_version(m->driver, sizeof m->driver) != NVML_SUCCESS) *m->driver = '\0';
}

bool cuda_board_open(struct cuda_device *d, const char *dir, char **ret_why)
{
    char id[32];
    const struct nvml *n = &d->lib.nvml;
    if (!library_load_nvml(&d->lib, dir, ret_why)) return false;
    int answer = n->init();
    d->has_nvml = answer == NVML_SUCCESS;
    if (d->has_nvml && cuda_ok(d, d->lib.driver.device_bus_id(id, sizeof id, d->device), "the GPU's bus")) {
        answer = n->device_by_bus_id(id, &d->board);
        if (answer == NVML_SUCCESS) {
            note_limits(d);
            return true;
        }
    }
    d->board = NULL;
    *ret_why = xstrdup(n->error_text(answer));
    return false;
}

void cuda_board_close(struct cuda_device *d)
{
    if (d->has_nvml) d->lib.nvml.shutdown();
    d->has_nvml = false;
}

void cuda_sense(struct meter_device *base, struct meter_senses *ret)
{
    struct cuda_device *d = (struct cuda_device *)base;
    const struct nvml *n = &d->lib.nvml;
    *ret = (struct meter_senses){.watts = NAN, .joules = NAN, .clock_mhz = NAN, .celsius = NAN, .limit = ""};
    if (!d->board) return;
    unsigned v = 0;
    unsigned long long wide = 0;
    int answer = n->power_mw(d->board, &v);
    ret->watts = or_nan(answer, 1e-3 * v);
    answer = n->energy_mj(d->board, &wide);
    ret->joules = or_nan(answer, 1e-3 * (double)wide);
    answer = n->clock_mhz(d->board, NVML_CLOCK_SM, &v);
    ret->clock_mhz = or_nan(answer, v);
    answer = n->temperature(d->board, NVML_TEMPERATURE_GPU, &v);
    ret->celsius = or_nan(answer, v);
    if (n->throttle(d->board, &wide) != NVML_SUCCESS) return;
    if (wide & (NVML_SW_THERMAL | NVML_HW_THERMAL))
        ret->limit = "heat";
    else if (wide & (NVML_SW_POWER_CAP | NVML_HW_SLOWDOWN | NVML_HW_POWER_BRAKE))
        ret->limit = "power";
}

enum meter_answer cuda_hold_clock(struct meter_device *base, double share, double *ret_mhz)
{
    struct cuda_device *d = (struct cuda_device *)base;
    const struct nvml *n = &d->lib.nvml;
    enum { STEP_MHZ = 15, SETTLE_MS = 200 };
    *ret_mhz = NAN;
    if (!d->board || base->machine.clock_mhz <= 0) {
        snprintf(base->reason, sizeof base->reason, "clocks cannot be set without NVML");
        return METER_NO;
    }
    const unsigned mhz = (unsigned)(base->machine.clock_mhz * share / STEP_MHZ + 0.5) * STEP_MHZ;
    const int answer = share > 0 ? n->lock_clocks(d->board, mhz, mhz) : n->unlock_clocks(d->board);
    if (answer != NVML_SUCCESS) {
        snprintf(base->reason, sizeof base->reason, "clocks cannot be set: %s%s", n->error_text(answer),
                 answer == NVML_NO_PERMISSION ? " (only root may)" : "");
        return METER_NO;
    }
    if (share > 0) *ret_mhz = mhz;
    base->sleep(base, 1e-3 * SETTLE_MS);
    return METER_YES;
}
