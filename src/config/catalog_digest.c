/* A hash of the catalog of a data directory. */
#include "base/file.h"
#include "config/catalog.h"

#include "base/text.h"
#include "base/xalloc.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 256 << 20 };

struct digest {
    uint64_t hash;
    size_t files;
    size_t root; /* length of the path to the directory: what is behind it counts */
};

static int is_no_dot(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

static void add_file(struct digest *d, const char *path)
{
    char *bytes;
    size_t n;
    struct diags unread;
    diags_init(&unread);
    d->hash = text_hash(d->hash, path + d->root, strlen(path + d->root) + 1);
    d->files++;
    if (text_read_file(path, FILE_MAX, &bytes, &n, &unread)) {
        d->hash = text_hash(d->hash, bytes, n);
        free(bytes);
    }
    diags_release(&unread);
}

/* In the order of the names, whatever that of the file system is. */
static void add_folder(struct digest *d, const char *folder)
{
    struct dirent **list = NULL;
    const int n = scandir(folder, &list, is_no_dot, alphasort);
    for (int i = 0; i < n; i++) {
        char *path = xasprintf("%s/%s", folder, list[i]->d_name);
        struct stat st;
        if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
            add_folder(d, path);
        else
            add_file(d, path);
        free(path);
        free(list[i]);
    }
    free(list);
}

uint64_t catalog_digest(const char *data_dir, size_t *ret_files)
{
    struct digest d = {.hash = TEXT_HASH_INIT, .root = strlen(data_dir)};
    char *path = xasprintf("%s/catalog", data_dir);
    add_folder(&d, path);
    free(path);
    *ret_files = d.files;
    return d.hash;
}
