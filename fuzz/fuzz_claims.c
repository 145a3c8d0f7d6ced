/* Published numbers and how a model answers them: whatever the bytes, errors, or a set whose every claim has a verdict that fits
 * its number. Bytes that begin like claims.csv take its place, all others that of claims.toml. */
#include "base/file.h"
#include "claims/claims.h"
#include "base/xalloc.h"
#include "toy_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static char dir[] = "/dev/shm/dse-fuzz-XXXXXX"; /* in memory: truncating a file on a disk waits for it */
static const char *const files[] = {"models/toy/defaults.toml", "models/pebble/defaults.toml", "models/toy/claims.csv",
                                    "models/toy/claims.toml",   "catalog/traces/few.trace",    "catalog/ranges/wide.csv"};
enum { FILES = sizeof files / sizeof *files, CSV = 2, TOML = 3 };
static const char *const folders[] = {"models", "models/toy", "models/pebble", "catalog", "catalog/traces", "catalog/ranges"};
enum { FOLDERS = sizeof folders / sizeof *folders };

static void need(bool holds)
{
    if (!holds) abort();
}

static void write_file(const char *name, const void *bytes, size_t n)
{
    char *path = xasprintf("%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    need(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
    free(path);
}

static void copy_file(const char *name)
{
    struct diags d;
    diags_init(&d);
    char *path = xasprintf("%s/%s", toy_data_dir(), name), *text;
    size_t n;
    need(text_read_file(path, 1 << 20, &text, &n, &d));
    write_file(name, text, n);
    free(text);
    free(path);
}

static void remove_all(void)
{
    for (size_t i = 0; i < FILES + FOLDERS; i++) {
        char *path = xasprintf("%s/%s", dir, i < FILES ? files[i] : folders[FILES + FOLDERS - 1 - i]);
        remove(path);
        free(path);
    }
    rmdir(dir);
}

static void make_folders(void)
{
    need(mkdtemp(dir) != NULL);
    atexit(remove_all);
    for (size_t i = 0; i < FOLDERS; i++) {
        char *path = xasprintf("%s/%s", dir, folders[i]);
        need(mkdir(path, 0777) == 0);
        free(path);
    }
    for (size_t i = 0; i < FILES; i++) copy_file(files[i]);
}

static void check_answers(struct claim_set *s, struct diags *d)
{
    size_t n, constants;
    const struct claim *claims = claims_list(s, &n);
    const struct claim_constant *c = claims_constants(s, &constants);
    for (size_t i = 0; i < constants; i++) need(c[i].shipped >= c[i].min && c[i].shipped <= c[i].max);
    struct claim_answer *a = xcalloc(n, sizeof *a);
    size_t before = d->errors;
    need(claims_answer(s, a, d) == (d->errors == before));
    for (size_t i = 0; i < n; i++) {
        need(isnan(a[i].modelled) == isnan(a[i].error_percent));
        need(!isnan(a[i].modelled) || a[i].verdict >= CLAIM_CONTRADICTION);
        need(a[i].verdict != CLAIM_FITTED);
        need(!isnan(a[i].modelled) || a[i].reason);
        need(claims[i].half_digit >= 0);
    }
    for (const struct claim_group *g = claim_groups; g->name; g++) need(claims_sum(s, a, g).claims <= n);
    free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static struct catalog *catalog;
    struct diags d;
    diags_init(&d);
    if (!catalog) {
        make_folders();
        catalog = catalog_new(toy_data_dir(), &d);
    }
    int target = n > 3 && memcmp(data, "id,", 3) == 0 ? CSV : TOML;
    static int changed = -1; /* the file that is not as the toy has it */
    if (changed >= 0 && changed != target) copy_file(files[changed]);
    changed = target;
    write_file(files[target], data, n);
    struct claim_set *s = claims_open(registry_find("toy"), catalog, dir, &d);
    need((s == NULL) == (d.errors > 0));
    if (s) check_answers(s, &d);
    claims_free(s);
    diags_release(&d);
    return 0;
}
