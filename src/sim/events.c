/* Parameters that only the event level reads. */
#include <dse/sim.h>

const struct dse_param dse_events_params[] = {
    DSE_PARAM_I64(struct dse_events, seed, 0, 9007199254740992, "event level: seed of random draws", "ours"),
    DSE_PARAM_I64(struct dse_events, layers_simulated, 0, 1024,
                  "event level: layers simulated with their own random draws; the others repeat them; 0: all layers", "ours"),
    DSE_PARAM_END,
};
