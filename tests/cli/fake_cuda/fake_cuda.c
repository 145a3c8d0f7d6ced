/* NVIDIA's driver, NVRTC, cuBLAS and NVML as far as `dse measure` calls them, for machines without a GPU: nothing is computed, all
 * memory is zero, and the GPU's clock is that of the host and a microsecond a launch. $FAKE_CUDA has words for what goes wrong:
 * "none" (no GPU), "wrong" (attention), "lost" (the 400th launch), "root" (clocks may not be set), "compile". $FAKE_CUDA_LOG: a
 * file of what is done to the clocks. Each library is this file once more, with a state of its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define API __attribute__((visibility("default")))

static long launches, taken;
static double events[2];

static int wants(const char *word)
{
    const char *s = getenv("FAKE_CUDA");
    return s && strstr(s, word) != NULL;
}

static void say(const char *what, unsigned v)
{
    const char *path = getenv("FAKE_CUDA_LOG");
    FILE *f = path ? fopen(path, "a") : NULL;
    if (!f) return;
    fprintf(f, "%s %u\n", what, v);
    fclose(f);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec + 1e-6 * (double)launches;
}

static int launch(void)
{
    launches++;
    return wants("lost") && launches > 400 ? 700 : 0;
}

/* ---- the driver ------------------------------------------------------------------------------------------------------------ */

#define YES(name, ...) \
    API int name(__VA_ARGS__); \
    API int name(__VA_ARGS__) \
    { \
        return 0; \
    }
#define GIVES(name, type, value, ...) \
    API int name(type *ret, ##__VA_ARGS__); \
    API int name(type *ret, ##__VA_ARGS__) \
    { \
        *ret = (type)(value); \
        return 0; \
    }
#define READS(name, type, value, ...) \
    API int name(void *d, ##__VA_ARGS__, type *ret); \
    API int name(void *d, ##__VA_ARGS__, type *ret) \
    { \
        *ret = (type)(value); \
        return 0; \
    }
/* A handle: some address. */
static int thing;

API int cuInit(unsigned flags);
API int cuInit(unsigned flags)
{
    (void)flags;
    return wants("none") ? 100 : 0;
}
GIVES(cuDriverGetVersion, int, 12040)
API int cuGetErrorString(int r, const char **ret);
API int cuGetErrorString(int r, const char **ret)
{
    *ret = r == 700 ? "an illegal memory access was encountered" : "an error";
    return 0;
}
GIVES(cuDeviceGetCount, int, 1)
GIVES(cuDeviceGet, int, 0, int ordinal)
API int cuDeviceGetName(char *name, int n, int d);
API int cuDeviceGetName(char *name, int n, int d)
{
    (void)d;
    snprintf(name, (size_t)n, "NVIDIA A100-SXM4-80GB");
    return 0;
}
API int cuDeviceGetAttribute(int *ret, int attribute, int d);
API int cuDeviceGetAttribute(int *ret, int attribute, int d)
{
    (void)d;
    static const int known[][2] = {{16, 108}, {13, 1410000}, {32, 1}, {36, 1593000}, {37, 5120}, {38, 40 << 20}, {75, 8}, {76, 0}};
    *ret = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i][0] == attribute) *ret = known[i][1];
    return 0;
}
API int cuDeviceGetPCIBusId(char *id, int n, int d);
API int cuDeviceGetPCIBusId(char *id, int n, int d)
{
    (void)d;
    snprintf(id, (size_t)n, "00000000:01:00.0");
    return 0;
}
GIVES(cuDevicePrimaryCtxRetain, void *, &thing, int d)
YES(cuDevicePrimaryCtxRelease_v2, int d)
YES(cuCtxSetCurrent, void *c)
API int cuMemGetInfo_v2(size_t *left, size_t *total);
API int cuMemGetInfo_v2(size_t *left, size_t *total)
{
    *total = (size_t)80 << 30;
    *left = (size_t)6 << 30;
    return 0;
}
API int cuMemAlloc_v2(unsigned long long *ret, size_t bytes);
API int cuMemAlloc_v2(unsigned long long *ret, size_t bytes)
{
    (void)bytes;
    *ret = (unsigned long long)++taken << 40;
    return 0;
}
API int cuMemFree_v2(unsigned long long p);
API int cuMemFree_v2(unsigned long long p)
{
    return p >> 40 ? 0 : 1;
}
API int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes);
API int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t bytes)
{
    static int calls; /* q, k, v, then what was computed of them */
    (void)from;
    memset(to, wants("wrong") && calls++ % 4 == 3 ? 0x3c : 0, bytes);
    return 0;
}
GIVES(cuModuleLoadData, void *, &thing, const void *image)
YES(cuModuleUnload, void *m)
GIVES(cuModuleGetFunction, void *, &thing, void *m, const char *name)
API int cuLaunchKernel(void *f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s,
                       void **arguments, void **extra);
