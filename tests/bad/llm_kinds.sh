. ./lib
# What is no causal LLM, by its class, by its keys or as another file.
import() { # TEXT: what is said of such a configuration
    printf '%s\n' "$1" >config.json
    "$DSE" llm import config.json
}
import '{"architectures": ["LlamaForCausalLMEagle3"], "model_type": "llama", "hidden_size": 4096}'
import '{"model_type": "llama", "draft_vocab_size": 32000}'
import '{"architectures": ["Qwen3ForSequenceClassification"], "model_type": "qwen3", "hidden_size": 4096}'
import '{"architectures": ["Qwen3Model"], "model_type": "qwen3"}'
import '{"architectures": ["Qwen3ForSomethingNew"], "model_type": "qwen3"}'
import '{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "is_encoder_decoder": true}'
import '{"model_type": "llama", "is_causal": false}'
import '{"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "NVFP4"}}'
import '{"peft_type": "LORA"}'
import '{"dim": 4096, "n_layers": 32}'
