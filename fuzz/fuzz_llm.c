/* The import of LLMs: whatever the bytes, a shape that resolves and is marked when something was left out, or errors. */
#include "config/llm_import.h"
#include "memory_file.h"

#include <dse/llm.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* As a configuration, or as the weights of one. */
static void import(const uint8_t *data, size_t n, bool is_weights, bool approximate)
{
    static const char config[] = "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
                                 "\"num_hidden_layers\": 2, \"intermediate_size\": 128, \"vocab_size\": 100}";
    struct diags d;
    struct llm_said said;
    struct dse_llm llm;
    int fd, config_fd;
    char *path = memory_file(data, n, &fd), *beside = memory_file((const uint8_t *)config, sizeof config - 1, &config_fd);
    diags_init(&d);
    llm_said_init(&said);
    const bool ok = llm_import(is_weights ? beside : path, is_weights ? path : NULL, approximate, &llm, &said, &d);
    need(ok == (d.errors == 0));
    if (ok) {
        struct dse_llm again = llm;
        need(!dse_llm_resolve(&again) && again.n_kinds == llm.n_kinds);
        need((llm.details.approximate != 0) == (said.left_out.n > 0));
        need(approximate || said.left_out.n == 0);
    }
    llm_said_release(&said);
    diags_release(&d);
    close(config_fd);
    close(fd);
    free(beside);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    for (int i = 0; i < 4; i++) import(data, n, i / 2, i % 2);
    return 0;
}
