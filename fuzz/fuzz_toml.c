/* The TOML reader: whatever the bytes, a tree that can be walked with every place inside the text, or exactly one error. */
#include "config/toml.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void need(bool holds)
{
    if (!holds) abort();
}

static int count_lines(const char *text)
{
    int n = 1;
    for (; *text; text++) n += *text == '\n';
    return n;
}

static void walk(const struct toml_doc *doc, const struct toml_node *node, int lines)
{
    need(node->line >= 0 && node->line <= lines && node->column >= 0);
    need(strlen(toml_type_name(node->type)) > 0);
    if (node->type == TOML_STRING || node->type == TOML_DATETIME) need(node->string != NULL);
    if (node->type != TOML_ARRAY && node->type != TOML_TABLE) need(node->n == 0);
    for (size_t i = 0; i < node->n; i++) {
        const struct toml_node *child = &node->children[i];
        need((child->key != NULL) == (node->type == TOML_TABLE));
        if (child->key) {
            need(toml_get(node, child->key) == child);
            need(child->key_line >= 1 && child->key_line <= lines && child->key_column >= 1);
        }
        walk(doc, child, lines);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct diags d;
    diags_init(&d);
    struct toml_doc *doc = toml_read_text("fuzz", (const char *)data, n, &d);
    need(d.errors == (doc ? 0 : 1));
    if (doc) walk(doc, &doc->root, count_lines(doc->text));
    toml_free(doc);
    diags_release(&d);
    return 0;
}
