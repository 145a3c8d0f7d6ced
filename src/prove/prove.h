/* What every model owes, whoever wrote it: the tests of dse ask it of the models in the tree, `dse test-model` of any. */
#ifndef DSE_PROVE_PROVE_H
#define DSE_PROVE_PROVE_H

#include "config/catalog.h"
#include "model/registry.h"

/* One thing that a model is held to. */
struct proof {
    const char *name, *what;
    /* Hold the model to it. False with errors, each of which names the model. `note`: what was found, if it is worth a word. */
    bool (*run)(const struct model *m, const struct catalog *catalog, struct text *note, struct diags *diags);
};

/* All of them, closed by one without a name. */
extern const struct proof proofs[];
/* The one of that name, or NULL. */
const struct proof *proof_find(const char *name);

#endif
