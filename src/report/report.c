/* The page: its parts put together. */
#include "report/report.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "report/report_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { PART_MAX = 8 << 20, NONCE_MAX = 33 };

/* Read a part of the page from the data directory. */
static bool read_part(const char *name, char **ret, struct diags *diags)
{
    char *path = xasprintf("%s/report/%s", catalog_data_dir(), name);
    bool ok = text_read_file(path, PART_MAX, ret, NULL, diags);
    if (!ok && strstr(name, "node_modules"))
        diags_runtime(diags, NULL, "the charting library is not there: `./dev deps` fetches it");
    free(path);
    return ok;
}

/* Put `part` in the place of the mark, which stands once in what is left of *page. */
static void put(struct text *t, const char **page, const char *mark, const char *part, size_t n)
{
    const char *at = strstr(*page, mark);
    if (!at) abort(); /* the page is ours */
    text_add_bytes(t, *page, (size_t)(at - *page));
    text_add_bytes(t, part, n);
    *page = at + strlen(mark);
}

/* The page runs no script without this word, which nobody knew who wrote the database. */
static void make_nonce(char ret[NONCE_MAX])
{
    uint8_t bytes[(NONCE_MAX - 1) / 2];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) abort(); /* so few bytes come whole or the system has none */
    for (size_t i = 0; i < sizeof bytes; i++) snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static bool write_page(struct text *data, const char *out, struct diags *diags)
{
    enum { PAGE, STYLE, LIBRARY, SCRIPT, PARTS };
    static const char *const names[PARTS] = {"page.html", "page.css", "node_modules/echarts/dist/echarts.min.js", "page.js"};
    char *part[PARTS] = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < PARTS; i++) ok = read_part(names[i], &part[i], diags);
    if (ok) {
        struct text t;
        char nonce[NONCE_MAX];
        make_nonce(nonce);
        const char *page = part[PAGE];
        text_init(&t);
        put(&t, &page, "/*NONCE*/", nonce, strlen(nonce));
        put(&t, &page, "/*STYLE*/", part[STYLE], strlen(part[STYLE]));
        put(&t, &page, "/*DATA*/", data->s, data->n);
        put(&t, &page, "/*NONCE*/", nonce, strlen(nonce));
        put(&t, &page, "/*LIBRARY*/", part[LIBRARY], strlen(part[LIBRARY]));
        put(&t, &page, "/*NONCE*/", nonce, strlen(nonce));
        put(&t, &page, "/*SCRIPT*/", part[SCRIPT], strlen(part[SCRIPT]));
        text_add(&t, page);
        ok = file_write(out, t.s, t.n, diags);
        text_release(&t);
    }
    for (size_t i = 0; i < PARTS; i++) free(part[i]);
    return ok;
}

bool report_write(const struct report_options *o, const char *out, struct text *said, struct diags *diags)
{
    struct report_run r;
    struct text data;
    text_init(&data);
    bool ok = report_run_open(&r, o, diags) && report_data(&r, &data, said, diags) && write_page(&data, out, diags);
    text_release(&data);
    report_run_close(&r);
    return ok;
}
