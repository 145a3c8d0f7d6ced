/* The examples of models in TOML, loaded beside the models in C. */
#ifndef DSE_TESTS_TOML_EXAMPLES_H
#define DSE_TESTS_TOML_EXAMPLES_H

#include "base/text.h"
#include "dse_config.h"
#include "toml_model/toml_model.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const toml_examples[] = {"veda", "array", "tpu_v5e"};
enum { TOML_EXAMPLES = sizeof toml_examples / sizeof *toml_examples };

static inline bool load_toml_examples(const char *data_dir)
{
    struct diags found;
    bool ok = true;
    diags_init(&found);
    for (size_t i = 0; i < TOML_EXAMPLES; i++) {
        char *file = xasprintf("%s/examples/%s.toml", data_dir, toml_examples[i]);
        ok = toml_model_load(file, &found) && ok;
        free(file);
    }
    diags_print(&found, stderr, false);
    diags_release(&found);
    return ok;
}

#endif
