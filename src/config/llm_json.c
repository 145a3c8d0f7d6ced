/* Parsing is Jansson's, which keeps no places of values: those are found again in the text, where an error needs one. */
#include "config/llm_json.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONFIG_MAX = 64 << 20 }; /* an index names each tensor: 15 MB where there are 400 experts in 60 layers */

static const char blanks[] = " \t\r\n";

/* Behind a string that begins at p. */
static const char *skip_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1]) p++;
    return *p ? p + 1 : p;
}

/* ---- what Python adds ---------------------------------------------------------------------------------------------------- */

/* Words of Python outside of strings become numbers of the same length, so that places stay: ones too large for any count. */
static void tame(char *text)
{
    static const struct {
        const char *word, *number;
    } words[] = {{"-Infinity", "-9e000009"}, {"Infinity", "9e000009"}, {"NaN", "9e9"}};
    for (char *p = text; *p;) {
        if (*p == '"') {
            p = text + (skip_string(p) - text);
            continue;
        }
        size_t n = 1;
        for (size_t i = 0; i < sizeof words / sizeof *words && n == 1; i++) {
            if (strncmp(p, words[i].word, strlen(words[i].word)) != 0) continue;
            n = strlen(words[i].word);
            memcpy(p, words[i].number, n);
        }
        p += n;
    }
}

json_t *llm_json_read(const char *path, char **ret_source, struct diags *diags)
{
    if (!text_read_file(path, CONFIG_MAX, ret_source, NULL, diags)) return NULL;
    json_error_t error;
    char *tamed = xstrdup(*ret_source);
    tame(tamed);
    json_t *root = json_loads(tamed, JSON_DECODE_INT_AS_REAL | JSON_ALLOW_NUL, &error);
    free(tamed);
    if (root) return root;
    struct srcloc loc = {.file = path, .line = error.line > 0 ? error.line : 1, .column = error.column > 0 ? error.column : 1};
    diags_input(diags, loc, *ret_source, "a config.json of Hugging Face transformers is needed", "not JSON: %s", error.text);
    return NULL;
}

/* "DIR/NAME" beside "DIR/config.json", and likewise behind any name before it. The caller frees it. */
static char *beside(const char *config, const char *name)
{
    static const char end[] = "config.json";
    const size_t n = strlen(config), k = strlen(end);
    return n >= k && strcmp(config + n - k, end) == 0 ? xasprintf("%.*s%s", (int)(n - k), config, name) : NULL;
}

bool llm_json_beside(const char *config, const char *name, json_t **ret, struct diags *diags)
{
    char *path = beside(config, name), *source = NULL;
    const bool is_there = path && access(path, F_OK) == 0;
    *ret = is_there ? llm_json_read(path, &source, diags) : NULL;
    free(source);
    free(path);
    return !is_there || *ret;
}

/* ---- places -------------------------------------------------------------------------------------------------------------- */

struct srcloc llm_json_place(const char *file, const char *source, const char *at)
{
    struct srcloc loc = {.file = file, .line = 1, .column = 1};
    for (const char *p = source; p < at; p++) {
        loc.column = *p == '\n' ? 1 : loc.column + ((*p & 0xc0) != 0x80);
        loc.line += *p == '\n';
    }
    return loc;
}

const char *llm_json_find(const char *object, const char *key)
{
    const size_t n = strlen(key);
    const char *found = NULL;
    int depth = 0;
    for (const char *p = object; *p; p++) {
        if (*p == '{' || *p == '[') depth++;
        if ((*p == '}' || *p == ']') && --depth == 0) break;
        if (*p != '"') continue;
        const char *end = skip_string(p), *colon = end + strspn(end, blanks);
        const bool same = depth == 1 && *colon == ':' && (size_t)(end - p) == n + 2 && strncmp(p + 1, key, n) == 0;
        if (same) found = colon + 1 + strspn(colon + 1, blanks);
        p = end - 1;
    }
    return found;
}
