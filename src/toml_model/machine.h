/* Straight code as instructions of three addresses: slots, then constants, then places for what is in between.
 *
 * muParser's byte code was tried first: at the median of random points it took 5.4 times the time of VEDA in C, where this takes
 * 2.3. It has two instructions and a jump for what is one here. */
#ifndef DSE_TOML_MODEL_MACHINE_H
#define DSE_TOML_MODEL_MACHINE_H

#include "toml_model/formula.h"
#include "toml_model/shared.h"

struct instruction {
    uint16_t code;
    uint16_t function; /* of SHARED: index into shared_functions */
    int32_t to, a, b, c, d;
};

struct machine_code {
    struct instruction *list; /* closed by one that ends */
    int n;
};

/* Numbers that code names, and how many places all code of a model needs. */
struct machine_room {
    double *constants;
    int n_constants, n_slots, n_between;
};

/* Add the statements "v1=...,v2=..." that compile.c makes, behind `slots`. False: a bug, or a formula that is too deep. */
bool machine_compile(const char *text, struct machine_room *room, struct machine_code *ret);
/* Constants stand behind the slots, and the slots grow until all is compiled: put those of the code in their places. */
void machine_place(struct machine_code *code, const struct machine_room *room);
/* A number array for all of it: slots are 1. The caller frees it. */
double *machine_numbers(const struct machine_room *room);
/* Without a point (s->params is NULL) functions of the groups are 1. */
void machine_run(const struct machine_code *code, double *v, const struct shared *s);

#endif
