/* dse trace extend: quality beyond the contexts that were measured. */
#include "base/text.h"
#include "base/xalloc.h"
#include "cli/output.h"
#include "cli/trace_action.h"
#include "config/extend_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS_MOST = 64 };

static bool read_contexts(const struct invocation *in, double *ret, size_t *ret_n)
{
    const char *s = option_get(in, "contexts");
    if (!s) s = "4096,8192,16384,32768,65536,131072";
    *ret_n = 0;
    for (const char *p = s; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL) {
        int64_t v = 0;
        char *word = xstrndup(p, strcspn(p, ","));
        bool ok = *ret_n < CONTEXTS_MOST && text_parse_i64(word, &v) && v >= 1 && v <= 1 << 24 &&
                  (*ret_n == 0 || (double)v > ret[*ret_n - 1]);
        free(word);
        if (!ok) {
            usage_error(in, "--contexts: \"%s\" is not a growing list of at most %d whole numbers up to 16777216", s,
                        CONTEXTS_MOST);
            return false;
        }
        ret[(*ret_n)++] = (double)v;
    }
    return true;
}

int trace_extend_run(const struct invocation *in)
{
    enum output_format format;
    double contexts[CONTEXTS_MOST];
    size_t n;
    if (!output_parse_format(in, &format) || !read_contexts(in, contexts, &n)) return 2;
    struct extend_report r;
    if (extend_files(in->operands[1], in->operands[2], contexts, n, option_get(in, "output"), &r, in->diags)) {
        struct output *o =
            output_new(stdout, format, (const char *const[]){"METRIC", "CONTEXT", "FROM", "POINTS", "MEDIAN ERROR", "WORST"}, 6);
        for (size_t i = 0; i < r.n_checks; i++) {
            output_text(o, r.checks[i].metric);
            output_f64(o, r.context);
            output_f64(o, r.from);
            output_i64(o, (int64_t)r.checks[i].n);
            output_f64(o, r.checks[i].median);
            output_f64(o, r.checks[i].worst);
        }
        output_end(o);
        if (format == OUTPUT_TABLE)
            printf(
                "\n%zu surfaces, %zu extended; the made heads lack %zu. The table is the same within what was measured: contexts up to %g\n"
                "predict %g.\n",
                r.measured, r.extended, r.without, r.from, r.context);
    }
    extend_report_release(&r);
    return 0;
}
