/* Internal to the import of LLMs: keys of a config.json that no count depends on. They are read without a word; keys that are
 * neither here nor asked for by the rules of their architecture are not known (config_check_unread).
 *
 * A list is a text of keys with blanks between. "key=value" is there only with that value: true, false, {}, [], a whole number, a
 * word. */
#ifndef DSE_CONFIG_LLM_KEYS_H
#define DSE_CONFIG_LLM_KEYS_H

#include <stdbool.h>

struct json_t;

/* Is it a key that every class has, or one of the architecture's own list? */
bool llm_keys_uncounted(const char *list, const char *key, const struct json_t *value);
/* Beside a nested text model: does it belong to what sees, hears or speaks? */
bool llm_keys_beside_text(const char *key, const struct json_t *value);

/* How experts are chosen, balanced and trained: architectures with experts put it before their own keys. */
#define LLM_KEYS_EXPERTS \
    "norm_topk_prob norm_topk_probability scoring_func score_function score_func topk_method n_group topk_group " \
    "num_expert_group num_expert_groups routed_scaling_factor router_scaling_factor moe_router_topk_scaling_factor " \
    "moe_router_topk_limit_method output_router_logits router_aux_loss_coef router_aux_loss_factor router_z_loss_coef " \
    "router_z_loss_factor router_jitter_noise router_jitter_eps router_dtype aux_loss_alpha aux_loss_coef seq_aux " \
    "use_aux_loss moe_aux_loss_coef moe_z_loss_coef ep_size expert_parallel_size expert_capacity moe_capacity " \
    "expert_capacity_factor moe_capacity_factor moe_token_drop moe_implementation moe_backend use_grouped_topk " \
    "swiglu_limit swiglu_limits swiglu_alpha moe_router_dtype moe_router_load_balancing_type moe_router_score_function " \
    "moe_router_num_groups moe_router_group_topk "
/* How states are computed and trained. */
#define LLM_KEYS_STATES \
    "chunk_size mamba_chunk_size time_step_limit time_step_min time_step_max time_step_floor time_step_rank " \
    "time_step_scale time_step_init_scheme mamba_dt_min mamba_dt_max mamba_dt_init_floor mamba_hidden_act " \
    "mamba_ssm_cache_dtype mamba_ssm_dtype use_mamba_kernels rescale_prenorm_residual residual_in_fp32 fused_add_norm " \
    "norm_before_gate use_fast_path rms_norm=true "

#endif
