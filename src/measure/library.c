#include "measure/library.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables: where in its struct a function goes, and its name ------------------------------------------------------------- */

struct symbol {
    size_t offset;
    const char *name;
};

#define S(field, name) \
    { \
        offsetof(T, field), name \
    }
#define T struct cu_driver
static const struct symbol driver_symbols[] = {
    S(init, "cuInit"),
    S(driver_version, "cuDriverGetVersion"),
    S(error_text, "cuGetErrorString"),
    S(device_count, "cuDeviceGetCount"),
    S(device_get, "cuDeviceGet"),
    S(device_name, "cuDeviceGetName"),
    S(device_attribute, "cuDeviceGetAttribute"),
    S(device_bus_id, "cuDeviceGetPCIBusId"),
    S(context_retain, "cuDevicePrimaryCtxRetain"),
    S(context_release, "cuDevicePrimaryCtxRelease_v2"),
    S(context_set, "cuCtxSetCurrent"),
    S(memory_info, "cuMemGetInfo_v2"),
    S(memory_take, "cuMemAlloc_v2"),
    S(memory_free, "cuMemFree_v2"),
    S(to_host, "cuMemcpyDtoH_v2"),
    S(module_load, "cuModuleLoadData"),
    S(module_unload, "cuModuleUnload"),
    S(module_function, "cuModuleGetFunction"),
    S(launch, "cuLaunchKernel"),
    S(stream_new, "cuStreamCreate"),
    S(stream_free, "cuStreamDestroy_v2"),
    S(stream_wait, "cuStreamSynchronize"),
    S(capture_begin, "cuStreamBeginCapture_v2"),
    S(capture_end, "cuStreamEndCapture"),
    S(graph_make, "cuGraphInstantiateWithFlags"),
    S(graph_launch, "cuGraphLaunch"),
    S(graph_exec_free, "cuGraphExecDestroy"),
    S(graph_free, "cuGraphDestroy"),
    S(event_new, "cuEventCreate"),
    S(event_free, "cuEventDestroy_v2"),
    S(event_record, "cuEventRecord"),
    S(event_wait, "cuEventSynchronize"),
    S(event_ms, "cuEventElapsedTime"),
    {0},
};
#undef T
#define T struct nvrtc
static const struct symbol nvrtc_symbols[] = {
    S(version, "nvrtcVersion"),
    S(error_text, "nvrtcGetErrorString"),
    S(program_new, "nvrtcCreateProgram"),
    S(program_free, "nvrtcDestroyProgram"),
    S(compile, "nvrtcCompileProgram"),
    S(log_size, "nvrtcGetProgramLogSize"),
    S(log, "nvrtcGetProgramLog"),
    S(code_size, "nvrtcGetCUBINSize"),
    S(code, "nvrtcGetCUBIN"),
    {0},
};
#undef T
#define T struct cublas
static const struct symbol cublas_symbols[] = {
    S(handle_new, "cublasCreate_v2"),
    S(handle_free, "cublasDestroy_v2"),
    S(version, "cublasGetVersion_v2"),
    S(set_stream, "cublasSetStream_v2"),
    S(set_workspace, "cublasSetWorkspace_v2"),
    S(gemm, "cublasGemmEx"),
    {0},
};
#undef T
#define T struct nvml
static const struct symbol nvml_symbols[] = {
    S(init, "nvmlInit_v2"),
    S(shutdown, "nvmlShutdown"),
    S(error_text, "nvmlErrorString"),
    S(driver_version, "nvmlSystemGetDriverVersion"),
    S(device_by_bus_id, "nvmlDeviceGetHandleByPciBusId_v2"),
    S(power_mw, "nvmlDeviceGetPowerUsage"),
    S(energy_mj, "nvmlDeviceGetTotalEnergyConsumption"),
    S(clock_mhz, "nvmlDeviceGetClockInfo"),
    S(max_clock_mhz, "nvmlDeviceGetMaxClockInfo"),
    S(temperature, "nvmlDeviceGetTemperature"),
    S(throttle, "nvmlDeviceGetCurrentClocksThrottleReasons"),
    S(limit_mw, "nvmlDeviceGetEnforcedPowerLimit"),
    S(default_limit_mw, "nvmlDeviceGetPowerManagementDefaultLimit"),
    S(limits_mw, "nvmlDeviceGetPowerManagementLimitConstraints"),
    S(lock_clocks, "nvmlDeviceSetGpuLockedClocks"),
    S(unlock_clocks, "nvmlDeviceResetGpuLockedClocks"),
    {0},
};
#undef T
#undef S

