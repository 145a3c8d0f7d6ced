#include "config/request_log.h"

#include "base/file.h"
#include "base/text.h"
#include "base/xalloc.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 256 << 20 };

static const char hint[] =
    "names say which, in any order: prompt,generate; ContextTokens,GeneratedTokens (Azure); num_prefill_tokens,num_decode_tokens "
    "(Vidur); Request tokens,Response tokens (BurstGPT); input_length,output_length (Mooncake); prompt_tokens,completion_tokens";

static const char *const whats[] = {[REQUEST_PROMPT] = "the length of the prompt", [REQUEST_GENERATE] = "how much is generated"};

static void add(struct request_log *log, double prompt, double generate, size_t row)
{
    if (isnan(generate) || generate == 0) { /* one that failed */
        log->idle++;
        return;
    }
    if (log->n == log->capacity) {
        log->capacity = log->capacity ? 2 * log->capacity : 64;
        log->prompt = xrealloc(log->prompt, log->capacity, sizeof *log->prompt);
        log->generate = xrealloc(log->generate, log->capacity, sizeof *log->generate);
        log->rows = xrealloc(log->rows, log->capacity, sizeof *log->rows);
    }
    log->prompt[log->n] = prompt;
    log->generate[log->n] = generate;
    log->rows[log->n++] = row;
}

/* ---- tables -------------------------------------------------------------------------------------------------------------- */

/* The column that is surest to have a length; false with an error when two are. None: n_columns. */
static bool find_column(const struct csv_table *t, enum request_length what, size_t *ret, struct diags *diags)
{
    int best = 0, sure;
    size_t twice = t->n_columns;
    *ret = t->n_columns;
    for (size_t i = 0; i < t->n_columns; i++) {
        if (request_length_of(t->columns[i], &sure) != what || sure < best) continue;
        twice = sure == best ? i : t->n_columns;
        if (sure > best) *ret = i;
        best = sure;
    }
    if (twice == t->n_columns) return true;
    return diags_input(diags, csv_table_header_loc(t), t->text, "leave one of them out",
                       "both column %zu, %s, and column %zu, %s, may be %s", *ret + 1, t->columns[*ret], twice + 1,
                       t->columns[twice], whats[what]);
}

static bool find_columns(struct request_log *log, struct diags *diags)
{
    const struct csv_table *t = &log->table;
    for (int k = 0; k < REQUEST_LENGTHS; k++)
        if (!find_column(t, (enum request_length)k, &log->columns[k], diags)) return false;
    const bool prompt = log->columns[REQUEST_PROMPT] < t->n_columns, generate = log->columns[REQUEST_GENERATE] < t->n_columns;
    if (prompt && generate) return true;
    if (!prompt && !generate)
        return diags_input(diags, csv_table_header_loc(t), t->text, hint, "no column says how long prompts are, and none %s",
                           whats[REQUEST_GENERATE]);
    return diags_input(diags, csv_table_header_loc(t), t->text, hint, "no column says %s",
                       whats[prompt ? REQUEST_GENERATE : REQUEST_PROMPT]);
}

static bool read_table(struct request_log *log, const char *path, const char *text, struct diags *diags)
{
    struct csv_table *t = &log->table;
    if (!csv_table_read_any_text(t, path, text, diags) || !find_columns(log, diags)) return false;
    for (size_t i = 0; i < t->n_rows; i++) {
        double prompt, generate;
        if (!csv_table_number(t, i, log->columns[REQUEST_GENERATE], true, &generate, diags)) return false;
        const bool idle = isnan(generate) || generate == 0;
        if (!csv_table_number(t, i, log->columns[REQUEST_PROMPT], idle, &prompt, diags)) return false;
        add(log, prompt, generate, i);
    }
    return true;
}

/* ---- JSON ---------------------------------------------------------------------------------------------------------------- */

/* The lengths that an object has. */
struct lengths {
    double value[REQUEST_LENGTHS]; /* NaN: null */
    int sure[REQUEST_LENGTHS];     /* 0: it has none */
};

/* Look at the keys of an object, and of those in it ("usage": {"prompt_tokens": 12}). */
static void look(json_t *object, int depth, struct lengths *ret)
{
    const char *key;
    json_t *v;
    json_object_foreach(object, key, v)
    {
        int sure;
        if (json_is_object(v) && depth > 0) look(v, depth - 1, ret);
        if (!json_is_number(v) && !json_is_null(v)) continue;
        const enum request_length what = request_length_of(key, &sure);
        if (what == REQUEST_LENGTHS || sure <= ret->sure[what]) continue;
        ret->sure[what] = sure;
        ret->value[what] = json_is_number(v) ? json_number_value(v) : (double)NAN;
    }
}

