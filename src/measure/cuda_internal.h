/* What the files of the CUDA device share.
 *
 * Files that call each other: cuda_board, cuda_check, cuda_device, cuda_launch, cuda_work: cuda_device has the functions of a
 * struct meter_device, and each of them asks it whether the driver has answered without an error.
 */
#ifndef DSE_MEASURE_CUDA_INTERNAL_H
#define DSE_MEASURE_CUDA_INTERNAL_H

#include "measure/cuda_device.h"
#include "measure/library.h"

enum { CUDA_BUFFERS = 7 };

struct cuda_device {
    struct meter_device base; /* first: a struct meter_device * is a struct cuda_device * */
    struct cuda_libraries lib;
    cu_device device;
    cu_context context;
    cu_module module;
    cu_stream stream;
    cu_event begin, end;
    cublas_handle blas; /* or NULL */
    nvml_device board;  /* or NULL */
    bool has_nvml;
    int64_t l2_bytes;
    struct { /* NULL: not for this GPU */
        cu_function fill, read, write, copy, nothing, decode, merge;
    } kernels;
    cu_pointer workspace; /* cuBLAS's */

    /* What is prepared. */
    struct meter_point point;
    cu_pointer buffers[CUDA_BUFFERS];
    uint64_t copies; /* of what must come from DRAM */
    int splits, per_split;
    cu_graph graph;
    cu_graph_exec exec; /* NULL: the work is launched by itself */
    double host_s;      /* METER_ROUND_TRIP: time of what was started */
};

/* Did a call of the driver succeed? Otherwise d->base.reason says what did not. */
bool cuda_ok(struct cuda_device *d, cu_result r, const char *what);

/* cuda_work.c: what `prepare`, `start` and `wait` do. */
enum meter_answer cuda_prepare(struct meter_device *d, const struct meter_point *p);
enum meter_answer cuda_start(struct meter_device *d, uint64_t units);
enum meter_answer cuda_wait(struct meter_device *d, double *ret_s);
/* Free what is prepared. */
void cuda_forget(struct cuda_device *d);

/* cuda_launch.c: one operation of the prepared point on the stream, on the given copy of its memory. */
bool cuda_operate(struct cuda_device *d, uint64_t copy);
/* An address of the GPU as libraries want it. */
void *cuda_address(cu_pointer p);
/* Random numbers in `bytes`, a multiple of 4, at `to`. */
bool cuda_fill(struct cuda_device *d, cu_pointer to, size_t bytes, enum meter_format format);
/* Into how many shares the positions of a decode step are split, and positions of each, so that the GPU is busy. */
void cuda_split(const struct cuda_device *d, const struct meter_point *p, int *ret_splits, int *ret_per_split);

/* cuda_check.c: does the kernel of attention compute what it should? */
bool cuda_check_decode(struct cuda_device *d);

/* cuda_board.c: NVML. */
bool cuda_board_open(struct cuda_device *d, const char *dir, char **ret_why);
void cuda_board_close(struct cuda_device *d);
void cuda_sense(struct meter_device *d, struct meter_senses *ret);
enum meter_answer cuda_hold_clock(struct meter_device *d, double share, double *ret_mhz);

/* Source of the kernels (kernels.cu). */
extern const char cuda_kernels[];

#endif
