/* The entry of the extension: `.load dse`. */
#include "sql/sql.h"

#include "model/registry.h"

#include <pthread.h>

SQLITE_EXTENSION_INIT1

static void make_registry(void)
{
    registry_models(NULL);
}

__attribute__((visibility("default"))) int sqlite3_dse_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

int sqlite3_dse_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    enum { OLDEST = 3025000 }; /* with window functions */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    SQLITE_EXTENSION_INIT2(api)
    if (sqlite3_libversion_number() < OLDEST) {
        *error = sqlite3_mprintf("dse needs SQLite 3.25 or newer; this is %s", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    pthread_once(&once, make_registry);
    struct sql_models *models = sql_models_new(NULL);
    const int rc = sql_register(db, models);
    sql_models_release(models);
    return rc;
}
