/* The workload's parameters and the expansion of a step into operators. */
#include "workload/expert_loads.h"
#include "workload/llm.h"

#include <dse/llm.h>
#include <dse/num.h>
#include <dse/units.h>
#include <dse/workload.h>
#include <math.h>

#include <stddef.h>

static const char *const phases[] = {[DSE_DECODE] = "decode", [DSE_PREFILL] = "prefill", NULL};
static const char *const latent_forms[] = {
    [DSE_LATENT_ABSORBED] = "absorbed", [DSE_LATENT_EXPANDED] = "expanded", [DSE_LATENT_BY_PHASE] = "by-phase", NULL};
const char *const dse_routing_names[] = {[DSE_ROUTING_BALANCED] = "balanced",
                                         [DSE_ROUTING_UNIFORM] = "uniform",
                                         [DSE_ROUTING_POWER_LAW] = "power-law",
                                         [DSE_ROUTING_PROFILE] = "profile",
                                         NULL};
static const char *const drafters[] = {[DSE_DRAFT_HEADS] = "heads", [DSE_DRAFT_LAYER] = "layer", [DSE_DRAFT_LLM] = "llm", NULL};

static const char the_workload[] = "the workload";

#define S struct dse_speculation
static const struct dse_param speculation[] = {
    DSE_PARAM_I64(S, draft_tokens, 0, 64, "tokens drafted per verified step; 0: no speculative decoding", "arXiv:2211.17192"),
    DSE_PARAM_ENUM(S, drafter, drafters, "drafter: extra output heads (Medusa), one layer like the LLM's (EAGLE, MTP), or an LLM",
                   "arXiv:2401.10774, arXiv:2401.15077"),
    DSE_PARAM_REF(S, draft, struct dse_llm, DSE_KIND_LLM, "drafter = llm: the LLM that drafts", "arXiv:2211.17192"),
    DSE_PARAM_F64(S, acceptance, "", 0, 1, "probability that the first drafted token is accepted", "arXiv:2211.17192"),
    DSE_PARAM_F64(S, acceptance_decay, "", 0, 1, "acceptance of a drafted token over acceptance of the one before",
                  "docs/explanation/llms.md"),
    DSE_PARAM_F64(S, accepted_length, "", 0, 65, "measured tokens per verified step; 0: from drafts", "docs/explanation/llms.md"),
    DSE_PARAM_REF(S, drafts, struct dse_drafts, DSE_KIND_DRAFTS,
                  "measured tokens per verified step, by draft_tokens; \"law\": from acceptance", "catalog/drafts.toml"),
    DSE_PARAM_END,
};
#undef S