static bool add_value(struct request_log *log, json_t *value, size_t *number, size_t line, struct diags *diags);

/* A list of requests in an object that is none itself ({"requests": [...]}); NULL: it has none. */
static json_t *list_in(json_t *object)
{
    const char *key;
    json_t *v;
    json_object_foreach(object, key, v)
    {
        if (json_is_array(v) && json_is_object(json_array_get(v, 0))) return v;
    }
    return NULL;
}

/* The next request of the file; its line, where it is known, or 0. */
static bool add_object(struct request_log *log, json_t *object, size_t *number, size_t line, struct diags *diags)
{
    enum { DEPTH = 3 };
    const struct srcloc loc = {log->file, (int)line, line > 0};
    struct lengths at = {0};
    look(object, DEPTH, &at);
    json_t *list = at.sure[REQUEST_PROMPT] + at.sure[REQUEST_GENERATE] ? NULL : list_in(object);
    if (list) return add_value(log, list, number, 0, diags);
    ++*number;
    if (!json_is_object(object)) return diags_input(diags, loc, NULL, hint, "request %zu is no object, { ... }", *number);
    for (int k = 0; k < REQUEST_LENGTHS; k++)
        if (!at.sure[k]) return diags_input(diags, loc, NULL, hint, "request %zu: no key says %s", *number, whats[k]);
    add(log, at.value[REQUEST_PROMPT], at.value[REQUEST_GENERATE], line);
    return true;
}

/* All objects of a list, or one. Lists in lists end: the JSON was read with a limit to its depth. */
static bool add_value(struct request_log *log, json_t *value, size_t *number, size_t line, struct diags *diags)
{
    if (!json_is_array(value)) return add_object(log, value, number, line, diags);
    bool ok = true;
    for (size_t i = 0; i < json_array_size(value) && ok; i++) ok = add_value(log, json_array_get(value, i), number, 0, diags);
    return ok;
}

static bool read_json(struct request_log *log, const char *text, struct diags *diags)
{
    static const char blank[] = " \t\r\n";
    const char *const end = text + strlen(text);
    const char *counted = text;
    size_t line = 1, number = 0;
    bool ok = true;
    for (const char *s = text + strspn(text, blank); ok && *s; s += strspn(s, blank)) {
        json_error_t error;
        for (; counted < s; counted++) line += *counted == '\n';
        json_t *value = json_loadb(s, (size_t)(end - s), JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &error);
        if (!value)
            return diags_input(diags, (struct srcloc){log->file, (int)line + error.line - 1, error.line > 1 ? error.column : 1},
                               text, NULL, "is not JSON: %s", error.text);
        ok = add_value(log, value, &number, line, diags);
        s += error.position;
        json_decref(value);
    }
    return ok;
}

/* ---- either -------------------------------------------------------------------------------------------------------------- */

bool request_log_read(struct request_log *log, const char *path, struct diags *diags)
{
    static const char bom[] = "\xEF\xBB\xBF";
    *log = (struct request_log){.file = xstrdup(path)};
    char *text;
    size_t n;
    if (!text_read_file(path, FILE_MAX, &text, &n, diags)) return false;
    const char *begin = text + (strncmp(text, bom, 3) == 0 ? 3 : 0), *first = begin + strspn(begin, " \t\r\n");
    bool ok = strlen(text) == n || diags_input(diags, (struct srcloc){.file = path}, NULL,
                                               "CSV, or JSON with an object for each request, as text in UTF-8", "is not text");
    if (ok) ok = *first == '{' || *first == '[' ? read_json(log, begin, diags) : read_table(log, path, begin, diags);
    free(text);
    if (ok && log->n == 0 && log->idle)
        return diags_input(diags, request_log_place(log, 0, false), NULL, NULL, "none of the %zu requests generates anything",
                           log->idle);
    if (ok && log->idle)
        diags_note(diags, (struct srcloc){.file = path}, NULL, "%zu of %zu requests generate nothing, and are left out", log->idle,
                   log->n + log->idle);
    return ok;
}

void request_log_release(struct request_log *log)
{
    csv_table_release(&log->table);
    free(log->prompt);
    free(log->generate);
    free(log->rows);
    free(log->file);
}

struct srcloc request_log_place(const struct request_log *log, size_t i, bool of_generate)
{
    if (!log->table.file) return (struct srcloc){log->file, i < log->n ? (int)log->rows[i] : 0, i < log->n && log->rows[i]};
    if (i >= log->n) return csv_table_header_loc(&log->table);
    return csv_table_cell_loc(&log->table, log->rows[i], log->columns[of_generate ? REQUEST_GENERATE : REQUEST_PROMPT]);
}
