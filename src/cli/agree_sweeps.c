#include "cli/agree_sweeps.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static bool read_into(const struct invocation *in, const char *file, struct agree_sweeps *ret, struct diags *diags)
{
    struct catalog *catalog = open_catalog(in);
    struct sweep_file *s = catalog ? sweep_file_read(file, catalog, catalog_data_dir(), diags) : NULL;
    ret->list = xrealloc(ret->list, ret->n + 1, sizeof *ret->list);
    ret->catalogs = xrealloc(ret->catalogs, ret->n + 1, sizeof *ret->catalogs);
    ret->list[ret->n] = s;
    ret->catalogs[ret->n++] = catalog;
    return s && diags->errors == 0;
}

bool agree_sweep_read(const struct invocation *in, const char *file, struct agree_sweeps *ret)
{
    return read_into(in, file, ret, in->diags) && in->diags->errors == 0;
}

static int is_toml(const struct dirent *d)
{
    const size_t n = strlen(d->d_name);
    return n > 5 && strcmp(d->d_name + n - 5, ".toml") == 0;
}

/* Does the text name the model where a sweep would: as a word in quotes? */
static bool names_model(const char *text, const struct model *m)
{
    char *word = xasprintf("\"%s\"", m->desc->name);
    const bool ret = strstr(text, word) != NULL;
    free(word);
    return ret;
}

static bool has_model(const struct sweep_file *s, const struct model *m)
{
    for (size_t i = 0; i < s->n_models; i++)
        if (s->bindings[i]->model == m) return true;
    return false;
}

static void drop_last(struct agree_sweeps *s)
{
    s->n--;
    sweep_file_free(s->list[s->n]);
    catalog_free(s->catalogs[s->n]);
}

/* One that the user's own catalogs do not fit is passed over. */
static void add_shipped(const struct invocation *in, const char *file, const struct model *m, struct agree_sweeps *ret)
{
    struct diags ignored;
    diags_init(&ignored);
    const bool ok = read_into(in, file, ret, &ignored);
    if (!ok || !has_model(ret->list[ret->n - 1], m)) drop_last(ret);
    diags_release(&ignored);
}

void agree_sweeps_shipped(const struct invocation *in, const struct model *m, struct agree_sweeps *ret)
{
    enum { FILE_MAX = 1 << 20 };
    char *path = xasprintf("%s/sweeps", catalog_data_dir());
    struct dirent **files = NULL;
    const int n = scandir(path, &files, is_toml, alphasort);
    for (int i = 0; i < n; i++) {
        char *file = xasprintf("%s/%s", path, files[i]->d_name), *text = NULL;
        struct diags ignored;
        diags_init(&ignored);
        if (text_read_file(file, FILE_MAX, &text, NULL, &ignored) && names_model(text, m)) add_shipped(in, file, m, ret);
        diags_release(&ignored);
        free(text);
        free(file);
        free(files[i]);
    }
    free(files);
    free(path);
}

void agree_sweeps_release(struct agree_sweeps *s)
{
    while (s->n > 0) drop_last(s);
    free(s->list);
    free(s->catalogs);
    *s = (struct agree_sweeps){0};
}