#define W struct dse_workload
const struct dse_param dse_workload_params[] = {
    DSE_PARAM_REF(W, llm, struct dse_llm, DSE_KIND_LLM, "the LLM that runs", "catalog/llms.toml"),
    DSE_PARAM_ENUM(W, phase, phases, "one decode step, or the prefill of a prompt", the_workload),
    DSE_PARAM_I64(W, batch, 1, 65536, "sequences processed together", the_workload),
    DSE_PARAM_I64(W, context, 1, 1048576, "decode: positions in the KV cache, the newest included; prefill: length of the prompt",
                  the_workload),
    DSE_PARAM_F64(W, context_spread, "", 0, 1, "decode: standard deviation of the sequences' contexts over their mean, context",
                  the_workload),
    DSE_PARAM_I64(W, chunk_tokens, 0, 65536, "decode: prompt tokens processed in the same step (chunked prefill)",
                  "arXiv:2308.16369"),
    DSE_PARAM_I64(W, chunk_context, 0, 1048576, "positions of the chunk's prompt before the chunk", "arXiv:2308.16369"),
    DSE_PARAM_REF(W, format, struct dse_formats, DSE_KIND_FORMATS,
                  "what weights are held in, by class: \"uniform\": all by weight_bits; \"checkpoint\": as the LLM was released",
                  "catalog/formats.toml"),
    DSE_PARAM_I64_UNIT(W, weight_bits, "bit", 2, 32, "width of a stored weight, but for classes that format gives another",
                       the_workload),
    DSE_PARAM_F64(W, weight_scale_bits, "bit", 0, 16, "scales and zero points per weight: 16 / group; 0: not counted",
                  "arXiv:2210.17323"),
    DSE_PARAM_I64_UNIT(W, kv_bits, "bit", 2, 32, "width of a stored key or value element", the_workload),
    DSE_PARAM_F64_AUTO(W, value_bits, "bit", 2, 32, NULL, "width of a stored value element, where keys have another; auto: kv_bits",
                       "Liu et al., KIVI, arXiv:2402.02750, Sec. 3"),
    DSE_PARAM_F64(W, kv_scale_bits, "bit", 0, 16,
                  "scales and zero points per key or value element: 32 / group; 0: scales and rounding loss not counted",
                  "Liu et al., KIVI, arXiv:2402.02750, Sec. 3"),
    DSE_PARAM_I64_UNIT(W, index_bits, "bit", 2, 32, "width of a stored key element of an indexer (DeepSeek-V3.2)", the_workload),
    DSE_PARAM_I64_UNIT(W, state_bits, "bit", 2, 32, "width of a stored element of a recurrent state (Mamba, delta rules)",
                       the_workload),
    DSE_PARAM_I64_UNIT(W, activation_bits, "bit", 2, 32, "width of an activation in matrix products", the_workload),
    DSE_PARAM_F64_AUTO(W, exchange_bits, "bit", 2, 32, NULL, "width of a number that chips exchange; auto: activation_bits",
                       "arXiv:1909.08053"),
    DSE_PARAM_ENUM(W, latent_form, latent_forms,
                   "latent attention: absorbed (queries in latent space), expanded (keys and values rebuilt), or absorbed in "
                   "decode only",
                   "arXiv:2405.04434, Sec. 2.1.2"),
    DSE_PARAM_ENUM(W, routing, dse_routing_names,
                   "routing of tokens: equal loads, random experts, power-law loads, or measured loads",
                   "docs/explanation/llms.md"),
    DSE_PARAM_F64(W, routing_exponent, "", 0, 10, "routing = power-law: exponent of the density of loads",
                  "docs/explanation/llms.md"),
    DSE_PARAM_REF(W, expert_loads, struct dse_expert_loads, DSE_KIND_EXPERT_LOADS,
                  "routing = profile: how often tokens choose each expert, as measured", "catalog/expert_loads"),
    DSE_EMBED(W, speculation, struct dse_speculation, speculation),
    DSE_PARAM_I64(W, tensor_parallel, 1, 1024, "chips that share the heads and widths of each layer", "arXiv:1909.08053"),
    DSE_PARAM_I64(W, pipeline_parallel, 1, 1024, "stages of chips that share the layers", "arXiv:1811.06965"),
    DSE_PARAM_I64(W, data_parallel, 1, 4096, "groups of chips that share the sequences", the_workload),
    DSE_PARAM_I64(W, expert_parallel, 1, 4096,
                  "groups of a stage's chips that share the routed experts; divides tensor_parallel x data_parallel",
                  "arXiv:2006.16668"),
    DSE_PARAM_END,
};
#undef W

const struct dse_param dse_request_params[] = {
    DSE_PARAM_I64(struct dse_request, prompt, 1, 1048576, "prompt tokens of a request", the_workload),
    DSE_PARAM_I64(struct dse_request, generate, 0, 1048576, "tokens generated after the prompt; 0: one step at context",
                  the_workload),
    DSE_PARAM_END,
};

double dse_llm_layer_weights(const struct dse_llm *llm)
{
    double hidden = (double)llm->hidden, q = (double)(llm->heads * llm->head_dim), kv = (double)(llm->kv_heads * llm->head_dim);
    return hidden * (2 * q + 2 * kv) + (double)llm->ffn_matrices * hidden * (double)llm->ffn;
}

