/* What is called of NVIDIA's libraries, declared here so that nothing of CUDA is needed to build. Types, names and values are those
 * of the documented interfaces: CUDA Driver API, cuBLAS, NVRTC, NVML (docs.nvidia.com); a name with _v2 is what the name without
 * stands for in their headers since CUDA 3.2 or later. Each struct is filled by library_fill from the rows of its table. */
#ifndef DSE_MEASURE_CUDA_API_H
#define DSE_MEASURE_CUDA_API_H

#include <stddef.h>

/* ---- the driver: libcuda.so.1 -------------------------------------------------------------------------------------------- */

typedef int cu_result; /* CUresult */
enum { CU_SUCCESS = 0, CU_INVALID_VALUE = 1, CU_OUT_OF_MEMORY = 2, CU_NO_DEVICE = 100 };
typedef int cu_device;
typedef unsigned long long cu_pointer; /* CUdeviceptr */
typedef struct CUctx_st *cu_context;
typedef struct CUmod_st *cu_module;
typedef struct CUfunc_st *cu_function;
typedef struct CUstream_st *cu_stream; /* cudaStream_t, too */
typedef struct CUevent_st *cu_event;
typedef struct CUgraph_st *cu_graph;
typedef struct CUgraphExec_st *cu_graph_exec;

enum cu_attribute { /* CUdevice_attribute */
                    CU_MULTIPROCESSOR_COUNT = 16,
                    CU_CLOCK_RATE_KHZ = 13,
                    CU_ECC_ENABLED = 32,
                    CU_MEMORY_CLOCK_RATE_KHZ = 36,
                    CU_GLOBAL_MEMORY_BUS_WIDTH = 37,
                    CU_L2_CACHE_SIZE = 38,
                    CU_COMPUTE_CAPABILITY_MAJOR = 75,
                    CU_COMPUTE_CAPABILITY_MINOR = 76,
};
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DEFAULT = 0, CU_CAPTURE_RELAXED = 2 };

struct cu_driver {
    cu_result (*init)(unsigned flags);
    cu_result (*driver_version)(int *ret);
    cu_result (*error_text)(cu_result r, const char **ret);
    cu_result (*device_count)(int *ret);
    cu_result (*device_get)(cu_device *ret, int ordinal);
    cu_result (*device_name)(char *name, int length, cu_device d);
    cu_result (*device_attribute)(int *ret, int attribute, cu_device d);
    cu_result (*device_bus_id)(char *id, int length, cu_device d);
    cu_result (*context_retain)(cu_context *ret, cu_device d);
    cu_result (*context_release)(cu_device d);
    cu_result (*context_set)(cu_context c);
    cu_result (*memory_info)(size_t *free, size_t *total);
    cu_result (*memory_take)(cu_pointer *ret, size_t bytes);
    cu_result (*memory_free)(cu_pointer p);
    cu_result (*to_host)(void *to, cu_pointer from, size_t bytes);
    cu_result (*module_load)(cu_module *ret, const void *image);
    cu_result (*module_unload)(cu_module m);
    cu_result (*module_function)(cu_function *ret, cu_module m, const char *name);
    cu_result (*launch)(cu_function f, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                        unsigned block_z, unsigned shared_bytes, cu_stream s, void **arguments, void **extra);
    cu_result (*stream_new)(cu_stream *ret, unsigned flags);
    cu_result (*stream_free)(cu_stream s);
    cu_result (*stream_wait)(cu_stream s);
    cu_result (*capture_begin)(cu_stream s, int mode);
    cu_result (*capture_end)(cu_stream s, cu_graph *ret);
    cu_result (*graph_make)(cu_graph_exec *ret, cu_graph g, unsigned long long flags);
    cu_result (*graph_launch)(cu_graph_exec g, cu_stream s);
    cu_result (*graph_exec_free)(cu_graph_exec g);
    cu_result (*graph_free)(cu_graph g);
    cu_result (*event_new)(cu_event *ret, unsigned flags);
    cu_result (*event_free)(cu_event e);
    cu_result (*event_record)(cu_event e, cu_stream s);
    cu_result (*event_wait)(cu_event e);
    cu_result (*event_ms)(float *ret, cu_event from, cu_event to);
};

