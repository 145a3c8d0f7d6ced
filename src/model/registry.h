/* The registry: every model of models/meson.build, and those that are added while the program runs, with its tables made flat. */
#ifndef DSE_MODEL_REGISTRY_H
#define DSE_MODEL_REGISTRY_H

#include "base/diag.h"
#include "desc/schema.h"

#include <dse/model.h>

/* What a model in TOML has in place of the files in a folder. */
struct made_files {
    const char *given;                    /* the file as it was given, for messages */
    const char *defaults;                 /* a text of defaults.toml, in which every value stands where it stands in the file; */
    const char *source;                   /* the text of that */
    const char *included;                 /* the texts of the files that it includes; "" */
    const char *claims_csv, *claims_toml; /* or NULL */
};

struct many;
struct slopes;
struct dse_closed_model;
/* A model in TOML, made of its file. */
struct made_model {
    const struct dse_model *desc, *plain;
    struct made_files files;
    const struct many *many;
    const struct slopes *slopes;
};
struct model {
    const struct dse_model *desc;
    struct schema params, metrics, equations;
    char *folder;                /* of its files (model_file), of a model that was added; or NULL */
    char *file;                  /* the plug-in, or the file in TOML, that it was added from; or NULL */
    struct made_files made;      /* of a model in TOML; else all NULL */
    const struct many *many;     /* many points at once (model/many.h); or NULL */
    const struct slopes *slopes; /* (model/slopes.h); or NULL */
    /* The same model without what makes it fast: a checker of its numbers. NULL: `desc` is all that there is. */
    const struct dse_model *plain;
    /* Of models/meson.build, in TOML: the file, and what makes the model of it. Else NULL. */
    const struct dse_closed_model *in_toml;
    struct made_model (*make)(const struct dse_closed_model *file);
};

/* Make the model of a file that is built in, once: a second call gives the same one. A file that is none ends the process with its
 * errors: it is a bug of the tree. The room toml_model has this function, which a registry with such models alone needs. */
struct made_model registry_make_toml(const struct dse_closed_model *file);

/* How many may be added. */
enum { REGISTRY_ADDED_MAX = 256 };

/* Every model, in the order of models/meson.build, those that were added behind them. The array lives as long as the process. A
 * model is made at the first call that gives it (not thread-safe): that compiles the file of a model in TOML. */
const struct model *registry_models(size_t *ret_n);
/* Those that were added. */
const struct model *registry_added(size_t *ret_n);
/* The names of all models, in the same order, without making any; valid as long as those. */
const char *const *registry_names(size_t *ret_n);
/* The model of that name, or NULL. Makes no other. */
const struct model *registry_find(const char *name);
bool registry_has_room(void);
/* Say that there is none. Always false. */
bool registry_full(struct srcloc loc, struct diags *diags);
/* Add a model, whose name no other has (not thread-safe, and before other threads read the registry). False: there are too
 * many. `desc` lives as long as the process; file may be NULL. */
bool registry_add(const struct dse_model *desc, const char *folder, const char *file);
/* The same of a model that is a file in TOML. The texts, and what is pointed to, live as long as the process. */
bool registry_add_made(const struct made_model *made, const char *folder, const char *file);
/* The path of a file of the model, "defaults.toml", in its folder: data_dir/models/NAME, unless it was added. The caller frees
 * it. */
char *model_file(const struct model *m, const char *data_dir, const char *name);
/* Free what registry_models made; for a clean exit under leak checkers. */
void registry_release(void);

#endif
