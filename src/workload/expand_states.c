/* Layers whose memory is a state: gated delta rule, lightning attention, Mamba. */
#include "workload/expand.h"

#include <dse/units.h>

/* One layer of one kind, of one chip. */
struct shape {
    int64_t projected, given; /* columns of what makes its inputs; rows of the output projection */
    int64_t state, channels;  /* elements of a sequence; channels of the convolution */
    int64_t passes;           /* multiply-adds an element of the state and token */
};

static struct shape shape_of(const struct expansion *x, const struct dse_llm_states *s, enum dse_mixer mixer)
{
    const int64_t t = x->tensor, keys = expand_share(s->state_key_heads, t) * s->state_key_dim;
    const int64_t heads = expand_share(s->state_value_heads, t), values = heads * s->state_value_dim;
    const int64_t inner = expand_share(s->ssm_inner, t), shared = 2 * expand_share(s->ssm_groups, t) * s->ssm_state;
    switch (mixer) {
    case DSE_DELTA:
        return (struct shape){2 * keys + 2 * values + 2 * heads, values, values * s->state_key_dim, 2 * keys + values, 3};
    case DSE_KDA:
        return (struct shape){llm_kda_projected(s, heads), values, values * s->state_key_dim, 2 * heads * s->state_key_dim + values,
                              3};
    case DSE_LIGHTNING: return (struct shape){4 * values, values, values * s->state_key_dim, 0, 2};
    case DSE_MAMBA: return (struct shape){2 * inner, inner, inner * s->ssm_state, inner, 2};
    case DSE_MAMBA2:
        return (struct shape){2 * inner + shared + expand_share(s->ssm_heads, t), inner, inner * s->ssm_state, inner + shared, 2};
    case DSE_CONVOLUTION: {
        const int64_t d = expand_share(x->llm->hidden, t);
        return (struct shape){3 * d, d, 0, d, 0};
    }
    default: return (struct shape){0};
    }
}

static void recurrence(struct expansion *x, const struct shape *s, int64_t kernel, int64_t layers)
{
    const int64_t sequences = x->sequences + (x->chunk > 0 ? 1 : 0);
    const double instances = (double)layers * (double)sequences;
    const double bytes =
        (double)s->state * x->state_bytes + (double)(s->channels * (kernel > 0 ? kernel - 1 : 0)) * DSE_CONVOLUTION_BYTES;
    const double macs = (double)(s->passes * s->state + s->channels * kernel);
    struct dse_op *op = expand_add(x, DSE_ROLE_RECURRENCE, layers, x->rows, 1, s->state > 0 ? s->state : s->channels);
    op->kv_read_bytes = op->kv_write_bytes = instances * bytes;
    op->ops = DSE_OPS_PER_MAC * (double)layers * (double)x->rows * macs;
}

/* Recurrences that are alike: `k` has one of them. */
static void add_recurrences(struct expansion *x, const struct dse_layer_kind *k, enum dse_mixer mixer, int64_t layers)
{
    const struct dse_llm_states *of = &k->shape.states;
    const struct shape s = shape_of(x, of, mixer);
    struct dse_op *op = expand_linear(x, DSE_ROLE_STATE_PROJECTION, layers, x->rows, x->llm->hidden, s.projected);
    if (k->beside != DSE_NO_MIXER) op->follows_norm = false; /* attention's projection does */
    if (mixer == DSE_MAMBA) {                                /* dt, B and C from the channels; dt to its full width */
        expand_linear(x, DSE_ROLE_STATE_PARAMETERS, layers, x->rows, s.given, of->ssm_dt_rank + 2 * of->ssm_state);
        expand_linear(x, DSE_ROLE_STATE_STEPS, layers, x->rows, of->ssm_dt_rank, s.given);
    }
    const int64_t raised = mixer == DSE_KDA ? llm_kda_raised(of, expand_share(of->state_value_heads, x->tensor)) : 0;
    if (raised > 0) /* decays and the gate, from their rank to their width */
        expand_linear(x, DSE_ROLE_STATE_STEPS, layers, x->rows, of->state_value_dim, raised);
    recurrence(x, &s, of->conv_kernel, layers);
    expand_linear(x, DSE_ROLE_STATE_OUTPUT, layers, x->rows, s.given, x->llm->hidden);
}

void expand_recurrences(struct expansion *x)
{
    static const enum dse_mixer mixers[] = {DSE_DELTA, DSE_KDA, DSE_LIGHTNING, DSE_MAMBA, DSE_MAMBA2, DSE_CONVOLUTION};
    const struct dse_llm *llm = x->llm;
    for (size_t m = 0; m < sizeof mixers / sizeof *mixers; m++)
        for (size_t i = 0; i < llm->n_kinds; i++) {
            int64_t layers = 0;
            if (llm->kinds[i].same_states != i || llm_recurrence(&llm->kinds[i]) != (int32_t)mixers[m]) continue;
            for (size_t j = i; j < llm->n_kinds; j++) layers += llm->kinds[j].same_states == i ? x->layers[j] : 0;
            if (layers > 0) add_recurrences(x, &llm->kinds[i], mixers[m], layers);
        }
}
