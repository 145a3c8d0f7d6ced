#include "measure/cuda_device.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "measure/cuda_internal.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

enum { OLDEST_CUDA = 11, DECODE_MAJOR = 8, ALL_KINDS = (1 << METER_KINDS) - 1 };
static const size_t WORKSPACE_BYTES = (size_t)32
                                      << 20; /* what cuBLAS's manual recommends for Hopper; more than it does for others */

bool cuda_ok(struct cuda_device *d, cu_result r, const char *what)
{
    if (r == CU_SUCCESS) return true;
    const char *text = NULL;
    d->lib.driver.error_text(r, &text);
    snprintf(d->base.reason, sizeof d->base.reason, "%s: %s (CUDA error %d)", what, text ? text : "unknown", r);
    return false;
}

static double now(struct meter_device *d)
{
    (void)d;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void pause_for(struct meter_device *d, double seconds)
{
    (void)d;
    const time_t whole = (time_t)seconds;
    struct timespec t = {.tv_sec = whole, .tv_nsec = (long)(1e9 * (seconds - (double)whole))};
    nanosleep(&t, NULL); /* a signal ends it, which is looked at next */
}

/* ---- the machine --------------------------------------------------------------------------------------------------------- */

static int attribute(const struct cuda_device *d, enum cu_attribute a)
{
    int v = 0;
    return d->lib.driver.device_attribute(&v, (int)a, d->device) == CU_SUCCESS ? v : 0;
}

/* "Linux 6.1.0, INTEL(R) XEON(R) PLATINUM 8480+" */
static void note_host(struct meter_machine *m)
{
    struct utsname u;
    char line[256], *name = NULL;
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && !name && fgets(line, sizeof line, f))
        if (strncmp(line, "model name", 10) == 0) name = strchr(line, ':');
    if (f) fclose(f);
    if (name) name[strcspn(name, "\n")] = '\0';
    if (uname(&u) != 0) *u.sysname = *u.release = '\0';
    snprintf(m->host, sizeof m->host, "%.40s %.60s%s%.50s", u.sysname, u.release, name ? ", " : "", name ? name + 2 : "");
}

static void note_machine(struct cuda_device *d)
{
    struct meter_machine *m = &d->base.machine;
    size_t left = 0, total = 0;
    if (d->lib.driver.device_name(m->name, sizeof m->name, d->device) != CU_SUCCESS) *m->name = '\0';
    if (d->lib.driver.memory_info(&left, &total) == CU_SUCCESS) m->capacity_gib = (double)total / (1 << 30);
    d->l2_bytes = attribute(d, CU_L2_CACHE_SIZE);
    m->l2_mib = (double)d->l2_bytes / (1 << 20);
    m->sms = attribute(d, CU_MULTIPROCESSOR_COUNT);
    m->major = attribute(d, CU_COMPUTE_CAPABILITY_MAJOR);
    m->minor = attribute(d, CU_COMPUTE_CAPABILITY_MINOR);
    m->bus_bits = attribute(d, CU_GLOBAL_MEMORY_BUS_WIDTH);
    m->has_ecc = attribute(d, CU_ECC_ENABLED) != 0;
    m->clock_mhz = 1e-3 * attribute(d, CU_CLOCK_RATE_KHZ);
    m->memory_mhz = 1e-3 * attribute(d, CU_MEMORY_CLOCK_RATE_KHZ);
    note_host(m);
}

/* What the file calls the maker of each number. */
static void note_engines(struct meter_machine *m, int cuda, int nvrtc_major, int nvrtc_minor, int blas)
{
    char *blas_text = blas ? xasprintf("cublas %d.%d.%d", blas / 10000, blas / 100 % 100, blas % 100) : xstrdup("");
    for (int w = 0; w < METER_WORKS; w++)
        snprintf(m->engines[w], sizeof m->engines[w], "%s",
                 w == METER_MATMUL   ? blas_text
                 : w == METER_DECODE ? "dse split-kv"
                                     : "dse kernel");
    snprintf(m->engines[METER_IDLE], sizeof m->engines[METER_IDLE], "none");
    snprintf(m->software, sizeof m->software, "CUDA %d.%d of the driver%s%s", cuda / 1000, cuda % 1000 / 10, blas ? ", " : "",
             blas_text);
    if (nvrtc_major)
        snprintf(m->software + strlen(m->software), sizeof m->software - strlen(m->software), ", NVRTC %d.%d", nvrtc_major,
                 nvrtc_minor);
    free(blas_text);
}

/* ---- opening ------------------------------------------------------------------------------------------------------------- */

