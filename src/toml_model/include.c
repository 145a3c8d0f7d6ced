/* include = ["common/blocks.toml"]: files beside that of the model, with equations, functions and tables that models share. Others
 * may have written all of them: a name leads to no folder above, and there is an end to files, to files in a row and to their
 * bytes. */
#include "toml_model/internal.h"

#include "base/xalloc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BYTES_MAX = 8 << 20 }; /* of all of them, as of one file: config/toml.h */

/* A file that is being read. */
struct reading {
    const struct toml_doc *doc;
    const struct reading *above; /* that includes it */
    dev_t device;
    ino_t file;
    int depth;
};

struct including {
    struct includes *to;
    size_t bytes;
    dev_t devices[MODEL_INCLUDES_MAX]; /* of those in `to` and on the way there */
    ino_t files[MODEL_INCLUDES_MAX];
    int n;
    struct diags *diags;
};

static bool is_plain(const char *name)
{
    const size_t n = strlen(name);
    if (n < 6 || strcmp(name + n - 5, ".toml") != 0 || *name == '/') return false;
    for (const char *s = name; *s; s++) {
        const bool begins = s == name || s[-1] == '/';
        if ((unsigned char)*s <= ' ' || *s == '\\' || (begins && (*s == '.' || *s == '/'))) return false;
    }
    return true;
}

/* "a.toml -> b.toml -> a.toml" */
static bool cycle(const struct including *k, const struct reading *from, const struct reading *to, const struct toml_node *at)
{
    struct text t;
    text_init(&t);
    const struct reading *row[MODEL_INCLUDES_DEEP + 1];
    int n = 0;
    for (const struct reading *r = from; r; r = r == to ? NULL : r->above) row[n++] = r;
    while (n > 0) text_addf(&t, "%s -> ", row[--n]->doc->file);
    diags_input(k->diags, toml_loc(from->doc, at), from->doc->text, "what both need may stand in a third file",
                "files that include each other: %s%s", t.s, to->doc->file);
    text_release(&t);
    return false;
}

static bool read_doc(struct including *k, struct reading *r);

static bool read_file(struct including *k, const struct reading *above, const struct toml_node *at, const char *path)
{
    const struct srcloc loc = toml_loc(above->doc, at);
    struct stat st;
    const bool is_there = stat(path, &st) == 0;
    if (!is_there || !S_ISREG(st.st_mode))
        return diags_input(k->diags, loc, above->doc->text, "a file is looked for beside the one that includes it",
                           "the file %s cannot be read: %s", path, is_there ? "it is no file" : strerror(errno));
    for (const struct reading *r = above; r; r = r->above)
        if (r->device == st.st_dev && r->file == st.st_ino) return cycle(k, above, r, at);
    for (int i = 0; i < k->n; i++)
        if (k->devices[i] == st.st_dev && k->files[i] == st.st_ino) return true;
    if (k->n == MODEL_INCLUDES_MAX || above->depth == MODEL_INCLUDES_DEEP)
        return diags_input(k->diags, loc, above->doc->text, NULL, "a model includes at most %d files, and at most %d in a row",
                           MODEL_INCLUDES_MAX, MODEL_INCLUDES_DEEP);
    k->devices[k->n] = st.st_dev;
    k->files[k->n++] = st.st_ino;
    k->bytes += (size_t)st.st_size;
    if (k->bytes > BYTES_MAX)
        return diags_input(k->diags, loc, above->doc->text, NULL, "the files that a model includes have more than 8 MiB");
    struct toml_doc *doc = toml_read_file(path, k->diags);
    struct reading r = {.doc = doc, .above = above, .device = st.st_dev, .file = st.st_ino, .depth = above->depth + 1};
    if (!doc) return false;
    const bool ok = read_doc(k, &r);
    k->to->docs = xrealloc(k->to->docs, (size_t)k->to->n + 1, sizeof(struct toml_doc *));
    k->to->docs[k->to->n++] = doc;
    return ok;
}

static bool read_one(struct including *k, const struct reading *r, const struct toml_node *name)
{
    if (name->type != TOML_STRING || !is_plain(name->string))
        return diags_input(k->diags, toml_loc(r->doc, name), r->doc->text, "include = [\"common/blocks.toml\"]",
                           "the name of a file in TOML is needed, in the same folder or one below it");
    const char *slash = strrchr(r->doc->file, '/');
    char *path = xasprintf("%.*s%s", slash ? (int)(slash + 1 - r->doc->file) : 0, r->doc->file, name->string);
    const bool ok = read_file(k, r, name, path);
    free(path);
    return ok;
}

/* What the document includes. */
static bool read_doc(struct including *k, struct reading *r)
{
    static const char *const sections[] = {"include", "tables", "functions", "equations"};
    bool ok = check_entries(r->doc, &r->doc->root, k->diags);
    if (r->above) ok = toml_check_keys(r->doc, &r->doc->root, sections, 4, k->diags) && ok;
    const struct toml_node *list = toml_expect(r->doc, &r->doc->root, "include", TOML_ARRAY, k->diags);
    ok = ok && (list || !toml_get(&r->doc->root, "include"));
    for (size_t i = 0; list && i < list->n && ok; i++) ok = read_one(k, r, &list->children[i]);
    return ok;
}

bool includes_read(const struct toml_doc *doc, struct includes *ret, struct diags *diags)
{
    struct including k = {.to = ret, .diags = diags};
    struct reading r = {.doc = doc};
    struct stat st;
    if (stat(doc->file, &st) == 0) r.device = st.st_dev, r.file = st.st_ino;
    *ret = (struct includes){0};
    return read_doc(&k, &r);
}

void includes_release(struct includes *i)
{
    for (int k = 0; k < i->n; k++) toml_free(i->docs[k]);
    free(i->docs);
    *i = (struct includes){0};
}

char *includes_text(const struct includes *i)
{
    struct text t;
    text_init(&t);
    text_add(&t, "");
    for (int k = 0; k < i->n; k++) text_addf(&t, "%s\n", i->docs[k]->text);
    return text_detach(&t);
}
