/* Models in TOML: those of the tree, the examples, and one of tests that has all forms of formulas. */
#ifndef DSE_TESTS_TOML_EXAMPLES_H
#define DSE_TESTS_TOML_EXAMPLES_H

#include "base/text.h"
#include "base/xalloc.h"
#include "dse_config.h"
#include "toml_model/toml_model.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *model, *file;
} toml_examples[] = {{"veda", NULL},
                     {"swiftkv", NULL},
                     {"array", "examples/array.toml"},
                     {"data_sheet", "examples/data_sheet.toml"},
                     {"forms", "tests/data/models/forms.toml"}};
enum { TOML_EXAMPLES = sizeof toml_examples / sizeof *toml_examples };

static inline bool load_toml_examples(const char *data_dir)
{
    struct diags found;
    bool ok = true;
    diags_init(&found);
    for (size_t i = 0; i < TOML_EXAMPLES; i++) {
        if (!toml_examples[i].file) continue;
        char *file = xasprintf("%s/%s", data_dir, toml_examples[i].file);
        ok = toml_model_load(file, &found) && ok;
        free(file);
    }
    diags_print(&found, stderr, false);
    diags_release(&found);
    return ok;
}

#endif
