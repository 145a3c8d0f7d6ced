#include "config/llm_keys.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- what every class has ------------------------------------------------------------------------------------------------- */

/* Names, versions and files. */
#define KEYS_OF_FILES \
    "architectures model_type auto_map custom_pipelines transformers_version _name_or_path name_or_path _commit_hash " \
    "tokenizer_class processor_class tokenizer_type prefix license license_link model_name model_version base_model " \
    "language torch_dtype dtype params_dtype use_bfloat16 bf16 fp16 fp32 torchscript onnx transformers.js_config " \
    "_attn_implementation attn_implementation _attn_implementation_internal _attn_implementation_autoset " \
    "_experts_implementation attn_impl _flash_attn_2_enabled use_flash_attn use_flash_attention use_flash_attention_2 " \
    "use_flash_attn_rotary use_flash_rotary use_flash_rms_norm flash_attn use_sdpa use_sdp_attention use_fused_rmsnorm " \
    "use_fused_rope use_fused_rope_kernel fused_rmsnorm fused_swiglu fused_linear_cross_entropy fuse_norm fuse_swiglu " \
    "fuse_cross_entropy fuse_attention_qkv fuse_attention_ffn fuse_rms_norm fuse_linear fuse_rope fuse_softmax_mask " \
    "unsloth_version unsloth_fixed unsloth_training use_unsloth _mlx generation_config generation_params chat_template " \
    "add_bos_token add_eos_token bos_token eos_token pad_token unk_token sep_token cls_token mask_token "
/* What is generated, kept and returned. */
#define KEYS_OF_GENERATION \
    "max_length min_length max_new_tokens min_new_tokens do_sample early_stopping num_beams num_beam_groups " \
    "diversity_penalty temperature top_k top_p min_p typical_p epsilon_cutoff eta_cutoff repetition_penalty " \
    "encoder_repetition_penalty length_penalty penalty_alpha no_repeat_ngram_size encoder_no_repeat_ngram_size " \
    "bad_words_ids force_words_ids num_return_sequences output_scores output_logits output_attentions output_hidden_states " \
    "output_past return_dict use_return_dict return_dict_in_generate remove_invalid_values renormalize_logits " \
    "exponential_decay_length_penalty suppress_tokens begin_suppress_tokens forced_decoder_ids sequence_bias use_cache " \
    "cache_implementation cache_config num_logits_to_keep logits_to_keep calc_logits_for_entire_prompt max_window_size " \
    "max_sequence_length max_seq_len max_seq_length seq_length seq_len max_model_len model_max_length " \
    "tokenizer_model_max_length training_sequence_length chunk_size_feed_forward problem_type finetuning_task " \
    "task_specific_params id2label label2id num_labels summary_type summary_use_proj summary_activation " \
    "summary_first_dropout summary_proj_to_labels is_decoder tie_encoder_decoder is_encoder_decoder=false " \
    "add_cross_attention=false pruned_heads={} "
/* How it was trained. */
#define KEYS_OF_TRAINING \
    "initializer_range initializer_factor initializer_cutoff_factor initializer_std init_std init_method init_method_std " \
    "init_scale init_device embedding_initializer_range embd_initializer_range gradient_checkpointing " \
    "gradient_checkpointing_use_reentrant activation_checkpointing use_recompute recompute pretraining_tp " \
    "tensor_parallel_degree tensor_parallel_output sequence_parallel tf_legacy_loss loss_type label_smoothing " \
    "z_loss_weight layerdrop deterministic seed data_seed mtp_loss_scaling_factor mtp_loss_weight " \
    "mtp_use_dedicated_embeddings num_train_steps train_seq_len "
/* Positions, scales of logits and activations, which no matrix has. */
#define KEYS_OF_ARITHMETIC \
    "hidden_act hidden_activation activation_function act_fn activation mlp_hidden_act activation_type rope_theta " \
    "rope_scaling rope_parameters rope_local_base_freq rope_local_theta rope_interleave rope_interleaved rope_type " \
    "rope_ratio rope_scale rope_scaling_factor rope_traditional rope_pct rope_percentage rope_percent rope_base " \
    "rope_freq_base rope_alpha rope_beta rope_style rope_mode rope_impl rope_cache_dtype rope_freqs_for_global " \
    "rope_freqs_for_swa local_rope_theta global_rope_theta swa_rope_theta rotary_base rotary_pct rotary_percent " \
    "rotary_percentage rotary_emb_base rotary_scaling_factor rotary_dim rotary_emb_interleaved rotary_emb_fraction " \
    "rotary_emb_scale_base rotary_embedding_base rotary_interleaved partial_rotary_factor partial_rotary_factors " \
    "original_max_position_embeddings initial_context_length mrope_section mrope_interleaved use_mrope mscale " \
    "mscale_all_dim yarn_factor yarn_log_multiplier use_rope_scaling use_dynamic_ntk use_logn_attn attention_scaling " \
    "softmax_scale attn_scale scale_attn_weights scale_attn_by_inverse_layer_idx attn_logit_softcapping attn_logit_softcap " \
    "final_logit_softcapping final_logit_softcap logit_softcap logits_soft_cap reorder_and_upcast_attn " \
    "attention_softmax_in_fp32 softmax_in_fp32 fp32_residual_connection lm_head_in_fp32 enable_lm_head_fp32 " \
    "compress_rope_parameters position_embedding_type=rope position_embedding_type=nope position_embedding_type=rotary "

