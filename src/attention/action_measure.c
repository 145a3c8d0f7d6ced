/* dse trace measure: the quality of heads that fitted kinds make. */
#include "attention/action.h"
#include "attention/kinds_file.h"
#include "attention/made_file.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <stdlib.h>
#include <string.h>

enum { FOLLOWED = 4096, POSITIONS_MAX = 262144 };

bool trace_read_contexts(const struct invocation *in, const char *otherwise, int64_t most, size_t *ret, size_t *ret_n)
{
    const char *s = option_get(in, "contexts");
    if (!s) s = otherwise;
    *ret_n = 0;
    for (const char *p = s; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        int64_t v = 0;
        char *word = xstrndup(p, strcspn(p, ","));
        bool ok = *ret_n < TRACE_CONTEXTS_MAX && text_parse_i64(word, &v) && v >= 1 && v <= most &&
                  (*ret_n == 0 || (size_t)v > ret[*ret_n - 1]);
        free(word);
        if (!ok) {
            usage_error(in, "--contexts: \"%s\" is not a growing list of at most %d whole numbers up to %lld", s,
                        TRACE_CONTEXTS_MAX, (long long)most);
            return false;
        }
        ret[(*ret_n)++] = (size_t)v;
    }
    return true;
}

int trace_measure_run(const struct invocation *in)
{
    size_t contexts[TRACE_CONTEXTS_MAX], n;
    const char *like = option_get(in, "like"), *to = option_get(in, "output");
    if (!like) return usage_error(in, "--like is missing: the quality file whose methods are measured");
    if (!to) return usage_error(in, "--output is missing; trace measure needs it");
    if (!trace_read_contexts(in, "512,1024,2048,4096,16384,131072", POSITIONS_MAX, contexts, &n)) return 2;
    const int64_t followed = option_integer(in, "followed", 0, POSITIONS_MAX, FOLLOWED);
    struct head_mixture m = {0};
    if (in->diags->errors == 0 && kinds_read_file(in->operands[1], &m, in->diags))
        made_write_file(like, &m, contexts, n, (size_t)followed, to, in->diags);
    head_mixture_release(&m);
    return 0;
}
