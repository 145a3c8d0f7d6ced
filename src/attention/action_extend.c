/* dse trace extend: quality beyond the contexts that were measured. */
#include "attention/action.h"
#include "attention/extend_file.h"
#include "command/output.h"

#include <stdio.h>

int trace_extend_run(const struct invocation *in)
{
    enum output_format format;
    size_t contexts[TRACE_CONTEXTS_MAX], n;
    if (!output_parse_format(in, &format) || !trace_read_contexts(in, "4096,8192,16384,32768,65536,131072", 1 << 24, contexts, &n))
        return 2;
    struct extend_report r;
    if (extend_files(in->operands[1], in->operands[2], contexts, n, option_get(in, "output"), &r, in->diags)) {
        struct output *o = output_new(
            stdout, format, (const char *const[]){"METRIC", "CONTEXT", "FROM", "POINTS", "MEDIAN ERROR", "P90", "WORST"}, 7);
        for (size_t i = 0; i < r.n_checks; i++) {
            output_text(o, r.checks[i].metric);
            output_f64(o, r.context);
            output_f64(o, r.from);
            output_i64(o, (int64_t)r.checks[i].n);
            output_f64(o, r.checks[i].median);
            output_f64(o, r.checks[i].p90);
            output_f64(o, r.checks[i].worst);
        }
        output_end(o);
        if (format == OUTPUT_TABLE)
            printf(
                "\n%zu surfaces, %zu extended; the made heads lack %zu. The table is the same within what was measured: contexts "
                "up to %g\n"
                "predict %g.\n",
                r.measured, r.extended, r.without, r.from, r.context);
    }
    extend_report_release(&r);
    return 0;
}
