/* Files, all but databases: read whole, and written whole or not at all.
 *
 * A file is written without a name, or under a name of its own where the file system knows no nameless files, and takes the place
 * of what stood at the path when it and its directory are on the disk: whoever reads the path sees the old file or the new one.
 * What a killed process left behind is removed by the next that writes to the same path, and never in its way. The mode of a file
 * that is replaced is kept; a symbolic link is followed. What is no regular file (a directory, a device) is not replaced.
 */
#ifndef DSE_BASE_FILE_H
#define DSE_BASE_FILE_H

#include "base/diag.h"

/* Read a whole file of at most max_bytes. On success *ret is NUL-terminated (its size without the NUL in *ret_n, which may be
 * NULL) and the caller frees it. A missing file, a directory, a file too large: an input error in diags, false. */
bool text_read_file(const char *path, size_t max_bytes, char **ret, size_t *ret_n, struct diags *diags);

struct file; /* being written */

/* NULL with a run-time error: the path cannot be written to. */
struct file *file_begin(const char *path, struct diags *diags);
/* Add bytes. False when a write has failed: the rest need not be written then, and file_commit adds the error. */
bool file_put(struct file *f, const void *bytes, size_t n);
/* Put the file in its place and free it. On failure a run-time error is added, and the old file stays. */
bool file_commit(struct file *f, struct diags *diags);
/* Give the file up: free it and leave nothing of it behind. NULL is allowed. */
void file_abandon(struct file *f);

/* Write a whole file at once. */
bool file_write(const char *path, const void *bytes, size_t n, struct diags *diags);

/* Names that were made in a directory are on the disk: they survive that the machine loses its power. A directory that cannot be
 * synchronised is left to the system. */
void file_sync_names(const char *directory);

#endif
