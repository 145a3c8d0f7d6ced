/* An LLM whose layers are counted, or why its rows do not fit together. */
#include "workload/llm.h"

#include "workload/expand.h"

#include <dse/llm.h>

#include <stdio.h>
#include <string.h>

static const char *check_cover(const struct dse_llm *llm, const char *name, const struct dse_pattern *p)
{
    static _Thread_local char why[160];
    if (p->n == 0 || llm->layers % p->n == 0) return NULL;
    snprintf(why, sizeof why, "%s has %lld names, which do not cover %lld layers: all of them, or a number that divides it", name,
             (long long)p->n, (long long)llm->layers);
    return why;
}

static const char *check_heads(const struct dse_layer_shape *s)
{
    if (s->heads == 0 || s->kv_heads == 0 || s->head_dim == 0) return "attention needs heads, kv_heads and head_dim";
    if (s->kv_heads > s->heads) return "kv_heads is greater than heads";
    if (s->heads % s->kv_heads != 0) return "heads is not a multiple of kv_heads";
    if (s->cache.values_from_keys && llm_value_dim(s) != s->head_dim) return "values_from_keys needs values as wide as keys";
    if (s->cache.idle_keys && !s->cache.shares_cache) return "idle_keys needs shares_cache";
    return NULL;
}

/* Why, and of which layer, counted from 0 as in the names of tensors. */
static const char *of_layer(const struct dse_llm *llm, int64_t layer, const char *why)
{
    static _Thread_local char named[300];
    const char *kind = dse_llm_layer(llm, layer)->name;
    snprintf(named, sizeof named, "%s (layer %lld%s%.100s)", why, (long long)layer, kind ? ", kinds." : "", kind ? kind : "");
    return named;
}

/* The first layer that shares the choice of an indexer must find one before it. */
static const char *check_choices(const struct dse_llm *llm)
{
    for (int64_t i = 0; i < llm->layers && dse_llm_layer(llm, i)->attention != DSE_LATENT_TOPK; i++)
        if (dse_llm_layer(llm, i)->attention == DSE_LATENT_SHARED)
            return of_layer(llm, i, "latent-top-k-shared needs a layer of latent-top-k before it");
    return NULL;
}

static bool same_cache(const struct dse_layer_kind *a, const struct dse_layer_kind *b)
{
    return a->attention == b->attention && a->shape.kv_heads == b->shape.kv_heads && a->shape.head_dim == b->shape.head_dim &&
           llm_value_dim(&a->shape) == llm_value_dim(&b->shape) && llm_reach(a) == llm_reach(b);
}

/* A layer that shares a cache must find one like it before it. */
static const char *check_caches(const struct dse_llm *llm)
{
    for (int64_t i = 0; i < llm->layers; i++) {
        const struct dse_layer_kind *k = dse_llm_layer(llm, i);
        bool found = !k->shape.cache.shares_cache || !llm_is_grouped(k->attention);
        for (int64_t j = 0; j < i && !found; j++) {
            const struct dse_layer_kind *before = dse_llm_layer(llm, j);
            found = !before->shape.cache.shares_cache && same_cache(before, k);
        }
        if (!found)
            return of_layer(
                llm, i,
                "shares_cache needs a layer before it with the same attention, kv_heads and head_dim and a cache of its own");
    }
    return NULL;
}

static const char *check_latent(const struct dse_layer_shape *s, bool top_k)
{
    const struct dse_llm_latent *m = &s->latent;
    if (s->heads == 0 || m->kv_rank == 0 || m->nope_dim == 0 || m->rope_dim == 0 || m->v_head_dim == 0)
        return "latent attention needs heads, kv_rank, nope_dim, rope_dim and v_head_dim";
    if (top_k && (m->index_heads == 0 || m->index_dim == 0 || m->index_topk == 0 || m->q_rank == 0))
        return "latent-top-k needs index_heads, index_dim, index_topk and q_rank";
    return NULL;
}