double dse_llm_head_weights(const struct dse_llm *llm)
{
    return (double)llm->vocab * (double)llm->hidden;
}

void dse_workload_resolve(struct dse_workload *w)
{
    w->value_bits = dse_value_bits(w);
    w->exchange_bits = dse_exchange_bytes(w) * DSE_BITS_PER_BYTE;
}

/* Bytes of K and V of one token in one layer. */
static double kv_bytes_per_layer(const struct dse_llm *llm, double kv_bits)
{
    return 2 * (double)(llm->kv_heads * llm->head_dim) * kv_bits / DSE_BITS_PER_BYTE;
}

double dse_kv_bytes_per_token(const struct dse_llm *llm, double kv_bits)
{
    return (double)llm->layers * kv_bytes_per_layer(llm, kv_bits);
}

double dse_kv_row_bytes(const struct dse_workload *w)
{
    return (double)w->llm->head_dim * dse_kv_bits(w) / DSE_BITS_PER_BYTE;
}

/* ---- several chips -------------------------------------------------------------------------------------------------------- */

int64_t dse_workload_chips(const struct dse_workload *w)
{
    return dse_degree(w->tensor_parallel) * dse_degree(w->pipeline_parallel) * dse_degree(w->data_parallel);
}

/* ---- checks --------------------------------------------------------------------------------------------------------------- */

/* Heads can be shared evenly, and keys and values too, or copied. */
static const char *check_tensor(const struct dse_llm *llm, int64_t tensor)
{
    for (size_t i = 0; i < llm->n_kinds; i++) {
        const struct dse_layer_shape *s = &llm->kinds[i].shape;
        if (!llm_divides(tensor, s->heads)) return "tensor_parallel does not divide the LLM's heads";
        if (!llm_shares_keys(s, tensor)) return "neither tensor_parallel nor the LLM's kv_heads divides the other";
        if (!llm_shares_states(s, tensor)) return "tensor_parallel does not divide the heads of the LLM's recurrent layers";
    }
    return NULL;
}

static const char *check_degrees(const struct dse_workload *w)
{
    const int64_t tensor = dse_degree(w->tensor_parallel), expert = dse_degree(w->expert_parallel),
                  group = tensor * dse_degree(w->data_parallel);
    const char *why = check_tensor(w->llm, tensor);
    if (why) return why;
    if (dse_degree(w->pipeline_parallel) > w->llm->layers) return "pipeline_parallel is more than the LLM's layers";
    if (expert == 1) return NULL;
    if (dse_llm_fewest_experts(w->llm) == 0) return "expert_parallel needs an LLM with experts";
    if (expert > dse_llm_fewest_experts(w->llm)) return "expert_parallel is more than the LLM's experts";
    if (group % expert != 0) return "expert_parallel does not divide the chips of a stage (tensor_parallel x data_parallel)";
    return expert % tensor == 0 || tensor % expert == 0 ? NULL : "neither tensor_parallel nor expert_parallel divides the other";
}

static const char *check_speculation(const struct dse_workload *w)
{
    const struct dse_speculation *s = &w->speculation;
    if (w->phase == DSE_PREFILL) return NULL;
    if (s->drafter == DSE_DRAFT_LLM && !dse_llm_is_plain(s->draft))
        return "the drafting LLM needs full attention and dense networks (draft)";
    if (s->drafter == DSE_DRAFT_LLM && check_tensor(s->draft, dse_degree(w->tensor_parallel)))
        return "tensor_parallel does not divide the drafting LLM's heads (draft)";
    if (s->accepted_length > 0 && s->drafts && dse_drafts_measured(s->drafts))
        return "accepted_length and drafts cannot be combined: both give the tokens per verified step";
    if (s->drafts && dse_drafts_measured(s->drafts) && isnan(dse_drafts_length(s->drafts, s->draft_tokens)))
        return "the entry of drafts has no measurement at this draft_tokens";
    if (s->accepted_length > 1 + (double)s->draft_tokens) return "accepted_length is more than draft_tokens + 1";
    return s->accepted_length > 0 && s->accepted_length < 1
               ? "accepted_length is below 1: a verified step yields at least one token"
               : NULL;
}

