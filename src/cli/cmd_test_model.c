/* dse test-model: what every model owes, asked of a plug-in or of a model that dse has. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "cli/crash.h"
#include "cli/model_find.h"
#include "command/command.h"
#include "model/plugin.h"
#include "model/plugin_try.h"
#include "prove/prove.h"
#include "toml_model/toml_model.h"

#include <stdlib.h>
#include <string.h>

/* Is it the name of a file, not of a model? */
static bool is_file(const char *s)
{
    const size_t n = strlen(s);
    return strchr(s, '/') || (n > 3 && strcmp(s + n - 3, ".so") == 0) || toml_model_is_file(s);
}

static bool test_model(const struct model *m, const struct catalog *catalog, struct diags *diags)
{
    bool ok = true;
    for (const struct proof *p = proofs; p->name; p++) {
        struct text note;
        text_init(&note);
        const bool holds = p->run(m, catalog, &note, diags);
        printf("%-10s %-14s %s: %s%s%s%s\n", m->desc->name, p->name, holds ? "ok    " : "FAILED", p->what, note.n ? " (" : "",
               note.s, note.n ? ")" : "");
        fflush(stdout);
        text_release(&note);
        ok = ok && holds;
    }
    return ok;
}

struct first_point {
    const struct model *m;
    const struct catalog *catalog;
};

static void run_first_point(void *user)
{
    const struct first_point *first = user;
    struct text note;
    struct diags own;
    text_init(&note);
    diags_init(&own);
    proof_find("defaults")->run(first->m, first->catalog, &note, &own);
}

/* A plug-in that does not come back from its defaults would never come back from 20,000 points. */
static bool ends(const struct model *m, const struct catalog *catalog, struct diags *diags)
{
    if (!m->file || m->made.source) return true;
    char *what = xasprintf("model %s, evaluated at its defaults,", m->desc->name);
    const bool ok = plugin_try_call(m->file, what, run_first_point, &(struct first_point){m, catalog}, diags);
    free(what);
    return ok;
}

/* The models of the plug-in, or the one model: those of which `of` is the file, or the model. */
static bool is_asked(const struct model *m, const struct model *of, bool file)
{
    return file ? m->file && strcmp(m->file, of->file) == 0 : m == of;
}

static int run(const struct invocation *in)
{
    const char *what = in->operands[0];
    const bool file = is_file(what);
    if (file && !model_load(what, in->diags)) return 2;
    if (file) crash_watch();
    const struct model *of = file ? plugin_model(what) : model_find(in, what);
    struct catalog *catalog = of ? open_catalog(in) : NULL;
    size_t n;
    const struct model *models = registry_models(&n);
    bool ok = catalog != NULL, held = true;
    for (size_t i = 0; ok && i < n; i++)
        if (is_asked(&models[i], of, file)) ok = ends(&models[i], catalog, in->diags);
    for (size_t i = 0; ok && i < n; i++)
        if (is_asked(&models[i], of, file)) held = test_model(&models[i], catalog, in->diags) && held;
    catalog_free(catalog);
    return ok && held ? 0 : 1;
}

const struct command command_test_model = {
    .name = "test-model",
    .operands = "PLUGIN.so|MODEL.toml|MODEL",
    .summary = "test a model of your own with the checks that every model of dse passes",
    .options = (const struct option_row[]){OPTION_CATALOG, {0}},
    .help = "dse applies the checks that its own models must pass. Names end in units, and everything has a doc and a source.\n"
            "The defaults are valid. 20,000 random points give finite numbers or a reason, and breakdowns add up. Declared\n"
            "trends hold at 10,000 points each. Both fidelities run. The README has the equations.\n"
            "\n"
            "  dse test-model ./mine.so\n"
            "  dse test-model mine.toml\n"
            "  dse test-model lad\n",
    .min_operands = 1,
    .max_operands = 1,
    .run = run,
};