/* ---- loading --------------------------------------------------------------------------------------------------------------- */

/* All functions of a library into its struct. */
static bool fill(void *handle, const struct symbol *rows, void *table, const char *library, struct text *why)
{
    for (; rows->name; rows++) {
        void *f = dlsym(handle, rows->name);
        if (!f) {
            text_addf(why, "%s%s has no %s", why->n ? "; " : "", library, rows->name);
            return false;
        }
        memcpy((char *)table + rows->offset, &f, sizeof f); /* ISO C has no cast from an object's pointer to a function's */
    }
    return true;
}

/* The library `name` in `dir`; NULL: where the dynamic linker looks. What it needs beside it is loaded first. */
static void *open_in(const char *dir, const char *name, const char *before, struct text *why)
{
    char *path = dir ? xasprintf("%s/%s", dir, name) : xstrdup(name);
    if (dir && before) {
        char *needed = xasprintf("%s/%s", dir, before);
        dlopen(needed, RTLD_NOW | RTLD_LOCAL);
        free(needed);
    }
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const char *error = handle ? NULL : dlerror();
    if (error && (!dir || why->n == 0)) text_addf(why, "%s%s", why->n ? "; " : "", error);
    free(path);
    return handle;
}

/* $NAME/lib64, or NULL. The caller frees it. */
static char *lib64_of(const char *name)
{
    const char *home = getenv(name);
    return home && *home ? xasprintf("%s/lib64", home) : NULL;
}

static void *open_anywhere(const char *dir, const char *name, const char *before, struct text *why)
{
    if (dir) return open_in(dir, name, before, why);
    void *handle = open_in(NULL, name, NULL, why);
    char *places[] = {lib64_of("CUDA_HOME"), lib64_of("CUDA_PATH"), xstrdup("/usr/local/cuda/lib64")};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (!handle && places[i]) handle = open_in(places[i], name, before, why);
        free(places[i]);
    }
    return handle;
}

/* Load NAME, or NAME.MAJOR, NAME.MAJOR-1, ... */
static bool load(const char *dir, const char *name, const char *beside, int major, const struct symbol *symbols, void *table,
                 char **ret_why)
{
    enum { OLDEST_MAJOR = 11 };
    struct text why;
    text_init(&why);
    void *handle = NULL;
    for (int v = major; !handle && (v >= OLDEST_MAJOR || v == 0); v--) {
        char *file = v ? xasprintf("%s.%d%s", name, v, v == OLDEST_MAJOR && strstr(name, "nvrtc") ? ".2" : "") : xstrdup(name);
        char *before = beside ? xasprintf("%s.%d", beside, v) : NULL;
        handle = open_anywhere(dir, file, before, &why);
        free(before);
        free(file);
    }
    const bool ok = handle && fill(handle, symbols, table, name, &why);
    if (!ok) *ret_why = text_detach(&why);
    text_release(&why);
    return ok;
}

bool library_load_driver(struct cuda_libraries *l, const char *dir, char **ret_why)
{
    return load(dir, "libcuda.so.1", NULL, 0, driver_symbols, &l->driver, ret_why);
}

bool library_load_nvrtc(struct cuda_libraries *l, const char *dir, int major, char **ret_why)
{
    return load(dir, "libnvrtc.so", NULL, major, nvrtc_symbols, &l->nvrtc, ret_why);
}

bool library_load_cublas(struct cuda_libraries *l, const char *dir, int major, char **ret_why)
{
    return load(dir, "libcublas.so", "libcublasLt.so", major, cublas_symbols, &l->cublas, ret_why);
}

bool library_load_nvml(struct cuda_libraries *l, const char *dir, char **ret_why)
{
    return load(dir, "libnvidia-ml.so.1", NULL, 0, nvml_symbols, &l->nvml, ret_why);
}