static const char of_all[] = KEYS_OF_FILES KEYS_OF_GENERATION KEYS_OF_TRAINING KEYS_OF_ARITHMETIC;

/* Names of tokens, probabilities of dropping and small constants come with all kinds of words before them. */
static const char *const ends_of_all[] = {
    "_token_id",      "_token_ids",    "_token_index",       "_pdrop", "dropout", "dropout_prob", "_eps", "_epsilon", "_init_std",
    "_aux_loss_coef", "_dropout_rate", "_initializer_range", NULL};

/* ---- what belongs to other senses ----------------------------------------------------------------------------------------- */

static const char of_senses[] =
    "ignore_index projector_hidden_act projector_type projection_dim spatial_merge_size temporal_patch_size patch_size "
    "use_image_newline_parameter downsample_ratio dynamic_image_size force_image_size max_dynamic_patch min_dynamic_patch "
    "pad2square ps_version select_layer template use_backbone_lora use_llm_lora use_thumbnail use_unified_vision_chunk "
    "candidate_resolutions global_view_pos tile_tag merge_kernel_size use_mm_proj num_image_tokens num_time_bins tokens_per_image "
    "enable_audio_output enable_talker position_id_per_seconds seconds_per_chunk has_vision has_audio freeze_backbone "
    "s2 s2_scales s2_max_split_size s2_resize_output_to_scale_idx interpolate_mode fps query_num slice_mode batch_vision_input "
    "drop_vision_last_layer use_image_id use_im_start_end num_query_tokens qformer_hidden_size newline_token "
    "pixel_shuffle_ratio pixel_shuffle_factor separator_style process_image_mode do_image_splitting downsample_factor "
    "encoder_patch_size max_image_tokens min_image_tokens max_tiles min_tiles tile_size max_pixels_tolerance "
    "use_image_special_tokens img_processor speech_lora vision_lora ";
static const char *const begins_of_senses[] = {"image_",  "images_",   "img_", "vision_",     "visual_",    "video_",
                                               "audio_",  "speech_",   "mm_",  "multimodal_", "media_",     "projector_",
                                               "vit_",    "talker_",   "tts_", "code2wav_",   "token2wav_", "tune_",
                                               "freeze_", "unfreeze_", NULL};

/* ---- looking up ----------------------------------------------------------------------------------------------------------- */

/* Is it the value that a list writes so, up to a blank? */
static bool is_value(const char *text, const json_t *v)
{
    char word[32] = "";
    const size_t n = strcspn(text, " ");
    if (n >= sizeof word) return false;
    memcpy(word, text, n);
    int64_t number;
    if (strcmp(word, "true") == 0) return json_is_true(v);
    if (strcmp(word, "false") == 0) return json_is_false(v);
    if (strcmp(word, "{}") == 0) return json_is_object(v) && json_object_size(v) == 0;
    if (strcmp(word, "[]") == 0) return json_is_array(v) && json_array_size(v) == 0;
    if (json_is_string(v)) return strcmp(json_string_value(v), word) == 0;
    return text_parse_i64(word, &number) && json_is_number(v) && json_number_value(v) == (double)number;
}

static bool is_listed(const char *list, const char *key, const json_t *value)
{
    const size_t n = strlen(key);
    for (const char *p = list + strspn(list, " "); *p; p += strspn(p, " ")) {
        const bool same = strncmp(p, key, n) == 0;
        if (same && (p[n] == ' ' || p[n] == '\0')) return true;
        if (same && p[n] == '=' && is_value(p + n + 1, value)) return true;
        p += strcspn(p, " ");
    }
    return false;
}

static bool ends_in(const char *key, const char *const *ends)
{
    const size_t n = strlen(key);
    for (; *ends; ends++)
        if (n >= strlen(*ends) && strcmp(key + n - strlen(*ends), *ends) == 0) return true;
    return false;
}

static bool begins_with(const char *key, const char *const *begins)
{
    for (; *begins; begins++)
        if (strncmp(key, *begins, strlen(*begins)) == 0) return true;
    return false;
}

/* Files of one piece have the configurations of other senses beside the keys of the text model. */
static bool is_of_senses(const char *key, const json_t *value)
{
    static const char *const ends[] = {"vision_config", "visual_config", "audio_config", "speech_config", "vit_config", NULL};
    return is_listed(of_senses, key, value) || begins_with(key, begins_of_senses) || ends_in(key, ends) ||
           strcmp(key, "visual") == 0;
}

bool llm_keys_uncounted(const char *list, const char *key, const json_t *value)
{
    return is_listed(of_all, key, value) || ends_in(key, ends_of_all) || is_listed(list, key, value) || is_of_senses(key, value);
}

bool llm_keys_beside_text(const char *key, const json_t *value)
{
    static const char *const ends[] = {"_config", NULL};
    return json_is_object(value) && ends_in(key, ends);
}
