/* measure/kernels.cu: NVRTC compiles it for the GPUs of its time, where there is an NVRTC (no GPU is needed); else nothing is
 * tested. */
#include "measure/cuda_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { NEWEST_CUDA = 14 };

/* A compiled program for compute capability `sm`; empty when this NVRTC does not know it. The caller frees it. */
static char *compile(const struct nvrtc *n, int sm, size_t *ret_size)
{
    nvrtc_program program = NULL;
    char architecture[48];
    const char *options[] = {architecture, "--std=c++14"};
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d", sm);
    *ret_size = 0;
    assert_int_equal(n->program_new(&program, cuda_kernels, "kernels.cu", 0, NULL, NULL), 0);
    const int r = n->compile(program, 2, options);
    size_t length = 0;
    n->log_size(program, &length);
    char *log = calloc(length + 1, 1), *code = NULL;
    n->log(program, log);
    if (r == 0) {
        assert_int_equal(n->code_size(program, ret_size), 0);
        code = calloc(*ret_size + 1, 1);
        assert_int_equal(n->code(program, code), 0);
        assert_true(!*log); /* no warning */
    } else if (!strstr(log, "gpu-architecture") && !strstr(n->error_text(r), "OPTION")) {
        fail_msg("sm_%d: %s: %s", sm, n->error_text(r), log);
    }
    n->program_free(&program);
    free(log);
    return code;
}

static bool has(const char *code, size_t size, const char *word)
{
    return memmem(code, size, word, strlen(word)) != NULL;
}

static void kernels__compile_for_every_gpu_that_nvrtc_knows(void **state)
{
    (void)state;
    struct cuda_libraries l = {0};
    char *why = NULL;
    if (!library_load_nvrtc(&l, NULL, NEWEST_CUDA, &why)) {
        free(why);
        skip();
    }
    static const int known[] = {70, 75, 80, 86, 89, 90, 100, 120};
    int compiled = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        size_t size;
        char *code = compile(&l.nvrtc, known[i], &size);
        compiled += code != NULL;
        if (code) assert_true(has(code, size, "nothing") && has(code, size, "decode") == (known[i] >= 80));
        free(code);
    }
    assert_true(compiled > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels__compile_for_every_gpu_that_nvrtc_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
