/* A model that lives outside of dse: a shared object with one or more of them.
 *
 *     #include <dse/plugin.h>
 *     DSE_PLUGIN(&dse_model_mine);
 *
 *     cc -shared -fPIC mine.c $(pkg-config --cflags --libs dse) -o mine.so
 *     dse --plugin ./mine.so eval mine
 *
 * Beside mine.so stands the model's folder, `mine/`, with defaults.toml, README.md and, if there are published numbers,
 * claims.csv and claims.toml, as in models/NAME/ of dse; a plug-in of one model may have these files beside itself.
 * docs/how-to/plug-in.md has more.
 *
 * A plug-in is code that runs in the program that loads it. It fits the headers that it was compiled against, and is refused by
 * a dse that was made of others.
 */
#ifndef DSE_PLUGIN_H
#define DSE_PLUGIN_H

#include <dse/abi.h>
#include <dse/cache.h>
#include <dse/catalog.h>
#include <dse/cost.h>
#include <dse/feed.h>
#include <dse/hw.h>
#include <dse/model.h>
#include <dse/program.h>
#include <dse/sim.h>
#include <dse/workload.h>

enum { DSE_PLUGIN_ABI = 1 }; /* of struct dse_plugin itself */

struct dse_plugin_size {
    const char *name; /* "struct dse_model"; NULL closes the list */
    size_t size;
};

#define DSE_PLUGIN_SIZE(T) \
    { \
#T, sizeof(T) \
    }
/* What a plug-in and dse must have alike; what differs is named. */
#define DSE_PLUGIN_SIZES \
    (const struct dse_plugin_size[]) \
    { \
        DSE_PLUGIN_SIZE(struct dse_model), DSE_PLUGIN_SIZE(struct dse_param), DSE_PLUGIN_SIZE(struct dse_metric), \
            DSE_PLUGIN_SIZE(struct dse_breakdown), DSE_PLUGIN_SIZE(struct dse_common), DSE_PLUGIN_SIZE(struct dse_totals), \
            DSE_PLUGIN_SIZE(struct dse_standing), DSE_PLUGIN_SIZE(struct dse_workload), DSE_PLUGIN_SIZE(struct dse_oplist), \
            DSE_PLUGIN_SIZE(struct dse_llm), DSE_PLUGIN_SIZE(struct dse_memory), DSE_PLUGIN_SIZE(struct dse_dram), \
            DSE_PLUGIN_SIZE(struct dse_cache), DSE_PLUGIN_SIZE(struct dse_bill), DSE_PLUGIN_SIZE(struct dse_gpu), \
            DSE_PLUGIN_SIZE(struct dse_pour_spec), DSE_PLUGIN_SIZE(struct dse_program), DSE_PLUGIN_SIZE(struct dse_stage_spec), \
        { \
            NULL, 0 \
        } \
    }

struct dse_plugin {
    int abi;             /* DSE_PLUGIN_ABI */
    const char *headers; /* DSE_HEADERS */
    const struct dse_plugin_size *sizes;
    const struct dse_model *const *models; /* closed by NULL */
};

/* Make this shared object a plug-in with these models, each &dse_model_NAME. Once in a plug-in. */
#define DSE_PLUGIN(...) \
    extern const struct dse_plugin dse_plugin; \
    __attribute__((visibility("default"))) const struct dse_plugin dse_plugin = { \
        DSE_PLUGIN_ABI, DSE_HEADERS, DSE_PLUGIN_SIZES, (const struct dse_model *const[]){__VA_ARGS__, NULL}}

#endif