static bool need(struct cuda_device *d, cu_result r, const char *what, struct diags *diags)
{
    return cuda_ok(d, r, what) || diags_runtime(diags, NULL, "%s", d->base.reason);
}

static bool open_driver(struct cuda_device *d, const struct cuda_options *o, int *ret_cuda, struct diags *diags)
{
    char *why = NULL;
    int count = 0;
    if (!library_load_driver(&d->lib, o->libraries, &why)) {
        diags_runtime(diags, NULL, "no NVIDIA driver to measure with (%s); dse measure --dry-run shows what would be measured",
                      why);
        free(why);
        return false;
    }
    const struct cu_driver *cu = &d->lib.driver;
    cu_result r = cu->init(0);
    if (r == CU_NO_DEVICE) return diags_runtime(diags, NULL, "the NVIDIA driver sees no GPU");
    if (!need(d, r, "the NVIDIA driver does not start", diags) || !need(d, cu->device_count(&count), "GPUs", diags)) return false;
    if (o->ordinal >= count)
        return diags_runtime(diags, NULL, "there is no GPU %d: the NVIDIA driver sees %d, counted from 0", o->ordinal, count);
    if (!need(d, cu->driver_version(ret_cuda), "the driver's version", diags)) return false;
    if (*ret_cuda / 1000 < OLDEST_CUDA)
        return diags_runtime(diags, NULL, "the NVIDIA driver has CUDA %d.%d; %d.0 or later is needed", *ret_cuda / 1000,
                             *ret_cuda % 1000 / 10, OLDEST_CUDA);
    return need(d, cu->device_get(&d->device, o->ordinal), "the GPU", diags) &&
           need(d, cu->context_retain(&d->context, d->device), "the GPU cannot be taken", diags) &&
           need(d, cu->context_set(d->context), "the GPU cannot be used", diags) &&
           need(d, cu->stream_new(&d->stream, CU_STREAM_NON_BLOCKING), "a stream", diags) &&
           need(d, cu->event_new(&d->begin, CU_EVENT_DEFAULT), "an event", diags) &&
           need(d, cu->event_new(&d->end, CU_EVENT_DEFAULT), "an event", diags);
}

/* Kinds that go without a library, as --only has them. The caller frees the text. */
static char *kinds_but(unsigned without)
{
    const char *names[METER_KINDS + 1];
    size_t n = 0;
    for (int k = 0; k < METER_KINDS; k++)
        if (!(without >> k & 1)) names[n++] = meter_kind_names[k];
    names[n] = NULL;
    return text_join(names, ",");
}

static bool is_missing(const char *what, char *why, unsigned needed_by, struct diags *diags)
{
    char *others = kinds_but(needed_by);
    diags_runtime(diags, NULL, "%s cannot be used (%s); --libraries says where it is%s%s%s", what, why, *others ? ", --only " : "",
                  others, *others ? " does without it" : "");
    free(others);
    free(why);
    return false;
}

/* Machine code of kernels.cu for this GPU. NULL with *ret_why. The caller frees both. */
static char *compile(struct cuda_device *d, char **ret_why)
{
    const struct nvrtc *n = &d->lib.nvrtc;
    nvrtc_program program = NULL;
    char architecture[48], *code = NULL;
    const char *options[] = {architecture, "--std=c++14"};
    size_t size = 0;
    snprintf(architecture, sizeof architecture, "--gpu-architecture=sm_%d%d", d->base.machine.major, d->base.machine.minor);
    int r = n->program_new(&program, cuda_kernels, "kernels.cu", 0, NULL, NULL);
    if (r == 0) r = n->compile(program, 2, options);
    if (r == 0) r = n->code_size(program, &size);
    if (r == 0 && size) {
        code = xmalloc(size);
        r = n->code(program, code);
    }
    if (r != 0 || !code) {
        size_t length = 0;
        if (program && n->log_size(program, &length) != 0) length = 0;
        char *log = xcalloc(length + 1, 1);
        if (length && n->log(program, log) != 0) *log = '\0';
        log[strcspn(log, "\n")] = '\0';
        *ret_why =
            xasprintf("%s for %s%s%s", n->error_text(r), architecture + strlen("--gpu-architecture="), *log ? ": " : "", log);
        free(log);
        free(code);
        code = NULL;
    }
    if (program) n->program_free(&program);
    return code;
}

