/* dse llm: an LLM's shape from the configuration of its weights. */
#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/catalog_files.h"
#include "command/command.h"
#include "config/llm_import.h"

#include <dse/llm.h>
#include <dse/units.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
    static const char *const ends[] = {".json", ".gguf", "_config", "-config"};
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
    enum { KV_BYTES = 2 };
    struct dse_llm_counts c;
    char buf[TEXT_NUMBER_MAX];
    dse_llm_count(llm, &c);
    text_addf(t, "# %lld parameters, %lld of them active a token; ", (long long)c.params, (long long)c.params_active);
    text_addf(t, "%s KiB of 16-bit cache a token", text_number(buf, dse_llm_token_bytes(llm, KV_BYTES) / DSE_KIB));
    if (c.index_elements > 0)
        text_addf(t, ", %s of them 8-bit keys of indexers", text_number(buf, (double)c.index_elements * DSE_INDEX_BYTES / DSE_KIB));
    const double states = dse_llm_state_bytes(llm);
    if (states > 0) text_addf(t, "; %s KiB of 32-bit states a sequence", text_number(buf, states / DSE_KIB));
    text_add(t, "\n");
}

/* Lines as comments. */
static void add_comments(const struct text *lines, struct text *t)
{
    for (const char *p = lines->s; *p;) {
        const size_t n = strcspn(p, "\n");
        text_addf(t, "# %.*s\n", (int)n, p);
        p += n + (p[n] == '\n');
    }
}

/* "imported from FILE", and of an approximate entry what was left out. The caller frees it. */
static char *source_of(const char *path, const struct llm_said *said)
{
    return said->left_out.n ? xasprintf("imported from %s, approximate: not read: %s", path, said->left_out.s)
                            : xasprintf("imported from %s", path);
}

static void add_entry(const struct invocation *in, const struct catalog *catalog, struct dse_llm *llm, const struct llm_said *said,
                      struct text *ret)
{
    const char *path = in->operands[1], *given = option_get(in, "name");
    char *name = given ? xstrdup(given) : name_of(path), *source = source_of(path, said);
    llm->entry = (struct dse_entry){.name = name, .source = source};
    text_add(ret, "# For --catalog FILE, $DSE_CATALOG or ~/.config/dse/catalog.toml.\n");
    add_counts(llm, ret);
    add_comments(&said->notes, ret);
    add_comments(&said->formats, ret);
    catalog_write_entry(catalog, DSE_KIND_LLM, &llm->entry, name, ret);
    free(name);
    free(source);
}

/* A catalog that is there may have other entries. */
static bool may_write(const struct invocation *in, const char *path)
{
    struct stat st;
    if (option_has(in, "force") || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return true;
    char *hint = xasprintf("--force replaces it; without --output, `>> %s` adds to it", path);
    diags_input(in->diags, (struct srcloc){.file = path}, NULL, hint, "the file is there already");
    free(hint);
    return false;
}

/* Into the file, with what a comment in it would hide; else to the terminal. */
static bool put(const struct invocation *in, const struct text *entry, const struct llm_said *said)
{
    const char *out = option_get(in, "output");
    fputs(out ? said->formats.s : entry->s, stdout);
    if (out && said->left_out.n)
        terminal_say(stderr, "dse: the entry is approximate: dse did not read these keys, and its counts may be wrong: %s",
                     said->left_out.s);
    return !out || file_write(out, entry->s, entry->n, in->diags);
}

static bool import(const struct invocation *in, const struct catalog *catalog)
{
    struct dse_llm llm;
    struct llm_said said;
    struct text entry;
    llm_said_init(&said);
    text_init(&entry);
    bool ok = llm_import(in->operands[1], option_get(in, "weights"), option_has(in, "approximate"), &llm, &said, in->diags);
    if (ok) add_entry(in, catalog, &llm, &said, &entry);
    ok = ok && put(in, &entry, &said);
    text_release(&entry);
    llm_said_release(&said);
    return ok;
}

static int run(const struct invocation *in)
{
    if (strcmp(in->operands[0], "import") != 0)
        return usage_unknown(in, "llm: unknown action", in->operands[0], (const char *const[]){"import"}, 1, ": import");
    if (in->n_operands < 2) return usage_error(in, "something is missing: dse llm import CONFIG.JSON");
    const char *out = option_get(in, "output");
    if (out && !may_write(in, out)) return 2;
    struct catalog *catalog = open_catalog(in);
    if (!catalog) return 2;
    const bool ok = import(in, catalog);
    catalog_free(catalog);
    return ok ? 0 : 1; /* the status of errors wins */
}

const struct command command_llm = {
    .name = "llm",
    .operands = "import CONFIG.JSON",
    .summary = "make a catalog entry of an LLM from its config.json",
    .options =
        (const struct option_row[]){
            {'n', "name", "NAME", "name of the entry (default: from the file's name or folder)"},
            {'o', "output", "FILE", "write to FILE, which must not exist yet (default: print)"},
            {0, "weights", "FILE", "take formats from the header of a .safetensors or .gguf (default: those beside it)"},
            {0, "force", NULL, "replace the FILE of --output"},
            {0, "approximate", NULL, "ignore unknown keys, and mark the entry and every row made with it"},
            OPTION_CATALOG,
            {0},
        },
    .help = "`dse llm import` reads a config.json of Hugging Face transformers and prints an entry for a catalog of your own.\n"
            "It also reads a params.json of Mistral or Meta, and the header of a GGUF.\n"
            "If the file lacks a key for which its architecture has a default, dse takes the default and says so in a\n"
            "comment. dse assumes nothing else. An unknown key that may change a number of the entry is an error. So is a\n"
            "model that is not a causal LLM.\n"
            "\n"
            "The formats of the weights (quantization_config, hf_quant_config.json) become bits of the entry, by class of\n"
            "weights. --set format=checkpoint runs them so; dse also prints the nearest settings of one width. If there is\n"
            "a model.safetensors.index.json beside the file, its total is compared. If the .safetensors are there too, their\n"
            "tensors set the formats. docs/how-to/import-an-llm.md has more.\n"
            "\n"
            "  dse llm import Qwen3-30B-A3B/config.json --name my-qwen3 -o mine.toml\n"
            "  dse llm import Qwen3-8B-Q4_K_M.gguf\n"
            "  dse list llms my-qwen3 -c mine.toml\n",
    .min_operands = 1,
    .max_operands = 2,
    .run = run,
};
