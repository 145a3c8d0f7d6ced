/* CSV tables, as a user's attention profile: whatever the bytes, a profile that can be interpolated or an error. */
#include "base/xalloc.h"
#include "config/catalog.h"
#include "toy_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool holds)
{
    if (!holds) abort();
}

/* The bytes as a file in memory. */
static int make_file(const uint8_t *data, size_t n)
{
    int fd = memfd_create("fuzz", 0);
    need(fd >= 0);
    while (n > 0) {
        ssize_t done = write(fd, data, n);
        need(done > 0);
        data += done;
        n -= (size_t)done;
    }
    return fd;
}

static void check_profile(const struct dse_profile *p)
{
    double from, to;
    dse_profile_range(p, &from, &to);
    need(from < to);
    for (int i = 0; i <= 4; i++) {
        struct dse_locality l = dse_profile_at(p, i == 4 ? to : from + (to - from) * i / 4);
        need(isfinite(l.centers) && isfinite(l.large) && isfinite(l.active) && isfinite(l.updates) && isfinite(l.hit_ratio));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct diags d;
    diags_init(&d);
    struct catalog *c = catalog_new(toy_data_dir(), &d);
    need(c != NULL);
    int fd = make_file(data, n);
    char *text = xasprintf("profiles.fuzz = '/proc/self/fd/%d'\n", fd);
    struct toml_doc *doc = toml_read_text("t", text, strlen(text), &d);
    bool ok = catalog_add_table(c, doc, &doc->root, &d);
    need(ok == (d.errors == 0));
    if (ok) check_profile((const struct dse_profile *)catalog_find(c, DSE_KIND_PROFILE, "fuzz"));
    toml_free(doc);
    free(text);
    close(fd);
    catalog_free(c);
    diags_release(&d);
    return 0;
}
