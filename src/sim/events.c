/* Parameters that only the event level reads. */
#include <dse/sim.h>

const struct dse_param dse_events_params[] = {
    DSE_PARAM_I64(struct dse_events, seed, 0, 9007199254740992, "event level: seed of its random draws", "ours"),
    DSE_PARAM_I64(struct dse_events, layers_simulated, 0, 1024,
                  "event level: layers that are simulated with draws of their own, the others being like them; 0: every layer",
                  "ours"),
    DSE_PARAM_END,
};
