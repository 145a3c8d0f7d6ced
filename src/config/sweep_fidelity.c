/* `fidelity` of [sweep] and the section [refine]. */
#include "config/sweep_internal.h"

#include "base/hint.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

#define REFINE sweep_fidelities[SWEEP_FIDELITIES - 1]

const char *const sweep_fidelities[] = {"closed-form", "event-level", "refine", NULL};

const char *const *sweep_fidelity_words(void)
{
    return sweep_fidelities;
}

static bool unknown_fidelity(struct reading *r, const struct toml_node *node)
{
    return diags_unknown(r->diags, toml_loc(r->doc, node), r->doc->text, node->string, sweep_fidelities, SWEEP_FIDELITIES,
                         "closed-form, event-level or refine", "there is no fidelity \"%s\"", node->string);
}

/* Every model of the sweep has an event level: rows side by side are of one fidelity, which `node` says or the caller. */
static bool check_models(struct reading *r, const struct toml_node *node, const char *word)
{
    bool ok = true;
    const struct srcloc loc = r->fidelity ? (struct srcloc){.file = r->doc->file} : toml_loc(r->doc, node);
    for (size_t m = 0; m < r->out->n_models; m++) {
        const struct dse_model *model = r->out->bindings[m]->model->desc;
        if (fidelity_of_model(model, FIDELITY_EVENT_LEVEL)) continue;
        ok = diags_input(r->diags, loc, r->fidelity ? NULL : r->doc->text,
                         r->fidelity ? NULL : "fidelity = \"closed-form\", or leave the model out",
                         "fidelity \"%s\": model %s has no event level", word, model->name);
    }
    return ok;
}

static bool is_known(const char *word)
{
    for (int i = 0; i < SWEEP_FIDELITIES; i++)
        if (strcmp(word, sweep_fidelities[i]) == 0) return true;
    return false;
}

bool sweep_read_fidelity(struct reading *r, const struct toml_node *sweep)
{
    const struct toml_node *node = toml_expect(r->doc, sweep, "fidelity", TOML_STRING, r->diags);
    if (!node && toml_get(sweep, "fidelity")) return false;
    if (node && !is_known(node->string)) return unknown_fidelity(r, node);
    const char *word = r->fidelity ? r->fidelity : node ? node->string : fidelity_names[FIDELITY_CLOSED_FORM];
    r->out->refine = strcmp(word, REFINE) == 0;
    if (strcmp(word, fidelity_names[FIDELITY_EVENT_LEVEL]) == 0) r->out->fidelity = FIDELITY_EVENT_LEVEL;
    return strcmp(word, fidelity_names[FIDELITY_CLOSED_FORM]) == 0 || check_models(r, node, word);
}

bool sweep_read_refine(struct reading *r)
{
    static const char *const keys[] = {"runs", "neighbours"};
    r->out->refine_runs = SWEEP_REFINE_RUNS;
    r->out->refine_neighbours = true;
    const struct toml_node *table = toml_expect(r->doc, &r->doc->root, REFINE, TOML_TABLE, r->diags);
    if (!table) return toml_get(&r->doc->root, REFINE) == NULL;
    bool ok = toml_check_keys(r->doc, table, keys, sizeof keys / sizeof *keys, r->diags);
    const struct toml_node *runs = toml_expect(r->doc, table, "runs", TOML_INTEGER, r->diags);
    if (!runs && toml_get(table, "runs"))
        ok = false;
    else if (runs && (runs->integer < 1 || runs->integer > SWEEP_REFINE_RUNS_MAX))
        ok = diags_input(r->diags, toml_loc(r->doc, runs), r->doc->text, NULL, "runs: %lld is outside of 1 to %d event-level runs",
                         (long long)runs->integer, SWEEP_REFINE_RUNS_MAX);
    else if (runs)
        r->out->refine_runs = (uint64_t)runs->integer;
    const struct toml_node *neighbours = toml_expect(r->doc, table, "neighbours", TOML_BOOLEAN, r->diags);
    if (neighbours) r->out->refine_neighbours = neighbours->boolean;
    ok = ok && (neighbours || !toml_get(table, "neighbours"));
    if (!r->out->refine && !r->fidelity)
        ok = diags_input(r->diags, toml_key_loc(r->doc, table), r->doc->text, "fidelity = \"refine\" in [sweep]",
                         "[refine] stands in a sweep that does not refine");
    return ok;
}

const char *sweep_fidelity_text(const struct sweep_file *s)
{
    return s->refine ? REFINE : fidelity_names[s->fidelity];
}
