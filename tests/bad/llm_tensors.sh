. ./lib
# A checkpoint whose tensors are not those of the configuration beside it.
checkpoint() { # HEADER: of model.safetensors
    tensors model.safetensors "$1" 0
    "$DSE" llm import config.json
}
printf '{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 4,\n "num_hidden_layers": 1, "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 4096, "tie_word_embeddings": true}\n' >config.json
checkpoint '{"model.layers.0.self_attn.q_proj.weight": {"dtype": "BF16", "shape": [64, 32], "data_offsets": [0, 4096]}}'
checkpoint '{"model.embed_tokens.weight": {"dtype": "BF16", "shape": [100, 64], "data_offsets": [0, 12800]}}'
checkpoint '{"model.embed_tokens.weight": {"dtype": "BF16", "shape": [100, 64], "data_offsets": [12800, 0]}}'
