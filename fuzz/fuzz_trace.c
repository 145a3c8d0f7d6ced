/* Traces: whatever the bytes, one error, or a trace whose every head is finite or has its error. The bytes are read as they are,
 * then once more with a checksum that fits, which hardly any made-up input has; bytes that begin like CSV are imported first. */
#include "base/text.h"
#include "memory_file.h"
#include "attention/trace_import.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_head(const struct trace *t, size_t layer, size_t head)
{
    struct diags d;
    diags_init(&d);
    struct head h;
    bool ok = trace_head_sampled(t, layer, head, &h, &d);
    need(d.errors == (ok ? 0 : 1));
    for (size_t i = 0; ok && i < h.n * h.d; i++) need(isfinite(h.k[i]) && isfinite(h.v[i]));
    for (size_t i = 0; ok && i < h.n_steps; i++) need(head_query(&h, trace_step(trace_info(t), i)) == h.q + i * h.d);
    for (size_t i = 0; ok && i < h.n_steps * h.d; i++) need(isfinite(h.q[i]));
    if (ok) head_release(&h);
    diags_release(&d);
}

static void check_file(const char *path)
{
    struct diags d;
    diags_init(&d);
    struct trace *t = trace_open(path, &d);
    need((t == NULL) == (d.errors > 0));
    need(diags_exit_status(&d) == (t ? 0 : 2));
    if (t) {
        const struct trace_info *info = trace_info(t);
        need(trace_check(info, (struct srcloc){0}, &d));
        for (size_t i = 0; i < info->layers * info->heads; i++) check_head(t, i / info->heads, i % info->heads);
    }
    trace_close(t);
    diags_release(&d);
}

static void check_bytes(const uint8_t *data, size_t n)
{
    int fd;
    char *path = memory_file(data, n, &fd);
    check_file(path);
    free(path);
    close(fd);
}

static void check_signed(const uint8_t *data, size_t n)
{
    if (n < 8) return;
    uint8_t *copy = xmalloc(n);
    memcpy(copy, data, n);
    uint64_t hash = text_hash(TEXT_HASH_INIT, copy, n - 8);
    for (int i = 0; i < 8; i++) copy[n - 8 + (size_t)i] = (uint8_t)(hash >> 8 * i);
    check_bytes(copy, n);
    free(copy);
}

static void check_csv(const uint8_t *data, size_t n)
{
    static char to[64];
    snprintf(to, sizeof to, "/tmp/dse-fuzz-%ld.trace", (long)getpid());
    int fd;
    char *from = memory_file(data, n, &fd);
    struct diags d;
    diags_init(&d);
    const struct trace_info wanted = {.model = "fuzz", .source = "fuzz", .bits = n % 2 ? 16 : 32};
    bool ok = trace_import_csv(from, &wanted, &(struct trace_pick){0}, to, &d);
    need(ok ? d.errors == 0 : d.errors > 0 && access(to, F_OK) != 0);
    diags_release(&d);
    if (ok) {
        struct trace *t = trace_open(to, &d);
        need(t != NULL);
        trace_close(t);
        check_file(to);
        remove(to);
    }
    free(from);
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n >= 5 && memcmp(data, "layer", 5) == 0) check_csv(data, n);
    check_bytes(data, n);
    check_signed(data, n);
    return 0;
}
