/* Calls put together: a step, a request, the best number of query rows; energy, memory, and the breakdown. */
#include "ane.h"

#include <dse/num.h>
#include <dse/units.h>

#include <math.h>

/* E7. */
double ane_prefill_calls(const struct ane_params *p, const struct ane_shape *s, double prompt)
{
    return p->cache == ANE_NONE ? 1 : dse_ceil(prompt / s->rows);
}

/* Seconds of `calls` calls of one sequence, with the host's gaps and the slides: so many of them after each call. */
static double calls_s(const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide, double calls,
                      double slides)
{
    double gap = p->host_gap_us / DSE_US_PER_S;
    return calls * (c->time_s + c->send_s + gap + slides * slide->exposed_s);
}

double ane_prefill_s(const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide, double prompt)
{
    const double calls = ane_prefill_calls(p, &c->shape, prompt);
    return ane_stages(p) * (calls_s(p, c, slide, calls, slide->per_prefill_call) - calls * ane_llms_undrafted_s(p, c));
}

double ane_generate_s(const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide, double generate)
{
    const double calls = generate / dse_accepted(&p->workload.speculation);
    return ane_stages(p) * calls_s(p, c, slide, calls, slide->per_generate_call);
}

double ane_joules(const struct ane_params *p, double exposed_s, double busy_s, double ops, double bytes)
{
    const double dram = dse_dram_joules(&p->dram, bytes);
    if (p->power == DSE_POWER_CONSTANT) return p->reference_power_w * exposed_s + dram;
    return p->engine_base_w * busy_s + p->engine_op_pj * DSE_PICO * ops + dram;
}

double ane_gap_joules(const struct ane_params *p, double gap_s, double idle_s)
{
    return p->power == DSE_POWER_CONSTANT ? p->reference_power_w * gap_s : p->engine_idle_w * idle_s;
}

double ane_footprint_of(const struct ane_params *p, const struct ane_call *c)
{
    return c->shape.simple ? ane_footprint(p, &c->shape) : c->held_bytes + ane_llms_kept_bytes(p, c);
}

double ane_footprint(const struct ane_params *p, const struct ane_shape *s)
{
    if (!s->simple) return ane_llms_footprint(p, s);
    struct dse_workload w = p->workload;
    double row = 2 * s->layers * s->row_bytes, sequences = (double)w.batch;
    w.context = 0;
    double weights = dse_workload_footprint(&w);
    if (p->cache == ANE_NONE) return weights + s->window * row / s->layers; /* K and V of the layer at work */
    bool copy = p->cache != ANE_CHUNKS && p->cache != ANE_LAZY_SOFTMAX;     /* the cache being written while the old one is read */
    return weights + (sequences * s->window + (copy ? s->cached : 0)) * row;
}

/* ---- a step ------------------------------------------------------------------------------------------------------------- */

/* (row, position) pairs of a prompt: row i sees i positions, and no more than the window. */
static double prompt_pairs(double prompt, double window)
{
    double rising = dse_min(prompt, window);
    return rising * (rising + 1) / 2 + (prompt - rising) * window;
}

double ane_mean_seen(double first, double last, double window)
{
    return (prompt_pairs(last, window) - prompt_pairs(first - 1, window)) / (last - first + 1);
}

/* E20, E21: rows that are verified, and the calls of a prompt's chunk. */
static void add_llms(struct ane_step *s, const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide)
{
    const struct ane_request r = ane_request_of(p);
    const bool prefill = p->workload.phase == DSE_PREFILL;
    const double chunk = ane_chunk_calls(p, &c->shape), slides = chunk * slide->per_prefill_call;
    s->all_calls += chunk;
    s->all_slides += slides;
    s->time_s += calls_s(p, c, slide, chunk, slide->per_prefill_call);
    s->bytes += chunk * c->bytes + slides * slide->bytes;
    s->joules += chunk * ane_joules(p, c->time_s, c->time_s, c->ops, c->bytes) +
                 slides * ane_joules(p, slide->exposed_s, slide->time_s, 0, slide->bytes);
    if (prefill) {
        s->useful_ops += ane_stages(p) * (double)p->workload.batch * ane_llms_seen_ops(c, 1, r.prompt);
        return;
    }
    const double rows = ane_verified_rows(p);
    const double sequences = (double)p->workload.batch, asked = sequences * rows + (double)p->workload.chunk_tokens;
    s->tokens = sequences * dse_accepted(&p->workload.speculation);
    s->asked_rows = s->sequences * rows + (double)p->workload.chunk_tokens;
    s->useful_ops = asked * c->row_ops + sequences * (rows * c->head_ops + c->draft_ops) + ane_llms_step_ops(p, c, &r);
    s->useful_ops *= ane_stages(p);
}

