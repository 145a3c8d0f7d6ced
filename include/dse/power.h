/* Energy by activity: what a board or a chip draws for what it does. All pure and thread-safe.
 *
 *     E = idle_w t + awake_w t_awake + active_w t_busy + byte_j B + op_j N
 *
 * Time t, of which there is work for t_awake and units work for t_busy; B bytes of DRAM traffic, N operations. A model fills the
 * law from its parameters once for a point, and asks it for the step and for its parts: the law is linear, so parts sum.
 */
#ifndef DSE_POWER_H
#define DSE_POWER_H

#include <dse/catalog.h>
#include <dse/costs.h>

/* Of one device. */
struct dse_power_law {
    double idle_w;   /* with nothing to do */
    double awake_w;  /* beyond it while there is work, also while units wait: clock and voltage are up */
    double active_w; /* beyond both while units work, whatever they compute: their clock trees, control, registers */
    double byte_j;   /* a byte of DRAM traffic: the device, its interface, the way to the units */
    double op_j;     /* an operation, its operands' last way with it */
};

struct dse_activity {
    double seconds, awake_s, busy_s; /* busy_s <= awake_s <= seconds */
    double bytes, ops;
};

/* Joules by what takes them. */
struct dse_energy {
    double idle, awake, active, bytes, ops;
};
struct dse_energy dse_energy_of(const struct dse_power_law *law, const struct dse_activity *a);
double dse_energy_sum(const struct dse_energy *e);

/* ---- GPUs ---------------------------------------------------------------------------------------------------------------- */

/* How a GPU board divides what lies between its idle power and its limit. The maker sizes the limit for the units at work, so
 * shares of it hold across boards where watts do not. Fitted to measured boards: models/flashdecoding/README.md, E26. */
struct dse_gpu_shares {
    double awake, active; /* of limit - idle */
    double tensor;        /* the same, of tensor cores at their peak rate: above 1 where they cannot keep it under the limit */
};
/* The law of a board at its own clock and voltage. idle_w: of the board; way_pj_per_bit: a bit's way between the DRAM's device and
 * an SM; tensor_tflops: the peak in the number format that operations are counted in. */
struct dse_power_law dse_gpu_power_law(const struct dse_gpu *gpu, const struct dse_gpu_shares *shares, double idle_w,
                                       double dram_pj_per_bit, double way_pj_per_bit, double tensor_tflops);
/* Idle power [W] of a board: its own where the entry has it, else the share of its limit that boards with a source have. */
double dse_gpu_idle_w(const struct dse_gpu *gpu);
/* Energy [pJ/bit] of a bit's way on the GPU, by a book of constants: the interface (of HBM, where the kind of its memory is not
 * said), wires as long as the side of the die, the last-level cache and the L1 written and read. */
double dse_gpu_way_pj_per_bit(const struct dse_costs *book, int32_t memory_kind, double die_mm2);
/* The same law with the units at `clock` times the board's own clock, and `sms` times its SMs. Voltage goes with the clock down to
 * half of it, so energy goes with its square. */
struct dse_power_law dse_gpu_power_at(const struct dse_power_law *law, double clock, double sms);
double dse_gpu_voltage_squared(double clock); /* over that of the board's own clock */
/* Power [W] at an activity, at most limit_w: above it the board lowers clock and voltage of its units, at the rates that are given
 * (which were measured on boards that do so). */
double dse_gpu_power_w(const struct dse_power_law *law, const struct dse_activity *a, double limit_w);

#endif
