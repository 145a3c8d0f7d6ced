. ./lib
# Keys and architectures that are not known, and what no shape can say.
import() { # TEXT: what is said of such a configuration
    printf '%s\n' "$1" >config.json
    "$DSE" llm import config.json
}
llama='"vocab_size": 32000, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128'
import "{\"model_type\": \"lama\", $llama}"
import "{\"model_type\": \"a-new-architecture\", $llama}"
import "{\"model_type\": \"llama\", $llama,
 \"top_k\": 50, \"widths_by_layer\": [1, 2], \"temperature\": 1.0, \"second_stack\": {}}"
import "{\"model_type\": \"llama\", $llama, \"mlp_bias\": true}"
import "{\"model_type\": \"llava\", \"text_config\": {\"model_type\": \"llama\", $llama}, \"image_token_id\": 7, \"adapters\": 2}"
latent='"q_lora_rank": 32, "kv_lora_rank": 16, "qk_nope_head_dim": 16, "qk_rope_head_dim": 16, "v_head_dim": 16, "num_experts_per_tok": 2,
 "moe_intermediate_size": 32, "n_routed_experts": 8, "max_position_embeddings": 4096, "first_k_dense_replace": 1'
import "{\"model_type\": \"glm_moe_dsa\", $llama, $latent, \"indexer_types\": [\"full\", \"half\"]}"
import "{\"model_type\": \"glm_moe_dsa\", $llama, $latent, \"indexer_types\": [\"shared\", \"full\"]}"
import "{\"model_type\": \"deepseek_v3\", $llama, $latent, \"index_topk_freq\": 2}"
import "{\"model_type\": \"deepseek_v3\", $llama, $latent, \"layer_types\": [\"deepseek_sparse_attention\", \"full_attention\"]}"
import "{\"model_type\": \"deepseek_v3\", $llama, $latent, \"layer_types\": [\"half_attention\", \"full_attention\"]}"
import "{\"model_type\": \"deepseek_v3\", $llama, $latent, \"attention_bias\": true}"
import "{\"model_type\": \"mamba2\", $llama, \"use_conv_bias\": false}"
printf '{"model_type": "llama", %s}' "$llama" >config.json
printf '{"quantization": ' >hf_quant_config.json
"$DSE" llm import config.json
rm hf_quant_config.json
echo 'precious' >mine.toml
"$DSE" llm import config.json -o mine.toml