/* E22, E23: from what one engine does to what all do. Those that wait for a sequence draw what one draws that waits for its
 * host. */
static void add_chips(struct ane_step *s, const struct ane_params *p, const struct ane_call *c)
{
    const double chips = (double)dse_workload_chips(&p->workload), passes = dse_max(ane_stages(p), s->sequences);
    s->time_s = s->working_s / s->sequences * passes;
    s->send_s = s->all_calls * c->send_s;
    s->joules += ane_gap_joules(p, s->send_s, s->send_s);
    s->waiting_s = dse_max(0, chips * s->time_s - s->engines * s->working_s);
    s->waiting_joules = ane_gap_joules(p, s->waiting_s, s->waiting_s);
    s->link_joules = s->engines * s->all_calls * c->send_joules;
    s->bytes *= s->engines;
    s->joules = s->joules * s->engines + s->waiting_joules + s->link_joules;
}

void ane_step_init(struct ane_step *ret, const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide)
{
    struct ane_request r = ane_request_of(p);
    bool prefill = p->workload.phase == DSE_PREFILL;
    double all = (double)p->workload.batch, sequences = ane_group_sequences(p), window = c->shape.window;
    double calls = prefill ? ane_prefill_calls(p, &c->shape, r.prompt) : 1;
    double each = prefill ? slide->per_prefill_call : slide->per_generate_call, slides = calls * each;
    double first = r.generate > 0 ? r.prompt + 1 : r.last;
    double rows = prefill ? r.prompt : 1;
    double pairs = prefill ? prompt_pairs(r.prompt, window) : ane_mean_seen(first, r.last, window);
    if (!c->shape.simple) pairs = 0;
    *ret = (struct ane_step){
        .sequences = sequences,
        .calls = calls,
        .slides = slides,
        .tokens = all * rows,
        .engines = ane_stages(p) * (all / sequences),
        .all_calls = sequences * calls,
        .all_slides = sequences * slides,
        .asked_rows = sequences * rows,
        .time_s = sequences * calls_s(p, c, slide, calls, each),
        .bytes = sequences * (calls * c->bytes + slides * slide->bytes),
        .joules = sequences * (calls * ane_joules(p, c->time_s, c->time_s, c->ops, c->bytes) +
                               slides * ane_joules(p, slide->exposed_s, slide->time_s, 0, slide->bytes)),
        .useful_ops = ane_stages(p) * all * (rows * c->row_ops + pairs * c->pair_ops + c->head_ops),
    };
    if (!c->shape.simple) add_llms(ret, p, c, slide);
    ret->gap_s = ret->all_calls * p->host_gap_us / DSE_US_PER_S;
    ret->idle_s = dse_max(0, ret->gap_s - ret->all_slides * (slide->time_s - slide->exposed_s));
    ret->joules += ane_gap_joules(p, ret->gap_s, ret->idle_s);
    ret->working_s = ret->time_s;
    if (dse_workload_chips(&p->workload) > 1) add_chips(ret, p, c);
}

/* ---- the best number of query rows ---------------------------------------------------------------------------------------- */

struct best {
    const struct ane_params *p;
    struct ane_request r;
    double rows, time_s;
};

static void try_rows(struct best *b, double rows)
{
    struct ane_shape s;
    struct ane_call c;
    ane_shape_init(&s, b->p, rows, b->r.kept);
    if (s.rows > s.window || ane_verified_rows(b->p) > s.rows || !ane_fits(b->p, &s, b->r.kept)) return;
    ane_call_init(&c, b->p, &s);
    struct ane_slide_run slide = ane_slide_of(b->p, &c);
    double time_s = ane_prefill_s(b->p, &c, &slide, b->r.prompt) + ane_generate_s(b->p, &c, &slide, b->r.generate);
    if (time_s >= b->time_s) return;
    b->rows = s.rows;
    b->time_s = time_s;
}

/* Every multiple of row_multiple up to EACH of them; above, for every number of calls of the prompt, the fewest rows that do it. */
void ane_best_query_rows(const struct ane_params *p, double *ret_rows, double *ret_s)
{
    enum { EACH = 64 };
    struct best b = {.p = p, .r = ane_request_of(p), .rows = (double)NAN, .time_s = (double)INFINITY};
    double multiple = (double)p->row_multiple, most = p->window > 0 ? (double)p->window : b.r.kept;
    if (p->cache == ANE_NONE) {
        try_rows(&b, 1);
    } else {
        for (double n = 1; n <= EACH && n * multiple <= most; n++) try_rows(&b, n * multiple);
        for (double calls = 1; b.r.prompt / calls > EACH * multiple; calls++) {
            double rows = dse_ceil(b.r.prompt / calls / multiple) * multiple;
            if (rows <= most) try_rows(&b, rows);
        }
    }
    *ret_rows = b.rows;
    *ret_s = isinf(b.time_s) ? (double)NAN : b.time_s;
}