const char *dse_workload_unknown(const struct dse_workload *w, unsigned can)
{
    if (!(can & DSE_CAN_LAYERS)) {
        const char *unlike = dse_llm_unlike_plain(w->llm);
        if (unlike) return unlike;
    }
    if (!(can & DSE_CAN_PARALLEL) && (dse_workload_chips(w) > 1 || w->expert_parallel > 1))
        return "this model has one chip (tensor_parallel, pipeline_parallel, data_parallel, expert_parallel)";
    if (!(can & DSE_CAN_SPECULATE) && w->speculation.draft_tokens > 0)
        return "this model has no speculative decoding (draft_tokens)";
    if (!(can & DSE_CAN_MIX) && (w->context_spread > 0 || w->chunk_tokens > 0))
        return "this model needs equal contexts and no prompt chunk (context_spread, chunk_tokens)";
    if (!(can & DSE_CAN_ACTIVATIONS) && w->activation_bits > 0 && w->activation_bits < 16)
        return "this model's activations have 16 bits (activation_bits)";
    if (!(can & DSE_CAN_FORMATS) && !dse_formats_uniform(w->format))
        return "this model's weights have one format: format = uniform, with weight_bits";
    if (!(can & DSE_CAN_SCALES) && w->weight_scale_bits > 0) return "this model's weights have no scales (weight_scale_bits)";
    return NULL;
}

/* A number that is all but some neutral value has no points. */
static bool narrow(int64_t *lo, int64_t *hi, int64_t neutral)
{
    const int64_t from = *lo, to = *hi;
    *lo = *hi = neutral;
    return from <= neutral && neutral <= to;
}

bool dse_workload_narrow(struct dse_workload *lo, struct dse_workload *hi, unsigned can)
{
    enum { WIDE = 16 };
    bool any = (can & DSE_CAN_LAYERS) || dse_llm_is_plain(lo->llm);
    if (!(can & DSE_CAN_PARALLEL))
        any = any && narrow(&lo->tensor_parallel, &hi->tensor_parallel, 1) &&
              narrow(&lo->pipeline_parallel, &hi->pipeline_parallel, 1) && narrow(&lo->data_parallel, &hi->data_parallel, 1) &&
              narrow(&lo->expert_parallel, &hi->expert_parallel, 1);
    if (!(can & DSE_CAN_SPECULATE)) any = any && narrow(&lo->speculation.draft_tokens, &hi->speculation.draft_tokens, 0);
    if (!(can & DSE_CAN_MIX)) {
        any = any && narrow(&lo->chunk_tokens, &hi->chunk_tokens, 0) && lo->context_spread <= 0;
        lo->context_spread = hi->context_spread = 0;
    }
    if (!(can & DSE_CAN_ACTIVATIONS)) {
        any = any && hi->activation_bits >= WIDE;
        lo->activation_bits = dse_max_i64(lo->activation_bits, WIDE);
    }
    if (!(can & DSE_CAN_FORMATS)) any = any && dse_formats_uniform(lo->format);
    if (!(can & DSE_CAN_SCALES)) {
        any = any && lo->weight_scale_bits <= 0;
        lo->weight_scale_bits = hi->weight_scale_bits = 0;
    }
    return any;
}

