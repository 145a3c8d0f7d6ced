#include "config/toml.h"

#include "base/file.h"
#include "base/hint.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "config/toml_scan.h"
#include "config/toml_shim.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 8 << 20 };

void toml_node_release(struct toml_node *node)
{
    free(node->key);
    if (node->type == TOML_STRING || node->type == TOML_DATETIME) free(node->string);
    for (size_t i = 0; i < node->n; i++) toml_node_release(&node->children[i]);
    free(node->children);
}

void toml_free(struct toml_doc *doc)
{
    if (!doc) return;
    toml_node_release(&doc->root);
    free(doc->file);
    free(doc->text);
    free(doc);
}

/* Places in the joined text become those in the file. */
static void unjoin(const struct toml_joined *j, struct toml_node *node)
{
    if (j->n == 0) return;
    toml_joined_place(j, &node->line, &node->column);
    if (node->key) toml_joined_place(j, &node->key_line, &node->key_column);
    for (size_t i = 0; i < node->n; i++) unjoin(j, &node->children[i]);
}

struct toml_doc *toml_read_text(const char *name, const char *text, size_t n, struct diags *diags)
{
    static const char bom[] = "\xEF\xBB\xBF";
    if (n >= 3 && memcmp(text, bom, 3) == 0) {
        text += 3;
        n -= 3;
    }
    struct toml_doc *doc = xcalloc(1, sizeof *doc);
    doc->file = xstrdup(name);
    doc->text = xstrndup(text, n);
    doc->root.type = TOML_TABLE;
    struct srcloc loc = {.file = name};
    struct toml_joined joined;
    const char *wrong = toml_scan(text, n, &joined, &loc.line, &loc.column);
    char *message = NULL;
    const bool ok = !wrong && toml_shim_parse(joined.text ? joined.text : text, n, &doc->root, &loc.line, &loc.column, &message);
    if (ok)
        unjoin(&joined, &doc->root);
    else if (!wrong)
        toml_joined_place(&joined, &loc.line, &loc.column);
    toml_joined_release(&joined);
    if (ok) return doc;
    if (wrong)
        diags_input(diags, loc, doc->text, NULL, "%s", wrong);
    else
        diags_input(diags, loc, doc->text, NULL, "is not TOML: %s", message ? message : "out of memory");
    free(message);
    toml_free(doc);
    return NULL;
}

struct toml_doc *toml_read_file(const char *path, struct diags *diags)
{
    char *text;
    size_t n;
    if (!text_read_file(path, FILE_MAX, &text, &n, diags)) return NULL;
    struct toml_doc *doc = toml_read_text(path, text, n, diags);
    free(text);
    return doc;
}

const struct toml_node *toml_get(const struct toml_node *table, const char *key)
{
    for (size_t i = 0; i < table->n; i++)
        if (strcmp(table->children[i].key, key) == 0) return &table->children[i];
    return NULL;
}

const char *toml_type_name(enum toml_type type)
{
    static const char *const names[] = {
        [TOML_STRING] = "a string",       [TOML_INTEGER] = "an integer",      [TOML_FLOAT] = "a number",
        [TOML_BOOLEAN] = "true or false", [TOML_DATETIME] = "a date or time", [TOML_ARRAY] = "a list",
        [TOML_TABLE] = "a table",
    };
    return names[type];
}

struct srcloc toml_loc(const struct toml_doc *doc, const struct toml_node *node)
{
    return (struct srcloc){doc->file, node->line, node->column};
}

struct srcloc toml_key_loc(const struct toml_doc *doc, const struct toml_node *node)
{
    if (!node->key) return toml_loc(doc, node);
    return (struct srcloc){doc->file, node->key_line, node->key_column};
}

struct srcloc toml_string_loc(const struct toml_doc *doc, const struct toml_node *node)
{
    struct srcloc loc = toml_loc(doc, node);
    const char *s = doc->text;
    for (int line = 1; line < loc.line && (s = strchr(s, '\n')) != NULL; line++) s++;
    if (!s) return loc;
    for (int column = 1; column < loc.column && *s; column++)
        for (s++; (*s & 0xC0) == 0x80; s++) {
        }
    bool three = strncmp(s, "\"\"\"", 3) == 0 || strncmp(s, "'''", 3) == 0;
    loc.column += three ? 3 : 1;
    if (!three || s[3 + strspn(s + 3, "\r")] != '\n') return loc;
    return (struct srcloc){loc.file, loc.line + 1, 1};
}

const struct toml_node *toml_expect(const struct toml_doc *doc, const struct toml_node *table, const char *key, enum toml_type type,
                                    struct diags *diags)
{
    const struct toml_node *node = toml_get(table, key);
    if (!node || node->type == type) return node;
    diags_input(diags, toml_loc(doc, node), doc->text, NULL, "%s: %s is needed, not %s", key, toml_type_name(type),
                toml_type_name(node->type));
    return NULL;
}

bool toml_check_keys(const struct toml_doc *doc, const struct toml_node *table, const char *const *allowed, size_t n,
                     struct diags *diags)
{
    bool ok = true;
    for (size_t i = 0; i < table->n; i++) {
        const char *key = table->children[i].key;
        bool known = false;
        for (size_t k = 0; k < n && !known; k++) known = strcmp(allowed[k], key) == 0;
        if (known) continue;
        ok = false;
        if (diags_is_full(diags)) continue;
        struct text hint;
        text_init(&hint);
        const char *near = text_nearest(key, allowed, n);
        if (near) text_addf(&hint, "did you mean \"%s\"?", near);
        for (size_t k = 0; !near && k < n; k++) text_addf(&hint, "%s%s", k ? ", " : "known keys: ", allowed[k]);
        diags_input(diags, toml_key_loc(doc, &table->children[i]), doc->text, hint.s, "unknown key \"%s\"", key);
        text_release(&hint);
    }
    return ok;
}
