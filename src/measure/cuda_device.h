/* The device of a machine with an NVIDIA driver (meter_device.h). The driver, NVRTC, cuBLAS and NVML are loaded when it is opened.
 */
#ifndef DSE_MEASURE_CUDA_DEVICE_H
#define DSE_MEASURE_CUDA_DEVICE_H

#include "base/diag.h"
#include "measure/meter_device.h"

struct cuda_options {
    int ordinal;           /* of the GPU, as CUDA counts them */
    unsigned kinds;        /* what will be measured: other libraries are not asked for */
    const char *libraries; /* directory; or NULL (library.h) */
};
/* NULL with a run-time error: no driver, no GPU, a library that is missing, a kernel that computes wrong numbers. Close it by its
 * `close`. */
struct meter_device *cuda_device_open(const struct cuda_options *o, struct diags *diags);

#endif