API int cuLaunchKernel(void *f, unsigned x, unsigned y, unsigned z, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s,
                       void **arguments, void **extra)
{
    (void)f, (void)shared, (void)s, (void)arguments, (void)extra;
    if (!x || !y || !z || y > 65535 || z > 65535 || bx * by * bz > 1024) return 1; /* limits of CUDA */
    return launch();
}
GIVES(cuStreamCreate, void *, &thing, unsigned flags)
YES(cuStreamDestroy_v2, void *s)
YES(cuStreamSynchronize, void *s)
YES(cuStreamBeginCapture_v2, void *s, int mode)
API int cuStreamEndCapture(void *s, void **ret);
API int cuStreamEndCapture(void *s, void **ret)
{
    (void)s;
    *ret = malloc(1); /* to be freed: a leak is found by whoever looks for them */
    return 0;
}
GIVES(cuGraphInstantiateWithFlags, void *, malloc(1), void *g, unsigned long long flags)
API int cuGraphLaunch(void *g, void *s);
API int cuGraphLaunch(void *g, void *s)
{
    (void)g, (void)s;
    return launch();
}
API int cuGraphExecDestroy(void *g);
API int cuGraphExecDestroy(void *g)
{
    free(g);
    return 0;
}
API int cuGraphDestroy(void *g);
API int cuGraphDestroy(void *g)
{
    free(g);
    return 0;
}
API int cuEventCreate(void **ret, unsigned flags);
API int cuEventCreate(void **ret, unsigned flags)
{
    static int n;
    (void)flags;
    *ret = &events[n++ % 2];
    return 0;
}
YES(cuEventDestroy_v2, void *e)
API int cuEventRecord(void *e, void *s);
API int cuEventRecord(void *e, void *s)
{
    (void)s;
    *(double *)e = now();
    return 0;
}
YES(cuEventSynchronize, void *e)
API int cuEventElapsedTime(float *ms, void *from, void *to);
API int cuEventElapsedTime(float *ms, void *from, void *to)
{
    *ms = (float)(1e3 * (*(double *)to - *(double *)from));
    return 0;
}

/* ---- NVRTC ----------------------------------------------------------------------------------------------------------------- */

GIVES(nvrtcVersion, int, 12, int *minor)
API const char *nvrtcGetErrorString(int r);
API const char *nvrtcGetErrorString(int r)
{
    return r == 6 ? "NVRTC_ERROR_COMPILATION" : "NVRTC_SUCCESS";
}
GIVES(nvrtcCreateProgram, void *, &thing, const char *source, const char *name, int n, const char *const *texts,
      const char *const *names)
YES(nvrtcDestroyProgram, void **p)
API int nvrtcCompileProgram(void *p, int n, const char *const *options);
API int nvrtcCompileProgram(void *p, int n, const char *const *options)
{
    (void)p;
    return wants("compile") || n < 1 || strcmp(options[0], "--gpu-architecture=sm_80") != 0 ? 6 : 0;
}
static const char told[] = "kernels.cu(1): error: no such thing\nand more";
READS(nvrtcGetProgramLogSize, size_t, sizeof told)
READS(nvrtcGetCUBINSize, size_t, 16)
API int nvrtcGetProgramLog(void *p, char *ret);
API int nvrtcGetProgramLog(void *p, char *ret)
{
    (void)p;
    memcpy(ret, told, sizeof told);
    return 0;
}
YES(nvrtcGetCUBIN, void *p, char *ret)

/* ---- cuBLAS ---------------------------------------------------------------------------------------------------------------- */

GIVES(cublasCreate_v2, void *, &thing)
YES(cublasDestroy_v2, void *h)
API int cublasGetVersion_v2(void *h, int *ret);
API int cublasGetVersion_v2(void *h, int *ret)
{
    (void)h;
    *ret = 120805;
    return 0;
}
YES(cublasSetStream_v2, void *h, void *s)
YES(cublasSetWorkspace_v2, void *h, void *w, size_t bytes)
YES(cublasGemmEx, void *h, int ta, int tb, int m, int n, int k)

/* ---- NVML ------------------------------------------------------------------------------------------------------------------ */

YES(nvmlInit_v2, void)
YES(nvmlShutdown, void)
API const char *nvmlErrorString(int r);
API const char *nvmlErrorString(int r)
{
    return r == 4 ? "Insufficient Permissions" : "Unknown Error";
}
API int nvmlSystemGetDriverVersion(char *ret, unsigned n);
API int nvmlSystemGetDriverVersion(char *ret, unsigned n)
{
    snprintf(ret, n, "550.54.15");
    return 0;
}
API int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **ret);
API int nvmlDeviceGetHandleByPciBusId_v2(const char *id, void **ret)
{
    *ret = &thing;
    return strcmp(id, "00000000:01:00.0") == 0 ? 0 : 6;
}
READS(nvmlDeviceGetPowerUsage, unsigned, 250000)
READS(nvmlDeviceGetTotalEnergyConsumption, unsigned long long, 250000 * now())
READS(nvmlDeviceGetClockInfo, unsigned, 1410, int clock)
READS(nvmlDeviceGetMaxClockInfo, unsigned, 1410, int clock)
READS(nvmlDeviceGetTemperature, unsigned, 40, int sensor)
READS(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long, 0x4)
READS(nvmlDeviceGetEnforcedPowerLimit, unsigned, 400000)
READS(nvmlDeviceGetPowerManagementDefaultLimit, unsigned, 400000)
API int nvmlDeviceGetPowerManagementLimitConstraints(void *d, unsigned *least, unsigned *most);
API int nvmlDeviceGetPowerManagementLimitConstraints(void *d, unsigned *least, unsigned *most)
{
    *least = 100000;
    *most = 400000;
    return 0;
}
API int nvmlDeviceSetGpuLockedClocks(void *d, unsigned least, unsigned most);
API int nvmlDeviceSetGpuLockedClocks(void *d, unsigned least, unsigned most)
{
    (void)d;
    if (wants("root")) return 4;
    say("set", most);
    return least == most ? 0 : 2;
}
API int nvmlDeviceResetGpuLockedClocks(void *d);
API int nvmlDeviceResetGpuLockedClocks(void *d)
{
    (void)d;
    say("given back", 0);
    return 0;
}
