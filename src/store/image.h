/* Internal to src/store: encoded blocks as a database that SQLite reads while they come.
 *
 * The image is a read-only database of one table, MODEL_all, attached to the connection as "image" through a VFS of its own. Its
 * file exists nowhere: a page is handed out when SQLite asks for it. In one transaction it is, from the root down,
 *
 *     page 1          header and schema: the very CREATE statement of the file's MODEL_all
 *     page 2          root: one child a block            (of a single block: that block's top page)
 *     3 + i * 2048    top page of block i: one child a leaf; then the leaves   (of a single leaf: that leaf)
 *
 * A scan asks for blocks in order and never goes back, so that only the current one has to be there; the next is pulled from the
 * source when its top page is asked for. SQLite copies whole records from such a table (its "transfer optimization") without
 * taking them apart.
 */
#ifndef DSE_STORE_IMAGE_H
#define DSE_STORE_IMAGE_H

#include "store/db.h"
#include "store/store_internal.h"

struct image;

/* Attach an image of `table`, which is declared by `sql`. NULL with an error; NULL without one when the statement is too long. */
struct image *image_new(const struct db *db, const char *table, const char *sql, struct diags *diags);
/* Detach the image and free it. Statements that use it must be finalized before. */
void image_free(const struct db *db, struct image *image);
/* Take the next transaction's rows from the model's source, whose blocks are encoded. False when there are too many. */
bool image_begin(struct image *image, struct store_model *model);

#endif
