/* Arrays of .npy and .safetensors: whatever the bytes, one error, or arrays that lie in the file and become a trace or one error.
 * Bytes are read as they are, with the magic number of .npy before them, and with their length as that of a header. */
#include "base/text.h"
#include "base/xalloc.h"
#include "memory_file.h"
#include "attention/trace_arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Import an array as q, k and v of a trace; every byte of it is read. */
static void import(const struct array *a)
{
    static char to[64];
    snprintf(to, sizeof to, "/tmp/dse-fuzz-array-%ld.trace", (long)getpid());
    const struct trace_info wanted = {.model = "fuzz", .source = "fuzz", .bits = 32};
    const struct trace_arrays all = {*a, *a, *a};
    struct diags d;
    diags_init(&d);
    size_t steps = 0;
    bool ok = trace_import_arrays(&all, &wanted, &(struct trace_pick){0}, to, &d);
    need(ok ? d.errors == 0 : d.errors > 0 && access(to, F_OK) != 0);
    if (ok) remove(to);
    diags_release(&d);
    diags_init(&d);
    free(trace_array_steps(a, &steps, &d));
    diags_release(&d);
}

static void check_npy(const struct mapped *m)
{
    for (int bf16 = 0; bf16 < 2; bf16++) {
        struct diags d;
        diags_init(&d);
        struct array a;
        bool ok = array_read_npy(m, "a", bf16, &a, &d);
        need(d.errors == (ok ? 0 : 1));
        if (ok) import(&a);
        diags_release(&d);
    }
}

static void check_tensors(const struct mapped *m)
{
    static const char *const names[] = {"q", "k", "v", "steps", ""};
    struct diags d;
    diags_init(&d);
    struct safetensors *s = safetensors_read(m, &d);
    need(d.errors == (s ? 0 : 1));
    for (size_t i = 0; s && i < sizeof names / sizeof *names; i++) {
        struct array a;
        struct diags found;
        diags_init(&found);
        bool ok = safetensors_find(s, names[i], &a, &found);
        need(found.errors == (ok ? 0 : 1) && (!ok || safetensors_has(s, names[i])));
        if (ok) import(&a);
        diags_release(&found);
    }
    safetensors_free(s);
    diags_release(&d);
}

static void check_bytes(const uint8_t *data, size_t n)
{
    int fd;
    char *path = memory_file(data, n, &fd);
    struct diags d;
    diags_init(&d);
    struct mapped m;
    need(mapped_open(&m, path, "an array", &d));
    check_npy(&m);
    check_tensors(&m);
    mapped_release(&m);
    diags_release(&d);
    free(path);
    close(fd);
}

/* The bytes are a header, up to the last brace, and values. */
static void check_framed(const uint8_t *data, size_t n)
{
    const uint8_t *brace = memrchr(data, '}', n);
    size_t header = brace ? (size_t)(brace - data) + 1 : n;
    const uint8_t npy[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (uint8_t)header, (uint8_t)(header >> 8)};
    uint8_t *copy = xmalloc(n + 10);
    memcpy(copy, npy, 10);
    memcpy(copy + 10, data, n);
    check_bytes(copy, n + 10);
    for (int i = 0; i < 8; i++) copy[i] = (uint8_t)((uint64_t)header >> 8 * i);
    memcpy(copy + 8, data, n);
    check_bytes(copy, n + 8);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    check_bytes(data, n);
    if (n > 0) check_framed(data, n);
    return 0;
}
