/* Lists of requests, as logs of servers have them: a table (CSV) with a row for each request, its columns known by their names; or
 * JSON with an object for each, one after the other or in a list. */
#ifndef DSE_CONFIG_REQUEST_LOG_H
#define DSE_CONFIG_REQUEST_LOG_H

#include "config/csv_table.h"

/* The requests that generate something. */
struct request_log {
    double *prompt, *generate; /* tokens */
    size_t n, capacity;
    size_t idle;            /* requests that generate nothing, and are left out */
    struct csv_table table; /* of a CSV file; {0} of JSON */
    size_t columns[2];      /* of prompt and generate in it */
    size_t *rows;           /* where each request is from: a row of the table, or a line of the JSON; 0: it is not known */
    char *file;
};

/* Read a log. False with errors, one of each kind. Release it whatever comes back. */
bool request_log_read(struct request_log *log, const char *path, struct diags *diags);
void request_log_release(struct request_log *log);
/* Where the prompt of request i stands, or what it generates; i >= n: where the log begins. */
struct srcloc request_log_place(const struct request_log *log, size_t i, bool of_generate);

/* What the name of a column or key says, in upper or lower case and whatever stands between its words: the length of a prompt
 * ("ContextTokens", "num_prefill_tokens", "Request tokens", "input_length", "prompt_len", "prompt"), or of what is generated.
 * *ret_sure, above 0, is how sure that is: of several columns the surest is meant. */
enum request_length { REQUEST_PROMPT, REQUEST_GENERATE, REQUEST_LENGTHS };
enum request_length request_length_of(const char *name, int *ret_sure);

#endif
