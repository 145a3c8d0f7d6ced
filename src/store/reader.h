/* Internal to src/store: what a reader holds. */
#ifndef DSE_STORE_READER_H
#define DSE_STORE_READER_H

#include "store/db.h"

struct reader {
    struct db db;
    bool takes_cells; /* the function of run_rows.c is there */
};

#endif