static bool open_kernels(struct cuda_device *d, const struct cuda_options *o, int major, struct diags *diags)
{
    char *why = NULL;
    if (!library_load_nvrtc(&d->lib, o->libraries, major, &why)) return is_missing("NVRTC", why, ALL_KINDS, diags);
    char *code = compile(d, &why);
    if (!code) return is_missing("NVRTC", why, ALL_KINDS, diags);
    const struct cu_driver *cu = &d->lib.driver;
    const struct {
        const char *name;
        cu_function *f;
        bool is_needed;
    } kernels[] = {{"fill", &d->kernels.fill, true},
                   {"read", &d->kernels.read, true},
                   {"write", &d->kernels.write, true},
                   {"copy", &d->kernels.copy, true},
                   {"nothing", &d->kernels.nothing, true},
                   {"decode", &d->kernels.decode, d->base.machine.major >= DECODE_MAJOR},
                   {"merge", &d->kernels.merge, d->base.machine.major >= DECODE_MAJOR}};
    bool ok = need(d, cu->module_load(&d->module, code), "kernels cannot be loaded", diags);
    for (size_t i = 0; ok && i < sizeof kernels / sizeof *kernels; i++)
        if (kernels[i].is_needed)
            ok = need(d, cu->module_function(kernels[i].f, d->module, kernels[i].name), kernels[i].name, diags);
    free(code);
    return ok;
}

static bool open_blas(struct cuda_device *d, const struct cuda_options *o, int major, int *ret_version, struct diags *diags)
{
    const unsigned needed_by = 1 << METER_GEMM | 1 << METER_POWER;
    char *why = NULL;
    if (!library_load_cublas(&d->lib, o->libraries, major, &why)) return is_missing("cuBLAS", why, needed_by, diags);
    const struct cublas *b = &d->lib.cublas;
    if (!need(d, d->lib.driver.memory_take(&d->workspace, WORKSPACE_BYTES), "memory for cuBLAS", diags)) return false;
    int r = b->handle_new(&d->blas);
    if (r == 0) r = b->set_stream(d->blas, d->stream); /* before the workspace, which it would take away */
    if (r == 0) r = b->set_workspace(d->blas, cuda_address(d->workspace), WORKSPACE_BYTES);
    if (r == 0) r = b->version(d->blas, ret_version);
    return r == 0 || is_missing("cuBLAS", xasprintf("its status is %d", r), needed_by, diags);
}

static void close_device(struct meter_device *base)
{
    struct cuda_device *d = (struct cuda_device *)base;
    const struct cu_driver *cu = &d->lib.driver;
    if (d->context) {
        cuda_forget(d);
        if (d->blas) d->lib.cublas.handle_free(d->blas);
        if (d->workspace) cu->memory_free(d->workspace);
        if (d->module) cu->module_unload(d->module);
        if (d->end) cu->event_free(d->end);
        if (d->begin) cu->event_free(d->begin);
        if (d->stream) cu->stream_free(d->stream);
        cu->context_release(d->device);
    }
    cuda_board_close(d);
    free(d);
}

/* All that was asked for but the driver. */
static bool open_rest(struct cuda_device *d, const struct cuda_options *o, int cuda, struct diags *diags)
{
    int nvrtc_major = 0, nvrtc_minor = 0, blas = 0;
    char *why = NULL;
    note_machine(d);
    if (!cuda_board_open(d, o->libraries, &why) && o->kinds & 1 << METER_POWER)
        return is_missing("NVML", why, 1 << METER_POWER, diags);
    free(why);
    if (!open_kernels(d, o, cuda / 1000, diags)) return false;
    d->lib.nvrtc.version(&nvrtc_major, &nvrtc_minor);
    if (o->kinds & (1 << METER_GEMM | 1 << METER_POWER) && !open_blas(d, o, cuda / 1000, &blas, diags)) return false;
    note_engines(&d->base.machine, cuda, nvrtc_major, nvrtc_minor, blas);
    return !d->kernels.decode || !(o->kinds & (1 << METER_ATTENTION | 1 << METER_POWER)) || cuda_check_decode(d) ||
           diags_runtime(diags, NULL, "attention on this GPU: %s", d->base.reason);
}

struct meter_device *cuda_device_open(const struct cuda_options *o, struct diags *diags)
{
    struct cuda_device *d = xcalloc(1, sizeof *d);
    int cuda = 0;
    d->base = (struct meter_device){.prepare = cuda_prepare,
                                    .start = cuda_start,
                                    .wait = cuda_wait,
                                    .sense = cuda_sense,
                                    .hold_clock = cuda_hold_clock,
                                    .now = now,
                                    .sleep = pause_for,
                                    .close = close_device};
    if (open_driver(d, o, &cuda, diags) && open_rest(d, o, cuda, diags)) return &d->base;
    close_device(&d->base);
    return NULL;
}
