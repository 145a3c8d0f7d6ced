. ./lib
import() { # TEXT: what is said of such a configuration
    printf '%s\n' "$1" >config.json
    "$DSE" llm import config.json
}
import '{"model_type": "llama", "hidden_size": }'
import '[1, 2]'
import '{"hidden_size": 4096}'
import '{"model_type": "mystery", "n_embd": 768}'
import '{"model_type": "rwkv", "n_embd": 768}'
import '{"model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32}'
import '{"model_type": "llama", "vocab_size": 32000, "hidden_size": 4096.5, "num_hidden_layers": 32}'
import '{"model_type": "gpt_oss",
 "vocab_size": 201088, "hidden_size": 2880, "num_hidden_layers": 4, "num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 64,
 "num_local_experts": 32, "num_experts_per_tok": 4, "intermediate_size": 2880,
 "layer_types": ["sliding_attention", "full_attention"]}'
import '{"model_type": "gpt_oss", "vocab_size": 201088, "hidden_size": 2880, "num_hidden_layers": 2, "num_attention_heads": 64,
 "num_key_value_heads": 8, "head_dim": 64, "num_local_experts": 32, "num_experts_per_tok": 4, "intermediate_size": 2880,
 "layer_types": ["sliding_attention", "spiral_attention"]}'
import '{"model_type": "mixtral", "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
 "max_position_embeddings": 32768, "num_local_experts": 8, "num_experts_per_tok": 9, "intermediate_size": 14336}'
import '{"model_type": "llama", "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 5,
 "intermediate_size": 11008}'
import '{"model_type": "llama", "vocab_size": 32000, "hidden_size": 4096, "num_hidden_layers": 99999}'
import '{"model_type": "llama", "num_hidden_layers": 2, "hidden_size": NaN}'
import '{"model_type": "nemotron_h", "vocab_size": 131072, "hidden_size": 2688, "num_hidden_layers": 2, "num_attention_heads": 32, "mamba_num_heads": 64,
 "mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8, "layers_block_type": ["mamba", "spiral"]}'
import '{"model_type": "deepseek_v3", "vocab_size": 32000, "hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8, "kv_lora_rank": 128,
 "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 512,
 "mlp_layer_types": ["dense", "sparse", "thick", "sparse"]}'
import '{"model_type": "deepseek_v3", "vocab_size": 32000, "hidden_size": 1024, "num_hidden_layers": 4, "num_attention_heads": 8, "kv_lora_rank": 128,
 "qk_nope_head_dim": 32, "qk_rope_head_dim": 16, "v_head_dim": 32, "num_experts_per_tok": 2, "moe_intermediate_size": 512}'
import '{"model_type": "llava", "text_config": {"model_type": "deepseek_v3", "vocab_size": 32000, "num_hidden_layers": 4}}'
"$DSE" llm import nowhere.json
"$DSE" llm export config.json
