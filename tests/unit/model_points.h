/* Points of any model of the registry: its defaults, and random ones within the ranges. Shared by the tests and the bench over
 * all models. */
#ifndef MODEL_POINTS_H
#define MODEL_POINTS_H

#include "base/text.h"
#include "base/xalloc.h"
#include "config/bind.h"
#include "dse_config.h"
#include "model/registry.h"
#include "space/random_point.h"
#include "space/space_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct catalog *catalog;
static struct diags diags;

static inline int set_up(void **state)
{
    (void)state;
    diags_init(&diags);
    catalog = catalog_new(catalog_data_dir(), &diags);
    diags_print(&diags, stderr, false);
    return catalog ? 0 : -1;
}

static inline int tear_down(void **state)
{
    (void)state;
    catalog_free(catalog);
    diags_release(&diags);
    registry_release();
    return 0;
}

/* Cut "llm=llama3-8b batch=2" into its assignments; of two for one name the last counts. list[i] point into `text`. */
static inline size_t settings_split(char *text, char **list, size_t most)
{
    size_t n = 0;
    for (char *s = strtok(text, " "); s; s = strtok(NULL, " ")) {
        size_t i = 0;
        while (i < n && strncmp(list[i], s, strcspn(s, "=") + 1) != 0) i++;
        if (i == most) abort();
        list[i] = s;
        if (i == n) n++;
    }
    return n;
}

/* The papers' settings, in front of those of a test: where defaults.toml has what loses little (claims.toml, [accounting]). */
#define LAD_AS_PUBLISHED "draws=profile intervals=5 "
#define VEDA_AS_PUBLISHED "boundary=bulk eviction_ratio=0.5 quality_from=retention retention=codellama-13b-bulk t_rfc_ns=0 "

/* A space of one point. */
struct one {
    struct binding *binding;
    struct sweep_file sweep;
    struct space *space;
};

static inline bool one_init(struct one *o, const struct model *m, char *const *settings, size_t n)
{
    *o = (struct one){.binding = binding_new(m, catalog, catalog_data_dir(), &diags)};
    bool ok = o->binding != NULL;
    for (size_t i = 0; ok && i < n; i++) ok = binding_set_text(o->binding, settings[i], &diags);
    ok = ok && binding_finish(o->binding, &diags);
    o->sweep = (struct sweep_file){.bindings = &o->binding, .n_models = 1};
    if (ok) o->space = space_new(&o->sweep, 0, 1, &diags);
    return ok && o->space;
}

static inline void one_release(struct one *o)
{
    space_free(o->space);
    binding_free(o->binding);
}

/* A model's small default: with sanitizers LAD's own step takes half a minute. Settings of parameters that the model does not
 * have, or of an LLM that its catalog does not have, are left out. Returns how many are left. */
enum { SMALL = 4 };
static inline size_t small_settings(const struct model *m, char *ret[SMALL])
{
    static char llm[] = "llm=thin", batch[] = "batch=1", context[] = "context=256", layers[] = "layers_simulated=1";
    char *const all[SMALL] = {llm, batch, layers, context};
    size_t n = 0;
    for (size_t i = 0; i < SMALL; i++) {
        char *name = xstrndup(all[i], strcspn(all[i], "="));
        bool known = schema_find(&m->params, name) && (all[i] != llm || catalog_find(catalog, DSE_KIND_LLM, "thin"));
        if (known) ret[n++] = all[i];
        free(name);
    }
    return n;
}

static inline int set_up_thin(void **state)
{
    if (set_up(state)) return -1;
    char *path = xasprintf("%s/tests/data/thin_llm.toml", catalog_data_dir());
    bool ok = access(path, R_OK) || catalog_add_file(catalog, path, &diags); /* the toy models have a catalog of their own */
    diags_print(&diags, stderr, false);
    free(path);
    return ok ? 0 : -1;
}

static uint64_t seed = 42;
static inline double uniform(void)
{
    return random_uniform(&seed);
}

static inline struct value random_value(const struct field *f)
{
    return random_value_of(f, catalog, &seed);
}

/* The parameters of a random point of the model, resolved. `share` of the parameters differ from those of `base`. Returns whether
 * the point is feasible. */
static inline bool random_point(const struct model *m, const void *base, double share, void *params)
{
    return random_point_of(m, catalog, base, share, &seed, params);
}

#endif
