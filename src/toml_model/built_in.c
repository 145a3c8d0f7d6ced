/* Models of the tree that are files in TOML: the text is in the program. */
#include "toml_model/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The text is part of the program, and so are its errors. */
void built_in_end(const struct dse_closed_model *file, const struct diags *diags)
{
    diags_print(diags, stderr, false);
    fprintf(stderr, "dse: %s, which is built in, is no model\n", file->file);
    abort();
}

struct made_model registry_make_toml(const struct dse_closed_model *file)
{
    const struct toml_model *there = toml_model_placed(file);
    if (there) return toml_model_made(there);
    struct diags diags;
    diags_init(&diags);
    struct toml_doc *doc = toml_read_text(file->file, file->text, strlen(file->text), &diags);
    struct toml_model *m = doc ? toml_model_new(doc, false, file, &diags) : NULL;
    if (!m || !toml_model_place(m)) built_in_end(file, &diags);
    diags_release(&diags);
    return toml_model_made(m);
}
