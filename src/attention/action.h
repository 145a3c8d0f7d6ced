/* dse trace ACTION: the actions, each with its operands and the options that it takes. cmd_trace.c has the table. */
#ifndef DSE_ATTENTION_ACTION_H
#define DSE_ATTENTION_ACTION_H

#include "attention/trace_import.h"
#include "command/command.h"

struct trace_action {
    const char *name, *operands;
    size_t min_operands, max_operands; /* after the action's name */
    const char *const *options;        /* closed by NULL: those of the command that belong to it */
    /* Returns the exit status; errors are in diags. in->operands[0] is the action's name. */
    int (*run)(const struct invocation *in);
};

int trace_info_run(const struct invocation *in);
int trace_import_run(const struct invocation *in);
int trace_generate_run(const struct invocation *in);
int trace_fit_run(const struct invocation *in);
int trace_fit_to_run(const struct invocation *in); /* with --to */
int trace_extend_run(const struct invocation *in);
int trace_measure_run(const struct invocation *in);

enum { TRACE_CONTEXTS_MAX = 64 };
/* Read --contexts, or `otherwise`: growing, up to `most`; ret holds TRACE_CONTEXTS_MAX. False with a usage error. */
bool trace_read_contexts(const struct invocation *in, const char *otherwise, int64_t most, size_t *ret, size_t *ret_n);

/* Import the arrays of --q, --k and --v, of .npy files or of the tensors of --safetensors. Of info all but shape and steps is
 * read. Errors are in in->diags. */
void trace_import_files(const struct invocation *in, struct trace_info *info, const struct trace_pick *pick);

#endif