/* ---- the breakdown -------------------------------------------------------------------------------------------------------- */

struct out {
    const struct ane_params *p;
    double times;   /* calls of the step */
    double engines; /* times are of one, the rest of all */
    struct dse_breakdown *parts;
};

static void add(const struct out *o, const char *name, int depth, enum dse_bound bound, double time_s, double joules, double bytes,
                double ops)
{
    const double n = o->engines;
    dse_breakdown_merge(o->parts, dse_part_of(name, depth, dse_bound_names[bound], time_s, n * joules, n * bytes, n * ops));
}

static void add_op(const struct out *o, const struct ane_op *op, int depth)
{
    add(o, op->name, depth, op->bound, o->times * op->time_s,
        o->times * ane_joules(o->p, op->time_s, op->time_s, op->ops, op->bytes), o->times * op->bytes, o->times * op->ops);
}

/* All memory operations stand under attention, which is where they happen. */
static void add_attention(const struct out *o, const struct ane_call *c)
{
    struct ane_op sum = {.name = "attention"};
    double longest = 0;
    for (int i = 0; i < c->n_ops; i++) {
        if (!c->op[i].attention) continue;
        sum.time_s += c->op[i].time_s;
        sum.bytes += c->op[i].bytes;
        sum.ops += c->op[i].ops;
        if (c->op[i].time_s >= longest) {
            longest = c->op[i].time_s;
            sum.bound = c->op[i].bound;
        }
    }
    add_op(o, &sum, 0);
    for (int i = 0; i < c->n_ops; i++)
        if (c->op[i].attention) add_op(o, &c->op[i], 1);
}

static void add_causes(const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide,
                       const struct ane_step *s, struct dse_breakdown *out)
{
    if (p->power == DSE_POWER_CONSTANT) return;
    const double calls = s->all_calls, slides = s->all_slides;
    dse_breakdown_cause(out, "idle", p->engine_idle_w * (s->engines * (s->idle_s + s->send_s) + s->waiting_s));
    dse_breakdown_cause(out, "active", s->engines * p->engine_base_w * (calls * c->time_s + slides * slide->time_s));
    dse_breakdown_cause(out, "operations", s->engines * p->engine_op_pj * DSE_PICO * calls * c->ops);
    dse_breakdown_cause(out, "dram", dse_dram_joules(&p->dram, s->bytes));
    if (s->link_joules > 0) dse_breakdown_cause(out, "links", s->link_joules);
}

static void add_waits(const struct out *o, const struct ane_step *s)
{
    const double n = o->engines;
    if (s->send_s > 0)
        add(o, "communication", 0, DSE_BOUND_LATENCY, s->send_s, ane_gap_joules(o->p, s->send_s, s->send_s) + s->link_joules / n, 0,
            0);
    if (s->waiting_s > 0) add(o, "bubble", 0, DSE_BOUND_LATENCY, s->time_s - s->working_s, s->waiting_joules / n, 0, 0);
}

void ane_break_down(const struct ane_params *p, const struct ane_call *c, const struct ane_slide_run *slide,
                    const struct ane_step *s, struct dse_breakdown *out)
{
    struct out o = {.p = p, .times = s->all_calls, .engines = s->engines, .parts = out};
    double slides = s->all_slides;
    for (int i = 0; i < c->n_ops; i++) {
        if (!c->op[i].attention) add_op(&o, &c->op[i], 0);
        if (i == 0) add_attention(&o, c);
    }
    add(&o, "dispatch", 0, DSE_BOUND_LATENCY, o.times * c->dispatch_s, o.times * ane_joules(p, c->dispatch_s, c->dispatch_s, 0, 0),
        0, 0);
    add(&o, "slide", 0, DSE_BOUND_DRAM, slides * slide->exposed_s,
        slides * ane_joules(p, slide->exposed_s, slide->time_s, 0, slide->bytes), slides * slide->bytes, 0);
    add(&o, "host_gap", 0, DSE_BOUND_LATENCY, s->gap_s, ane_gap_joules(p, s->gap_s, s->idle_s), 0, 0);
    add_waits(&o, s);
    add_causes(p, c, slide, s, out);
}
