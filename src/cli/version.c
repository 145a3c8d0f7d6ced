#include "cli/version.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "config/catalog.h"
#include "dse_config.h"
#include "model/registry.h"

#include <gsl/gsl_version.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

/* "lad 7 (event level), veda 4": the caller frees it. */
static char *models_text(void)
{
    struct text t;
    text_init(&t);
    size_t n;
    const struct model *models = registry_models(&n);
    for (size_t i = 0; i < n; i++) text_addf(&t, "%s%s %d", i ? ", " : "", models[i].desc->name, models[i].desc->version);
    return text_detach(&t);
}

void version_print(bool verbose)
{
    printf("dse %s (%s)\n", DSE_VERSION, DSE_COMMIT);
    if (!verbose) return;
    const char *dir = catalog_data_dir();
    size_t entries, constants;
    const uint64_t catalog = catalog_digest(dir, "catalog", NULL, &entries);
    const uint64_t defaults = catalog_digest(dir, "models", "defaults.toml", &constants);
    char *models = models_text();
    printf("build: %s\n", DSE_BUILD);
    printf("libraries: SQLite %s, GSL %s, %s\n", sqlite3_libversion(), gsl_version, DSE_LIBRARIES);
    printf("models: %s\n", models);
    printf("data: %s\n", dir);
    printf("catalog: %016" PRIx64 ", %zu files\n", catalog, entries);
    printf("constants: %016" PRIx64 ", %zu files\n", defaults, constants);
    printf("licence: Apache-2.0\n");
    free(models);
}
