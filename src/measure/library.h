/* NVIDIA's libraries, loaded while running: what is not there is an error of who asks for it, not of the program. They are never
 * unloaded: they are not made for it. */
#ifndef DSE_MEASURE_LIBRARY_H
#define DSE_MEASURE_LIBRARY_H

#include "measure/cuda_api.h"

#include <stdbool.h>

struct cuda_libraries {
    struct cu_driver driver;
    struct nvrtc nvrtc;
    struct cublas cublas;
    struct nvml nvml;
};

/* Load each and fill its struct. `dir`: where to look, and nowhere else; NULL: where the dynamic linker looks, then
 * $CUDA_HOME/lib64, $CUDA_PATH/lib64 and /usr/local/cuda/lib64. `major` is the CUDA that the driver speaks: later libraries are not
 * tried. False: *ret_why says what was tried (the caller frees it). */
bool library_load_driver(struct cuda_libraries *l, const char *dir, char **ret_why);
bool library_load_nvrtc(struct cuda_libraries *l, const char *dir, int major, char **ret_why);
bool library_load_cublas(struct cuda_libraries *l, const char *dir, int major, char **ret_why);
bool library_load_nvml(struct cuda_libraries *l, const char *dir, char **ret_why);

#endif
