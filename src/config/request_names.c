/* What logs of requests call the lengths of prompts and of what is generated. */
#include "config/request_log.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

/* What a word of a name says. */
enum meaning {
    PROMPT,
    GENERATE,
    MAY_BE_PROMPT, /* with "tokens" or "length" beside it: a request or a context alone is something else */
    MAY_BE_GENERATE,
    TOKENS,
    LENGTH,
    FILLER,
};

/* Azure: ContextTokens, GeneratedTokens. Vidur: num_prefill_tokens, num_decode_tokens. BurstGPT: Request tokens, Response tokens.
 * Mooncake, Qwen: input_length, output_length. OpenAI: prompt_tokens, completion_tokens. vLLM: prompt_len, output_len. Splitwise:
 * prompt_size, token_size. */
static const struct {
    const char *word;
    enum meaning meaning;
} words[] = {
    {"prompt", PROMPT},
    {"prefill", PROMPT},
    {"input", PROMPT},
    {"isl", PROMPT},
    {"context", MAY_BE_PROMPT},
    {"request", MAY_BE_PROMPT},
    {"question", MAY_BE_PROMPT},
    {"query", MAY_BE_PROMPT},
    {"in", MAY_BE_PROMPT},
    {"generate", GENERATE},
    {"generated", GENERATE},
    {"generation", GENERATE},
    {"gen", GENERATE},
    {"output", GENERATE},
    {"osl", GENERATE},
    {"completion", GENERATE},
    {"decode", GENERATE},
    {"decoded", GENERATE},
    {"response", MAY_BE_GENERATE},
    {"answer", MAY_BE_GENERATE},
    {"reply", MAY_BE_GENERATE},
    {"out", MAY_BE_GENERATE},
    {"tokens", TOKENS},
    {"token", TOKENS},
    {"toks", TOKENS},
    {"tok", TOKENS},
    {"lengths", LENGTH},
    {"length", LENGTH},
    {"lens", LENGTH},
    {"len", LENGTH},
    {"size", FILLER},
    {"count", FILLER},
    {"number", FILLER},
    {"num", FILLER},
    {"nr", FILLER},
    {"n", FILLER},
    {"of", FILLER},
    {"the", FILLER},
    {"expected", FILLER},
    {"actual", FILLER},
};

/* The longest of the words that s begins with; SIZE_MAX: none. */
static size_t first_word(const char *s)
{
    size_t found = SIZE_MAX, longest = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t n = strlen(words[i].word);
        if (n <= longest || strncmp(s, words[i].word, n) != 0) continue;
        longest = n;
        found = i;
    }
    return found;
}

/* Letters and digits alone, small ones. False: the name is too long for one that is looked for. */
static bool plain(const char *name, char *ret, size_t size)
{
    size_t n = 0;
    for (; *name; name++) {
        if (!isalnum((unsigned char)*name)) continue;
        if (n + 1 == size) return false;
        ret[n++] = (char)tolower((unsigned char)*name);
    }
    ret[n] = '\0';
    return true;
}

enum request_length request_length_of(const char *name, int *ret_sure)
{
    enum { BARE = 1, AMOUNT = 2, IN_TOKENS = 3, NAME_MAX = 64 };
    char s[NAME_MAX];
    size_t counts[FILLER + 1] = {0};
    *ret_sure = 0;
    if (!plain(name, s, sizeof s)) return REQUEST_LENGTHS;
    if (strcmp(s, "tokensize") == 0) {
        *ret_sure = AMOUNT;
        return REQUEST_GENERATE;
    }
    for (const char *p = s; *p;) {
        const size_t i = first_word(p);
        if (i == SIZE_MAX) return REQUEST_LENGTHS;
        counts[words[i].meaning]++;
        p += strlen(words[i].word);
    }
    const size_t prompts = counts[PROMPT] + counts[MAY_BE_PROMPT], generates = counts[GENERATE] + counts[MAY_BE_GENERATE];
    const size_t vague = counts[MAY_BE_PROMPT] + counts[MAY_BE_GENERATE];
    if (prompts + generates != 1 || (vague && counts[TOKENS] + counts[LENGTH] == 0)) return REQUEST_LENGTHS;
    *ret_sure = counts[TOKENS] ? IN_TOKENS : counts[LENGTH] + counts[FILLER] ? AMOUNT : BARE;
    return prompts ? REQUEST_PROMPT : REQUEST_GENERATE;
}
