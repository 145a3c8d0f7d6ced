/* The ideal roofline machine: every operator takes the longer of computing and moving its bytes. README.md has the equations.
 *
 *     cc -shared -fPIC roofline.c $(pkg-config --cflags --libs dse) -lm -o roofline.so && dse --plugin ./roofline.so eval roofline
 */
#include <dse/feed.h>
#include <dse/model.h>
#include <dse/num.h>
#include <dse/plugin.h>
#include <dse/units.h>
#include <dse/workload.h>
#include <math.h>

struct roofline_params {
    struct dse_workload workload;
    struct dse_dram dram;
    double peak_tflops, op_pj, stream_mib;
};

#define P struct roofline_params
static const struct dse_param params_table[] = {
    DSE_EMBED(P, workload, struct dse_workload, dse_workload_params),
    DSE_EMBED(P, dram, struct dse_dram, dse_dram_params),
    DSE_PARAM_F64(P, peak_tflops, "Tflop/s", 1, 1e6, "peak rate of all operations", "E1"),
    DSE_PARAM_F64(P, op_pj, "pJ", 0, 1000, "energy of an operation", "E4"),
    DSE_PARAM_F64(P, stream_mib, "MiB", 0.5, 4, "event level: bytes simulated per operator", "E5"),
    DSE_PARAM_END,
};
static const char *const without[] = {"area_mm2",       "die_usd",        "design_usd",      "system_usd",
                                      "usd_per_mtoken", "embodied_kgco2", "gco2_per_mtoken", NULL}; /* no bill */
static const struct dse_trend trends[] = {
    {"bandwidth_gbs", "tokens_per_s", DSE_MORE, NULL, NULL}, {"context", "tokens_per_s", DSE_LESS, NULL, "phase=decode"}, {0}};

static void resolve(void *params)
{
    dse_dram_resolve(&((struct roofline_params *)params)->dram);
}

static const char no_room[] = "weights and KV cache do not fit the DRAM";
static bool shortage(const void *params, const char *reason, struct dse_shortage *ret)
{
    const struct roofline_params *p = params;
    *ret = (struct dse_shortage){dse_workload_footprint(&p->workload) / DSE_GIB, p->dram.capacity_gib, "GiB"};
    return reason == no_room;
}

static const char *check(const void *params)
{
    struct dse_shortage room;
    shortage(params, NULL, &room);
    return room.needed > room.there ? no_room
                                    : dse_workload_check(&((const struct roofline_params *)params)->workload, DSE_CAN_ALL);
}

static double compute_s(const struct roofline_params *p, const struct dse_op *op)
{
    return op->ops / (p->peak_tflops * 1e12);
}

static double bytes_of(const struct dse_op *op)
{
    return op->weight_bytes + op->kv_read_bytes + op->kv_write_bytes;
}

/* Metrics and breakdown of a step whose operators take time_s (E2 to E4). */
static void report(const struct roofline_params *p, const struct dse_oplist *l, const double *time_s, struct dse_common *m,
                   struct dse_breakdown *breakdown)
{
    double compute_bound_s = 0;
    struct dse_totals t = {.tokens = dse_workload_tokens(&p->workload), .area_mm2 = (double)NAN};
    for (int i = 0; i < l->n; i++) {
        const struct dse_op *op = &l->op[i];
        double moved = bytes_of(op), energy = dse_dram_joules(&p->dram, moved) + op->ops * p->op_pj * DSE_PICO;
        bool compute = compute_s(p, op) >= dse_dram_stream_seconds(&p->dram, moved);
        const char *bound = dse_bound_names[compute ? DSE_BOUND_COMPUTE : DSE_BOUND_DRAM];
        dse_breakdown_add(breakdown, dse_part_of(op->name, 0, bound, time_s[i], energy, moved, op->ops));
        t.seconds += time_s[i], t.bytes += moved, t.ops += op->ops, t.joules += energy;
        t.attention_s += op->kind == DSE_OP_SCORES || op->kind == DSE_OP_VALUES ? time_s[i] : 0;
        compute_bound_s += compute ? time_s[i] : 0;
    }
    t.peak_ops = p->peak_tflops * 1e12;
    t.peak_bytes = dse_dram_peak(&p->dram);
    t.bound = dse_bound_of(compute_bound_s, t.seconds - compute_bound_s, 0);
    *m = dse_common_of(&t);
}

static void estimate(const void *params, void *metrics, struct dse_breakdown *breakdown)
{
    const struct roofline_params *p = params;
    double time_s[DSE_OPS_MAX];
    struct dse_oplist l;
    dse_workload_expand(&p->workload, &l);
    for (int i = 0; i < l.n; i++)
        time_s[i] = dse_max(compute_s(p, &l.op[i]), dse_dram_stream_seconds(&p->dram, bytes_of(&l.op[i])));
    report(p, &l, time_s, metrics, breakdown);
}

static void idle(struct dse_sim *sim, void *object, uint32_t arg)
{
    (void)sim, (void)object, (void)arg;
}

/* E5: an operator pours its bytes from the DRAM through the arithmetic. */
static bool simulate(const void *params, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown)
{
    const struct roofline_params *p = params;
    struct dse_oplist l;
    double time_s[DSE_OPS_MAX];
    dse_workload_expand(&p->workload, &l);
    struct dse_pour_spec spec = {.port = dse_dram_open(sim, &p->dram), .label = "operands", .id = -1};
    if (dse_sim_error(sim)) return false;
    spec.sample_bytes = (uint64_t)(p->stream_mib * DSE_MIB);
    spec.period_s = p->dram.timing.t_refi_ns / DSE_GIGA;
    spec.window_bytes = spec.flight_bytes = dse_feed_flight(&p->dram, (uint64_t)p->dram.channels);
    spec.chunk_bytes = spec.flight_bytes / 8;
    spec.address = dse_dram_reserve(spec.port, spec.sample_bytes, 0);
    spec.resource = dse_resource(sim, NULL, "arithmetic");
    spec.actor = dse_sim_actor(sim, idle, NULL);
    for (int i = 0; i < l.n; i++) {
        spec.bytes = (uint64_t)ceil(bytes_of(&l.op[i]));
        spec.work = l.op[i].name;
        spec.work_s = time_s[i] = compute_s(p, &l.op[i]);
        if (spec.bytes == 0) continue;
        const struct dse_pour *pour = dse_pour_new(sim, &spec);
        if (!dse_sim_run(sim)) return false;
        time_s[i] = dse_max(dse_pour_result(pour).time_s, bytes_of(&l.op[i]) / dse_dram_peak(&p->dram)); /* as it is extrapolated */
    }
    report(p, &l, time_s, metrics, breakdown);
    return true;
}

const struct dse_model dse_model_roofline = {.name = "roofline",
                                             .title = "an ideal roofline machine",
                                             .cite = "S. Williams et al., Roofline, CACM 52(4), 2009",
                                             .version = 1,
                                             .params = params_table,
                                             .params_size = sizeof(P),
                                             .metrics = dse_common_metrics,
                                             .metrics_size = sizeof(struct dse_common),
                                             .without = without,
                                             .trends = trends,
                                             .resolve = resolve,
                                             .check = check,
                                             .shortage = shortage,
                                             .estimate = estimate,
                                             .simulate = simulate};

DSE_PLUGIN(&dse_model_roofline);
