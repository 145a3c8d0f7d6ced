/* The import of LLMs: whatever the bytes, a shape that resolves and is marked when something was left out, or errors. */
#include "config/llm_import.h"
#include "memory_file.h"

#include <dse/llm.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void import(const uint8_t *data, size_t n, bool approximate)
{
    struct diags d;
    struct llm_said said;
    struct dse_llm llm;
    int fd;
    char *path = memory_file(data, n, &fd);
    diags_init(&d);
    llm_said_init(&said);
    const bool ok = llm_import(path, approximate, &llm, &said, &d);
    need(ok == (d.errors == 0));
    if (ok) {
        struct dse_llm again = llm;
        need(!dse_llm_resolve(&again) && again.n_kinds == llm.n_kinds);
        need((llm.details.approximate != 0) == (said.left_out.n > 0));
        need(approximate || said.left_out.n == 0);
    }
    llm_said_release(&said);
    diags_release(&d);
    close(fd);
    free(path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    import(data, n, false);
    import(data, n, true);
    return 0;
}