static const char *check_top_k(const struct dse_layer_shape *s)
{
    const struct dse_llm_latent *m = &s->latent;
    if (m->index_heads == 0 || m->index_dim == 0 || m->index_topk == 0)
        return "full-top-k needs index_heads, index_dim and index_topk";
    return check_heads(s);
}

static const char *check_compressed(const struct dse_layer_shape *s)
{
    const struct dse_llm_compression *c = &s->compression;
    if (s->heads == 0 || s->head_dim == 0 || s->attention_window == 0 || s->latent.q_rank == 0 || c->output_groups == 0 ||
        c->output_rank == 0)
        return "compressed needs heads, head_dim, attention_window, q_rank, output_groups and output_rank";
    if (s->heads % c->output_groups != 0) return "heads is not a multiple of output_groups";
    if (c->compress_ratio > 0 && c->compress_width == 0) return "compress_ratio needs compress_width";
    if (s->latent.index_topk > 0 && (c->compress_ratio == 0 || s->latent.index_heads == 0 || s->latent.index_dim == 0))
        return "an indexer of compressed needs compress_ratio, index_heads and index_dim";
    return NULL;
}

static const char *check_mixer(const struct dse_layer_shape *of, int32_t mixer)
{
    const struct dse_llm_states *s = &of->states;
    const bool linear = s->state_key_dim > 0 && s->state_value_heads > 0 && s->state_value_dim > 0;
    switch ((enum dse_mixer)mixer) {
    case DSE_FULL: return check_heads(of);
    case DSE_WINDOW:
    case DSE_CHUNK: return of->attention_window == 0 ? "attention to a window or a chunk needs attention_window" : check_heads(of);
    case DSE_FULL_TOPK: return check_top_k(of);
    case DSE_LATENT: return check_latent(of, false);
    case DSE_LATENT_TOPK:
    case DSE_LATENT_SHARED: return check_latent(of, true);
    case DSE_COMPRESSED: return check_compressed(of);
    case DSE_DELTA:
        return linear && s->state_key_heads > 0 && s->conv_kernel > 0
                   ? NULL
                   : "delta needs state_key_heads, state_key_dim, state_value_heads, state_value_dim and conv_kernel";
    case DSE_KDA:
        return linear && s->conv_kernel > 0 ? NULL : "kda needs state_key_dim, state_value_heads, state_value_dim and conv_kernel";
    case DSE_LIGHTNING: return linear ? NULL : "lightning needs state_key_dim, state_value_heads and state_value_dim";
    case DSE_MAMBA:
        return s->ssm_inner > 0 && s->ssm_state > 0 && s->ssm_dt_rank > 0 && s->conv_kernel > 0
                   ? NULL
                   : "mamba needs ssm_inner, ssm_state, ssm_dt_rank and conv_kernel";
    case DSE_MAMBA2:
        return s->ssm_inner > 0 && s->ssm_state > 0 && s->ssm_heads > 0 && s->ssm_groups > 0 && s->conv_kernel > 0
                   ? NULL
                   : "mamba-2 needs ssm_inner, ssm_state, ssm_heads, ssm_groups and conv_kernel";
    case DSE_CONVOLUTION: return s->conv_kernel > 0 ? NULL : "convolution needs conv_kernel";
    case DSE_NO_MIXER:
    case DSE_MIXERS: break;
    }
    return NULL;
}

static const char *check_network(const struct dse_layer_shape *s, int32_t feed_forward)
{
    const struct dse_llm_experts *e = &s->moe;
    if (feed_forward == DSE_FFN_DENSE) return s->ffn > 0 ? NULL : "a dense feed-forward network needs ffn";
    if (feed_forward != DSE_FFN_EXPERTS) return NULL;
    if (e->experts == 0 || e->experts_active == 0 || e->expert_ffn == 0)
        return "experts need experts, experts_active and expert_ffn";
    return e->experts_active > e->experts ? "experts_active is greater than experts" : NULL;
}