/* Loads are those of an LLM with so many experts, none of which a token can choose twice. */
static const char *check_routing(const struct dse_workload *w)
{
    if (w->routing != DSE_ROUTING_PROFILE || dse_llm_fewest_experts(w->llm) == 0) return NULL;
    if (!w->expert_loads) return "routing = profile needs expert_loads";
    for (size_t i = 0; i < w->llm->n_kinds; i++) {
        const struct dse_choice c = llm_choice(&w->llm->kinds[i].shape);
        if (w->llm->kinds[i].feed_forward != DSE_FFN_EXPERTS) continue;
        if (dse_expert_loads_experts(w->expert_loads) != c.routed)
            return "expert_loads and the LLM have different numbers of experts (expert_loads, llm)";
        if ((double)c.chosen * expert_loads_largest(w->expert_loads) > 1 + 1e-9)
            return "an expert would be chosen more than once per token (expert_loads, llm)";
    }
    return NULL;
}

const char *dse_workload_check(const struct dse_workload *w, unsigned can)
{
    const char *why = dse_workload_unknown(w, can);
    if (why) return why;
    if (w->context > w->llm->max_context) return "the context is longer than the LLM's max_context";
    if (w->phase == DSE_PREFILL && (w->context_spread > 0 || w->chunk_tokens > 0 || w->speculation.draft_tokens > 0))
        return "phase = prefill cannot be combined with draft_tokens, chunk_tokens or context_spread";
    if (w->chunk_tokens > 0 && w->chunk_context + w->chunk_tokens > w->llm->max_context)
        return "the chunk's prompt is longer than the LLM's max_context (chunk_context, chunk_tokens)";
    if (w->weight_scale_bits > 0 && w->weight_bits >= 16 && !dse_formats_complete(w->format))
        return "weights of 16 bits or more have no scales (weight_scale_bits)";
    why = check_routing(w);
    if (why) return why;
    why = dse_workload_chips(w) > 1 || w->expert_parallel > 1 ? check_degrees(w) : NULL;
    return why || w->speculation.draft_tokens == 0 ? why : check_speculation(w);
}

const char *dse_kv_format_check(const struct dse_workload *w)
{
    if (dse_kv_apart(w) && dse_llm_keys_hold_values(w->llm))
        return "the LLM keeps keys and values as one: value_bits must be kv_bits (value_bits, kv_bits, llm)";
    return w->kv_scale_bits > 0 && !dse_kv_scaled(w) ? "keys and values of 16 bits or more have no scales (kv_scale_bits, kv_bits)"
                                                     : NULL;
}

/* ---- sums ----------------------------------------------------------------------------------------------------------------- */

static bool is_simple(const struct dse_workload *w)
{
    return dse_llm_is_plain(w->llm) && dse_workload_chips(w) == 1 && w->speculation.draft_tokens == 0 && w->chunk_tokens == 0 &&
           w->context_spread <= 0;
}

/* Bytes that the sequences of a micro-batch keep: of positions, and states. What drafts runs its layers several times a pass. */
static double kept_bytes(const struct dse_oplist *list, double drafted)
{
    double bytes = 0;
    for (int i = 0; i < list->n_attentions; i++) {
        const struct dse_attention *a = &list->attention[i];
        bytes += (double)a->layers * (double)a->sequences * (double)a->kept * a->cached_bytes / (a->is_draft ? drafted : 1);
    }
    for (int i = 0; i < list->n; i++)
        if (list->op[i].kind == DSE_OP_RECURRENCE) bytes += list->op[i].kv_write_bytes / (list->op[i].is_draft ? drafted : 1);
    return bytes;
}

/* Of tables beside the embedding: learned positions, rows for images, and the inputs that layers have of their own. */
static double other_tables(const struct dse_llm *llm)
{
    return (double)((llm->details.positions + llm->seeing.input_rows) * llm->hidden) +
           (double)(llm->inputs.layer_input_vocab * llm->layers) * (double)llm->inputs.layer_input;
}

/* Of weights that no step uses. */
static double idle_bytes(const struct dse_workload *w)
{
    double bytes = 0;
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++)
        if (w->llm->idle[i] > 0)
            bytes += (double)w->llm->idle[i] * dse_held_bytes(dse_workload_held(w, w->llm, (enum dse_weight_class)i));
    return bytes;
}