/* ---- NVRTC: libnvrtc.so -------------------------------------------------------------------------------------------------- */

typedef struct _nvrtcProgram *nvrtc_program;
struct nvrtc {
    int (*version)(int *major, int *minor); /* nvrtcResult: 0 is success */
    const char *(*error_text)(int r);
    int (*program_new)(nvrtc_program *ret, const char *source, const char *name, int headers, const char *const *texts,
                       const char *const *names);
    int (*program_free)(nvrtc_program *p);
    int (*compile)(nvrtc_program p, int options, const char *const *list);
    int (*log_size)(nvrtc_program p, size_t *ret);
    int (*log)(nvrtc_program p, char *ret);
    int (*code_size)(nvrtc_program p, size_t *ret); /* of the machine code, as all that follow */
    int (*code)(nvrtc_program p, char *ret);
};

/* ---- cuBLAS: libcublas.so ------------------------------------------------------------------------------------------------ */

typedef struct cublasContext *cublas_handle;
enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_COMPUTE_32F = 68, CUBLAS_GEMM_DEFAULT = -1 };
enum { CUDA_R_16F = 2, CUDA_R_16BF = 14 };
struct cublas {
    int (*handle_new)(cublas_handle *ret); /* cublasStatus_t: 0 is success */
    int (*handle_free)(cublas_handle h);
    int (*version)(cublas_handle h, int *ret);
    int (*set_stream)(cublas_handle h, cu_stream s);
    int (*set_workspace)(cublas_handle h, void *workspace, size_t bytes);
    int (*gemm)(cublas_handle h, int op_a, int op_b, int m, int n, int k, const void *alpha, const void *a, int type_a, int lda,
                const void *b, int type_b, int ldb, const void *beta, void *c, int type_c, int ldc, int compute, int algorithm);
};

/* ---- NVML: libnvidia-ml.so.1 --------------------------------------------------------------------------------------------- */

typedef struct nvmlDevice_st *nvml_device;
enum { NVML_SUCCESS = 0, NVML_NOT_SUPPORTED = 3, NVML_NO_PERMISSION = 4 };
enum { NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2, NVML_TEMPERATURE_GPU = 0 };
enum { /* nvmlClocksThrottleReason* */
       NVML_SW_POWER_CAP = 0x4,
       NVML_HW_SLOWDOWN = 0x8,
       NVML_SW_THERMAL = 0x20,
       NVML_HW_THERMAL = 0x40,
       NVML_HW_POWER_BRAKE = 0x80,
};
struct nvml {
    int (*init)(void); /* nvmlReturn_t */
    int (*shutdown)(void);
    const char *(*error_text)(int r);
    int (*driver_version)(char *ret, unsigned length);
    int (*device_by_bus_id)(const char *id, nvml_device *ret);
    int (*power_mw)(nvml_device d, unsigned *ret);
    int (*energy_mj)(nvml_device d, unsigned long long *ret);
    int (*clock_mhz)(nvml_device d, int clock, unsigned *ret);
    int (*max_clock_mhz)(nvml_device d, int clock, unsigned *ret);
    int (*temperature)(nvml_device d, int sensor, unsigned *ret);
    int (*throttle)(nvml_device d, unsigned long long *ret);
    int (*limit_mw)(nvml_device d, unsigned *ret); /* as it is enforced */
    int (*default_limit_mw)(nvml_device d, unsigned *ret);
    int (*limits_mw)(nvml_device d, unsigned *least, unsigned *most);
    int (*lock_clocks)(nvml_device d, unsigned least_mhz, unsigned most_mhz);
    int (*unlock_clocks)(nvml_device d);
};

#endif