static const char *why_not(const struct dse_layer_kind *k)
{
    const char *why = check_mixer(&k->shape, k->attention);
    if (!why) why = check_mixer(&k->shape, k->beside);
    if (!why) why = check_network(&k->shape, k->feed_forward);
    if (why) return why;
    if (k->attention == DSE_NO_MIXER && k->feed_forward == DSE_NO_FFN)
        return "a layer has neither a mixer nor a feed-forward network";
    if (k->beside != DSE_NO_MIXER &&
        (!llm_is_recurrent(k->beside) || k->attention == DSE_NO_MIXER || llm_is_recurrent(k->attention)))
        return "beside is a recurrence that stands beside attention";
    return NULL;
}

static const char *check_kind(const struct dse_layer_kind *k)
{
    static _Thread_local char named[300];
    const char *why = why_not(k);
    if (!why || !k->name) return why;
    snprintf(named, sizeof named, "%s (kinds.%.100s)", why, k->name);
    return named;
}

static const char *check_layer_kinds(const struct dse_llm *llm)
{
    static _Thread_local char why[200];
    if (llm->layer_kinds.n == 0) return NULL;
    if (llm->attention.n > 0 || llm->feed_forward.n > 0 || llm->dense_layers > 0)
        return "layer_kinds says what each layer is: attention, feed_forward and dense_layers say it again";
    for (size_t i = 0; i < llm->n_kinds; i++) {
        if (llm->kinds[i].layers > 0) continue;
        snprintf(why, sizeof why, "no layer is of the kind %.100s (layer_kinds)", llm->kinds[i].name);
        return why;
    }
    return NULL;
}

/* Bits of weights that the LLM does not have would move nothing. */
static const char *check_formats(const struct dse_llm *llm)
{
    static _Thread_local char why[100];
    struct dse_llm_counts n;
    dse_llm_count(llm, &n);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        if (n.matrices[i] > 0 || !(llm->formats.bits[i] > 0 || llm->formats.scale_bits[i] > 0)) continue;
        snprintf(why, sizeof why, "the LLM has no weights of this class: %s_bits, %s_scale_bits", dse_weight_class_names[i],
                 dse_weight_class_names[i]);
        return why;
    }
    return class_bits_fault(&llm->formats);
}

static const char *check_residual(const struct dse_llm *llm)
{
    return llm->residual.altup && llm->residual.residual_streams == 0 ? "altup needs residual_streams" : NULL;
}

/* Layers of cross attention have the LLM's heads, and a dense network. */
static const char *check_seeing(const struct dse_llm *llm)
{
    const char *why = llm->seeing.cross_layers > 0 ? check_heads(&llm->shape) : NULL;
    return why || llm->seeing.cross_layers == 0 || llm->ffn > 0 ? why : "cross_layers need ffn";
}

static const char *check_patterns(const struct dse_llm *llm)
{
    const char *why = check_cover(llm, "attention", &llm->attention);
    if (!why) why = check_cover(llm, "feed_forward", &llm->feed_forward);
    if (!why) why = check_cover(llm, "layer_kinds", &llm->layer_kinds);
    return !why && llm->dense_layers > llm->layers ? "dense_layers is greater than layers" : why;
}

static const char *check_layers(const struct dse_llm *llm)
{
    static const char *(*const checks[])(const struct dse_llm *) = {check_layer_kinds, check_choices, check_caches, check_residual,
                                                                    check_seeing};
    const char *why = NULL;
    for (size_t i = 0; !why && i < sizeof checks / sizeof *checks; i++) why = checks[i](llm);
    for (size_t i = 0; !why && i < llm->n_kinds; i++) why = check_kind(&llm->kinds[i]);
    return why;
}

static void find_idle(struct dse_llm *llm)
{
    struct dse_llm_counts n;
    dse_llm_count(llm, &n);
    memcpy(llm->idle, n.idle, sizeof llm->idle);
}

const char *dse_llm_resolve(struct dse_llm *llm)
{
    const char *why = check_patterns(llm);
    if (why) return why;
    llm_count_layers(llm);
    why = check_layers(llm);
    llm_find_same(llm);
    if (!why) find_idle(llm);
    if (!why && !expand_fits(llm)) why = "its layers are of too many kinds for a list of operators (layer_kinds)";
    return why ? why : check_formats(llm);
}
