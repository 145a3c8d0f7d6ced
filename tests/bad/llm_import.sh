. ./lib
import() { # TEXT: what is said of such a configuration
    printf '%s\n' "$1" >config.json
    "$DSE" llm import config.json
}
import '{"model_type": "llama", "hidden_size": }'
import '[1, 2]'
import '{"hidden_size": 4096}'
import '{"model_type": "gpt2", "n_embd": 768}'
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
import '{"model_type": "llama", "vocab_size": 32000, "hidden_size": 4096, "hidden_size": 4096}'
"$DSE" llm import nowhere.json
"$DSE" llm export config.json
