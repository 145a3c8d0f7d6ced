/* The entry of the extension: `.load dse`. */
#include "sql/sql_internal.h"

#include "toml_model/toml_model.h"

#include <pthread.h>

SQLITE_EXTENSION_INIT3

__attribute__((visibility("default"))) int sqlite3_dse_init(sqlite3 *db, char **error, const sqlite3_api_routines *api);

int sqlite3_dse_init(sqlite3 *db, char **error, const sqlite3_api_routines *api)
{
    enum { OLDEST = 3025000 };                               /* with window functions */
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the registry is one for all connections */
    SQLITE_EXTENSION_INIT2(api)
    if (sqlite3_libversion_number() < OLDEST) {
        *error = sqlite3_mprintf("dse needs SQLite 3.25 or newer; this is %s", sqlite3_libversion());
        return SQLITE_ERROR;
    }
    struct diags diags;
    struct plain_numbers numbers;
    diags_init(&diags);
    plain_numbers_begin(&numbers);
    pthread_mutex_lock(&lock);
    const bool ok = model_load_all(catalog_data_dir(), &diags);
    registry_models(NULL);
    pthread_mutex_unlock(&lock);
    plain_numbers_end(&numbers);
    if (!ok) {
        *error = sql_error(&diags);
        return SQLITE_ERROR;
    }
    diags_release(&diags);
    struct sql_models *models = sql_models_new(NULL);
    const int rc = sql_register(db, models);
    sql_models_release(models);
    return rc == SQLITE_OK ? SQLITE_OK_LOAD_PERMANENTLY : rc; /* unloaded with its connection, it would lose its models */
}
