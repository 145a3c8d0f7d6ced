/* dse llm: an LLM's shape from the configuration of its weights. */
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/command.h"
#include "config/llm_import.h"

#include <dse/llm.h>
#include <stdlib.h>
#include <string.h>

/* "Org--Name_config.json", "NAME/config.json" or "NAME.json" as a name: small letters, digits, dots and hyphens. The caller frees
 * it. */
static char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t n = strlen(base);
    if (strcmp(base, "config.json") == 0 && slash) {
        const char *from = slash;
        while (from > path && from[-1] != '/') from--;
        base = from;
        n = (size_t)(slash - from);
    }
    const char *org = strstr(base, "--");
    if (org && org < base + n) {
        n -= (size_t)(org + 2 - base);
        base = org + 2;
    }
    static const char *const ends[] = {".json", "_config", "-config"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const size_t k = strlen(ends[i]);
        if (n > k && strncmp(base + n - k, ends[i], k) == 0) n -= k;
    }
    char *name = xstrndup(base, n);
    for (char *p = name; *p; p++) {
        if (*p >= 'A' && *p <= 'Z')
            *p = (char)(*p - 'A' + 'a');
        else if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789.-", *p))
            *p = '-';
    }
    return name;
}

static void add_counts(const struct dse_llm *llm, struct text *t)
{
    struct dse_llm_counts c;
    char buf[TEXT_NUMBER_MAX];
    dse_llm_count(llm, &c);
    text_addf(t, "# %lld parameters, %lld of them active a token; ", (long long)c.params, (long long)c.params_active);
    text_addf(t, "%s KiB of 16-bit cache a token\n", text_number(buf, (double)(c.kv_elements + c.kv_window_elements) * 2 / 1024));
}

/* The notes as comments. */
static void add_notes(const struct text *notes, struct text *t)
{
    for (const char *p = notes->s; *p;) {
        const size_t n = strcspn(p, "\n");
        text_addf(t, "# %.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

static bool import(const struct invocation *in, const struct catalog *catalog, struct text *ret)
{
    const char *path = in->operands[1], *given = option_get(in, "name");
    struct dse_llm llm;
    struct text notes;
    text_init(&notes);
    const bool ok = llm_import(path, &llm, &notes, in->diags);
    if (ok) {
        char *name = given ? xstrdup(given) : name_of(path), *source = xasprintf("imported from %s", path);
        llm.entry = (struct dse_entry){.name = name, .source = source};
        text_add(ret, "# For --catalog FILE, $DSE_CATALOG or ~/.config/dse/catalog.toml.\n");
        add_counts(&llm, ret);
        add_notes(&notes, ret);
        catalog_write_entry(catalog, DSE_KIND_LLM, &llm.entry, name, ret);
        free(name);
        free(source);
    }
    text_release(&notes);
    return ok;
}

static int run(const struct invocation *in)
{
    if (strcmp(in->operands[0], "import") != 0)
        return usage_unknown(in, "llm: unknown action", in->operands[0], (const char *const[]){"import"}, 1, ": import");
    if (in->n_operands < 2) return usage_error(in, "something is missing: dse llm import CONFIG.JSON");
    struct catalog *catalog = open_catalog(in);
    if (!catalog) return 2;
    struct text t;
    text_init(&t);
    const char *out = option_get(in, "output");
    bool ok = import(in, catalog, &t);
    const int status = ok ? 0 : 2;
    if (ok && out)
        ok = file_write(out, t.s, t.n, in->diags);
    else if (ok)
        fputs(t.s, stdout);
    text_release(&t);
    catalog_free(catalog);
    return ok ? 0 : status ? status : 1;
}

const struct command command_llm = {
    .name = "llm",
    .operands = "import CONFIG.JSON",
    .summary = "an LLM's shape from the config.json of its weights",
    .options =
        (const struct option_row[]){
            {'n', "name", "NAME", "what it is called (default: from the file's name or folder)"},
            {'o', "output", "FILE", "write there (default: print)"},
            OPTION_CATALOG,
            {0},
        },
    .help =
        "Prints an entry for a catalog of your own from a configuration of Hugging Face transformers. What the file does not say "
        "and its\n"
        "architecture has by default is named in comments, and so is what was not read; nothing else is assumed. docs/llms.md.\n\n"
        "  dse llm import Qwen3-30B-A3B/config.json -o mine.toml\n"
        "  dse list llms qwen3-30b-a3b -c mine.toml\n",
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
