/* What a trace may be, and where things lie in its file. */
#include "attention/trace_format.h"

bool trace_check_number(uint64_t v, uint64_t max, const char *what, struct srcloc loc, struct diags *diags)
{
    if (v >= 1 && v <= max) return true;
    return diags_input(diags, loc, NULL, NULL, "%s: %llu is not within 1 to %llu", what, (unsigned long long)v,
                       (unsigned long long)max);
}

static bool check_ids(const int32_t *ids, size_t n, const char *what, struct srcloc loc, struct diags *diags)
{
    for (size_t i = 0; i < n; i++) {
        if (ids[i] < 0) return diags_input(diags, loc, NULL, NULL, "%s %ld is negative", what, (long)ids[i]);
        for (size_t k = 0; k < i; k++)
            if (ids[k] == ids[i]) return diags_input(diags, loc, NULL, NULL, "%s %ld is there twice", what, (long)ids[i]);
    }
    return true;
}

/* Text that can stand in a line of a CSV file or of a terminal: UTF-8 without control characters. */
static bool check_text(const char *s, const char *what, struct srcloc loc, struct diags *diags)
{
    if (!*s) return diags_input(diags, loc, NULL, NULL, "%s: is empty", what);
    if (strlen(s) > TRACE_TEXT_MAX)
        return diags_input(diags, loc, NULL, NULL, "%s: %zu bytes; %d are the most", what, strlen(s), TRACE_TEXT_MAX);
    for (const unsigned char *p = (const unsigned char *)s; *p;) {
        size_t n = *p < 0x80 ? 1 : *p >= 0xc2 && *p < 0xe0 ? 2 : *p >= 0xe0 && *p < 0xf0 ? 3 : *p >= 0xf0 && *p < 0xf5 ? 4 : 0;
        bool ok = n > 1 || (*p >= 0x20 && *p != 0x7f && n);
        for (size_t i = 1; ok && i < n; i++) ok = (p[i] & 0xc0) == 0x80;
        if (!ok)
            return diags_input(diags, loc, NULL, NULL, "%s: has a control character or is not UTF-8 at byte %zu", what,
                               (size_t)(p - (const unsigned char *)s) + 1);
        p += n;
    }
    return true;
}

static bool check_groups(const struct trace_info *info, struct srcloc loc, struct diags *diags)
{
    size_t groups = 0;
    for (size_t i = 0; i < info->heads; i++) {
        if (info->kv_of[i] < 0 || (size_t)info->kv_of[i] > groups)
            return diags_input(diags, loc, NULL, NULL,
                               "head %ld has group %ld; groups count from 0 in the order of their first heads",
                               (long)info->head_ids[i], (long)info->kv_of[i]);
        groups += (size_t)info->kv_of[i] == groups;
    }
    if (groups == info->kv_heads) return true;
    return diags_input(diags, loc, NULL, NULL, "its heads have %zu groups, and it is said to have %zu", groups, info->kv_heads);
}

static bool check_steps(const struct trace_info *info, struct srcloc loc, struct diags *diags)
{
    for (size_t i = 0; i < info->n_steps; i++) {
        if (info->steps[i] < 0 || (size_t)info->steps[i] >= info->n)
            return diags_input(diags, loc, NULL, NULL, "step %ld is not one of the %zu positions", (long)info->steps[i], info->n);
        if (i && info->steps[i] <= info->steps[i - 1])
            return diags_input(diags, loc, NULL, NULL, "step %ld follows step %ld; steps grow", (long)info->steps[i],
                               (long)info->steps[i - 1]);
    }
    return info->n_steps > 0 || diags_input(diags, loc, NULL, NULL, "no step has q");
}

bool trace_check(const struct trace_info *info, struct srcloc loc, struct diags *diags)
{
    bool ok = trace_check_number(info->layers, TRACE_LAYERS_MAX, "layers", loc, diags);
    ok = trace_check_number(info->heads, TRACE_HEADS_MAX, "heads", loc, diags) && ok;
    ok = trace_check_number(info->n, TRACE_POSITIONS_MAX, "positions", loc, diags) && ok;
    ok = trace_check_number(info->d, TRACE_DIM_MAX, "dimension", loc, diags) && ok;
    if (info->bits != 16 && info->bits != 32) ok = diags_input(diags, loc, NULL, NULL, "bits: %d is neither 16 nor 32", info->bits);
    if (!ok) return false;
    ok = check_ids(info->layer_ids, info->layers, "layer", loc, diags);
    ok = check_ids(info->head_ids, info->heads, "head", loc, diags) && ok;
    if (ok && info->kv_of) ok = check_groups(info, loc, diags);
    if (info->steps) ok = check_steps(info, loc, diags) && ok;
    ok = check_text(info->model, "model", loc, diags) && ok;
    return check_text(info->source, "source", loc, diags) && ok;
}

/* ---- its layout ---------------------------------------------------------------------------------------------------------- */

size_t trace_kv_heads(const struct trace_info *info)
{
    return info->kv_of ? info->kv_heads : info->heads;
}

size_t trace_kv_of(const struct trace_info *info, size_t head)
{
    return info->kv_of ? (size_t)info->kv_of[head] : head;
}

size_t trace_steps(const struct trace_info *info)
{
    return info->steps ? info->n_steps : info->n;
}

size_t trace_step(const struct trace_info *info, size_t i)
{
    return info->steps ? (size_t)info->steps[i] : i;
}

/* Groups count in the order of their first heads. */
size_t trace_leaders(const struct trace_info *info, size_t head)
{
    size_t leaders = 0;
    for (size_t i = 0; i < head; i++)
        if (trace_kv_of(info, i) == leaders) leaders++;
    return leaders;
}

bool trace_leads(const struct trace_info *info, size_t head)
{
    return trace_kv_of(info, head) == trace_leaders(info, head);
}

int trace_version(const struct trace_info *info)
{
    return trace_kv_heads(info) == info->heads && trace_steps(info) == info->n ? 1 : 2;
}

uint64_t trace_header_bytes(const struct trace_info *info)
{
    uint64_t n = TRACE_FIXED_BYTES + 4 * (info->layers + info->heads) + strlen(info->model) + strlen(info->source);
    if (trace_version(info) > 1) n += TRACE_GROUPED_BYTES + 4 * (info->heads + (trace_steps(info) < info->n ? info->n_steps : 0));
    return (n + TRACE_ALIGNMENT - 1) / TRACE_ALIGNMENT * TRACE_ALIGNMENT;
}

uint64_t trace_value_bytes(const struct trace_info *info)
{
    uint64_t rows = (uint64_t)info->heads * trace_steps(info) + 2 * (uint64_t)trace_kv_heads(info) * info->n;
    return info->layers * rows * info->d * (uint64_t)info->bits / 8;
}