double dse_workload_plain_weights(const struct dse_workload *w)
{
    const struct dse_llm *llm = w->llm;
    const double each[] = {dse_held_bytes(dse_workload_held(w, llm, DSE_WEIGHTS_ATTENTION)),
                           dse_held_bytes(dse_workload_held(w, llm, DSE_WEIGHTS_DENSE)),
                           dse_held_bytes(dse_workload_held(w, llm, DSE_WEIGHTS_HEAD)),
                           dse_held_bytes(dse_workload_held(w, llm, DSE_WEIGHTS_TABLES))};
    const double network = (double)llm->ffn_matrices * (double)llm->hidden * (double)llm->ffn;
    return (double)llm->layers * ((dse_llm_layer_weights(llm) - network) * each[0] + network * each[1]) +
           dse_llm_head_weights(llm) * (each[2] + (llm->embedding_tables > 1 ? each[3] : 0)) + other_tables(llm) * each[3] +
           idle_bytes(w);
}

/* The first stage of a pipeline has the embedding, the last one the output head: what the wider one has more is added. */
double dse_workload_table_bytes(const struct dse_workload *w)
{
    const struct dse_llm *llm = w->llm;
    const double tensor = (double)dse_degree(w->tensor_parallel), stages = (double)dse_degree(w->pipeline_parallel);
    const double each = dse_held_bytes(dse_workload_held(w, llm, DSE_WEIGHTS_TABLES)),
                 head = dse_held_bytes(dse_workload_held(w, llm, DSE_WEIGHTS_HEAD));
    const double more = stages > 1 ? dse_max(0, each - head) : each;
    return (llm->embedding_tables > 1 ? dse_llm_head_weights(llm) * more / tensor : 0) +
           (other_tables(llm) * each + idle_bytes(w)) / (tensor * stages);
}

double dse_workload_kept_bytes(const struct dse_workload *w, const struct dse_oplist *list)
{
    return (double)dse_workload_passes(w) * kept_bytes(list, (double)dse_max_i64(1, w->speculation.draft_tokens));
}

double dse_workload_footprint_beside(const struct dse_workload *w, const struct dse_oplist *list, double kept)
{
    const double drafted = (double)dse_max_i64(1, w->speculation.draft_tokens);
    double bytes = kept + dse_workload_table_bytes(w);
    for (int i = 0; i < list->n; i++) {
        const bool again = list->op[i].is_draft && w->speculation.drafter != DSE_DRAFT_HEADS; /* the same weights, several times */
        bytes += list->op[i].held_bytes / (again ? drafted : 1);
    }
    return bytes;
}

double dse_workload_footprint_of(const struct dse_workload *w, const struct dse_oplist *list)
{
    return dse_workload_footprint_beside(w, list, dse_workload_kept_bytes(w, list));
}

double dse_workload_footprint(const struct dse_workload *w)
{
    struct dse_oplist list;
    if (is_simple(w))
        return dse_workload_plain_weights(w) +
               (double)w->batch * (double)w->context * dse_kv_bytes_per_token(w->llm, dse_kv_bits(w));
    dse_workload_expand(w, &list);
    return dse_workload_footprint_of(w, &list);
}

double dse_accepted(const struct dse_speculation *s)
{
    if (s->draft_tokens == 0) return 1;
    if (s->accepted_length > 0) return s->accepted_length;
    const double measured = s->drafts ? dse_drafts_length(s->drafts, s->draft_tokens) : (double)NAN;
    if (measured > 0) return measured;
    double all = 1, reached = 1, accepted = s->acceptance;
    for (int64_t i = 0; i < s->draft_tokens; i++) {
        reached *= accepted;
        all += reached;
        accepted *= s->acceptance_decay;
    }
    return all;
}

double dse_workload_tokens(const struct dse_workload *w)
{
    if (w->phase == DSE_PREFILL) return (double)w->batch * (double)w->context;
    return (double)w->batch * dse_accepted(&w->speculation);
}
