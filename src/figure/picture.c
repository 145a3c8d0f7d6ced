#include "figure/picture.h"

#include "base/xalloc.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool picture_format(const char *path, enum format *ret, struct diags *diags)
{
    static const char *const endings[] = {".png", ".svg", ".pdf"};
    static const enum format formats[] = {FORMAT_PNG, FORMAT_SVG, FORMAT_PDF};
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot, endings[i]) == 0) {
            *ret = formats[i];
            return true;
        }
    return diags_input(diags, (struct srcloc){.file = path}, NULL, "the ending names the format: .png, .svg or .pdf",
                       "%s%s%s cannot be the format of a figure", dot ? "\"" : "a name without an ending", dot ? dot : "",
                       dot ? "\"" : "");
}

/* The directory of a path; the caller frees it. */
static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return xstrdup(".");
    return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

bool picture_check(const char *path, struct diags *diags)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return diags_runtime(diags, path, "cannot write the figure: it is a directory");
    char *directory = directory_of(path);
    bool found = stat(directory, &st) == 0, ok = true;
    if (found && !S_ISDIR(st.st_mode))
        ok = diags_runtime(diags, path, "cannot write the figure: %s is not a directory", directory);
    else if (!found || access(directory, W_OK | X_OK) != 0)
        ok = diags_runtime(diags, path, "cannot write the figure: the directory %s: %s", directory, strerror(errno));
    free(directory);
    return ok;
}

bool picture_check_whole(enum format format, const struct text *picture, struct diags *diags)
{
    static const struct {
        const char *begin, *end;
    } marks[] = {
        [FORMAT_PNG] = {"\x89PNG\r\n\x1A\n", "IEND\xAE\x42\x60\x82"},
        [FORMAT_SVG] = {"<?xml", "</svg>"},
        [FORMAT_PDF] = {"%PDF-", "%%EOF"},
    };
    size_t n = picture->n, begin = strlen(marks[format].begin), end = strlen(marks[format].end);
    while (n && (picture->s[n - 1] == '\n' || picture->s[n - 1] == '\r')) n--;
    if (n >= begin + end && memcmp(picture->s, marks[format].begin, begin) == 0 &&
        memcmp(picture->s + n - end, marks[format].end, end) == 0)
        return true;
    return diags_runtime(diags, NULL, "gnuplot's picture is not whole");
}

/* ---- PNG -------------------------------------------------------------------------------------------------------------- */

static void put_be32(unsigned char *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> (24 - 8 * i));
}

/* CRC of a PNG chunk (PNG specification, annex D), bit by bit: it is for a few bytes. */
static uint32_t crc32_of(const unsigned char *p, size_t n)
{
    uint32_t crc = 0xFFFFFFFF;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xEDB88320 ^ crc >> 1 : crc >> 1;
    }
    return ~crc;
}

void picture_set_density(struct text *png, double dpi)
{
    enum { HEAD = 8 + 25, CHUNK = 21 }; /* signature and IHDR; a whole pHYs */
    static const double inches_per_metre = 1000 / 25.4;
    if (png->n < HEAD || memcmp(png->s + 12, "IHDR", 4) != 0) return;
    unsigned char chunk[CHUNK] = {0, 0, 0, 9, 'p', 'H', 'Y', 's'};
    uint32_t density = (uint32_t)lround(dpi * inches_per_metre);
    put_be32(chunk + 8, density);
    put_be32(chunk + 12, density);
    chunk[16] = 1; /* the unit is the metre */
    put_be32(chunk + 17, crc32_of(chunk + 4, 13));
    struct text whole;
    text_init(&whole);
    text_add_bytes(&whole, png->s, HEAD);
    text_add_bytes(&whole, (const char *)chunk, CHUNK);
    text_add_bytes(&whole, png->s + HEAD, png->n - HEAD);
    text_release(png);
    *png = whole;
}
