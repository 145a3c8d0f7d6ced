/* Models in TOML: whatever the bytes, errors, or a model whose code can be run. */
#include "base/text.h"
#include "toml_model/toml_model.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char before[] =
    "model = { name = 'm', title = 't', cite = 'c', uses = ['workload', 'memory', 'cache', 'economics'] }\n"
    "[parameters]\n"
    "clock_ghz = { default = 1, range = [0.1, 5], doc = 'd' }\n"
    "sram = { default = 's', catalog = 'srams', doc = 'd' }\n"
    "[tables]\nt = { columns = ['x', 'y_us'], rows = [[1, 2], [3, 4]] }\n"
    "[functions]\n'f(a, b)' = 'a * b'\n'g(a)' = 'sum(i in 1..3 if i < a: i * a) + most(op in linear: op.k * a)'\n"
    "[for.linear]\nx = 'op.k * clock_ghz'\n"
    "[step]\ntime = 'y / (y * clock_ghz)'\n"
    "[equations]\nz = '1'\ny = \"\"\"";

/* A small model around the bytes: they are one of its formulas. */
static char *around(const uint8_t *data, size_t n)
{
    struct text t;
    text_init(&t);
    text_add(&t, before);
    for (size_t i = 0; i < n; i++)
        if (data[i] != '"' && data[i] != '\\' && data[i] >= ' ' && data[i] < 0x7f) text_add_bytes(&t, (const char *)&data[i], 1);
    text_add(&t, "\"\"\"\n");
    return text_detach(&t);
}

static void check(const char *text, size_t n)
{
    struct diags d;
    diags_init(&d);
    const bool ok = toml_model_check("fuzz/fuzz.toml", text, n, &d);
    if (ok != (d.errors == 0)) abort();
    for (size_t i = 0; i < d.n; i++)
        if (strcmp(d.list[i].message, "the model has formulas that are too deep") == 0)
            abort(); /* of what was read, code can be made */
    diags_release(&d);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    check((const char *)data, n);
    char *text = around(data, n);
    check(text, strlen(text));
    free(text);
    return 0;
}
