/* Straight code made shorter: what is used once stands where it is used, and is computed only where that is; what is another name
 * for something is that. Time is by the number of instructions. */
#include "toml_model/internal.h"

#include "base/xalloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* "v12=..." */
struct statement {
    int slot; /* -1: it is gone */
    char *value;
};

/* The slot that begins at s, behind something that is no part of a name; -1: none does. */
static int slot_at(const char *s, const char *begin, size_t *ret_n)
{
    if (*s != 'v' || !isdigit((unsigned char)s[1]) || (s > begin && (isalnum((unsigned char)s[-1]) || s[-1] == '_'))) return -1;
    char *end;
    const long slot = strtol(s + 1, &end, 10);
    *ret_n = (size_t)(end - s);
    return (int)slot;
}

void count_slots(const char *code, int *uses)
{
    size_t n = 0;
    for (const char *s = code; s && *s; s++) {
        const int slot = slot_at(s, code, &n);
        if (slot >= 0) uses[slot]++;
    }
}

static struct statement *split(const char *code, size_t *ret_n)
{
    struct statement *list = NULL;
    size_t n = 0;
    while (*code) {
        size_t length = 0;
        for (int depth = 0; code[length] && (depth > 0 || code[length] != ','); length++)
            depth += (code[length] == '(') - (code[length] == ')');
        char *equals = memchr(code, '=', length);
        list = xrealloc(list, n + 1, sizeof *list);
        list[n++] = (struct statement){(int)strtol(code + 1, NULL, 10), xstrndup(equals + 1, length - (size_t)(equals + 1 - code))};
        code += length + (code[length] == ',');
    }
    *ret_n = n;
    return list;
}

static bool is_simple(const char *s)
{
    while (isalnum((unsigned char)*s) || *s == '.') s++;
    return *s == '\0';
}

/* Parentheses inside each other. */
static int depth_of(const char *s)
{
    int depth = 0, deepest = 0;
    for (; *s; s++) {
        depth += (*s == '(') - (*s == ')');
        if (depth > deepest) deepest = depth;
    }
    return deepest;
}

/* The value with what stands for its slots in their places: placed[slot], or NULL where the slot stays. Takes the value. */
static char *put_in_place(char *value, char *const *placed)
{
    struct text t;
    text_init(&t);
    size_t n = 0;
    for (const char *s = value; *s; s++) {
        const int slot = slot_at(s, value, &n);
        if (slot < 0 || !placed[slot]) {
            text_add_bytes(&t, s, 1);
            continue;
        }
        text_addf(&t, is_simple(placed[slot]) ? "%s" : "(%s)", placed[slot]);
        s += n - 1;
    }
    free(value);
    return text_detach(&t);
}

/* What is used once, and what is another name, goes where it is used. */
static void place_statements(const struct toml_model *m, struct statement *list, size_t n, const bool *keep)
{
    enum { DEEP = 60 };
    char **placed = xcalloc((size_t)m->n_slots + 1, sizeof *placed);
    int *uses = xcalloc((size_t)m->n_slots + 1, sizeof *uses);
    for (size_t i = 0; i < n; i++) count_slots(list[i].value, uses);
    for (size_t i = 0; i < n; i++) {
        const int slot = list[i].slot;
        list[i].value = put_in_place(list[i].value, placed);
        const bool once = uses[slot] == 1 && depth_of(list[i].value) < DEEP;
        if (keep[slot] || !(once || is_simple(list[i].value))) continue;
        placed[slot] = list[i].value;
        list[i].slot = -1;
    }
    free(uses);
    free(placed);
}

/* ---- what is computed twice -------------------------------------------------------------------------------------------------- */

/* A part of a statement's value: what stands in parentheses, with the name of the function before them. */
struct part {
    const char *s;
    size_t n, statement;
};
struct part_list {
    struct part *list;
    size_t n;
};

/* Returns how many bytes all of them have. */
static size_t add_parts(struct part_list *p, const char *value, size_t statement)
{
    enum { WORTH_IT = 7 };
    size_t bytes = 0;
    for (const char *s = value; *s; s++) {
        if (*s != '(') continue;
        size_t n = 1;
        for (int depth = 1; depth > 0; n++) depth += (s[n] == '(') - (s[n] == ')');
        const char *begin = s;
        while (begin > value && (isalnum((unsigned char)begin[-1]) || begin[-1] == '_')) begin--;
        n += (size_t)(s - begin);
        bytes += n;
        if (n < WORTH_IT) continue;
        p->list = xrealloc(p->list, p->n + 1, sizeof *p->list);
        p->list[p->n++] = (struct part){begin, n, statement};
    }
    return bytes;
}

/* The longest first, those alike together, in order. */
static int by_text(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    if (x->n != y->n) return x->n < y->n ? 1 : -1;
    const int order = memcmp(x->s, y->s, x->n);
    return order ? order : (x->s > y->s) - (x->s < y->s);
}

/* The longest part that stands in two places. The caller frees it; NULL: there is none. *work: bytes that were looked at. */
static char *find_twice(const struct statement *list, size_t n, size_t *ret_first, size_t *work)
{
    struct part_list p = {0};
    for (size_t i = 0; i < n; i++)
        if (list[i].slot >= 0) *work += add_parts(&p, list[i].value, i);
    if (p.n) qsort(p.list, p.n, sizeof *p.list, by_text);
    char *ret = NULL;
    for (size_t i = 1; i < p.n && !ret; i++) {
        if (p.list[i].n != p.list[i - 1].n || memcmp(p.list[i].s, p.list[i - 1].s, p.list[i].n) != 0) continue;
        ret = xstrndup(p.list[i].s, p.list[i].n);
        *ret_first = n;
        for (size_t k = i - 1; k < p.n && p.list[k].n == p.list[i].n && memcmp(p.list[k].s, ret, p.list[k].n) == 0; k++)
            if (p.list[k].statement < *ret_first) *ret_first = p.list[k].statement;
    }
    free(p.list);
    return ret;
}

/* Give the part a slot of its own, set before the statement that needs it first. */
static void share_part(struct statement **list, size_t *n, size_t first, const char *part, int slot)
{
    const size_t length = strlen(part);
    for (size_t i = 0; i < *n; i++) {
        for (char *at; (*list)[i].slot >= 0 && (at = strstr((*list)[i].value, part)) != NULL;) {
            char *value = xasprintf("%.*sv%d%s", (int)(at - (*list)[i].value), (*list)[i].value, slot, at + length);
            free((*list)[i].value);
            (*list)[i].value = value;
        }
    }
    *list = xrealloc(*list, *n + 1, sizeof **list);
    memmove(*list + first + 1, *list + first, (*n - first) * sizeof **list);
    (*list)[first] = (struct statement){slot, xstrdup(part)};
    ++*n;
}

/* What is computed twice is looked for in the first so many bytes of a model, counted as often as they are looked at. */
enum { SHARED_BYTES_MAX = 100000000 };

char *simplify(struct toml_model *m, const char *code, const bool *keep)
{
    size_t n;
    struct statement *list = split(code, &n);
    place_statements(m, list, n, keep);
    char *part;
    for (size_t first, most = 200; most > 0 && m->shared_bytes < SHARED_BYTES_MAX; most--) {
        if ((part = find_twice(list, n, &first, &m->shared_bytes)) == NULL) break;
        share_part(&list, &n, first, part, new_slot(m));
        free(part);
    }
    struct text t;
    text_init(&t);
    for (size_t i = 0; i < n; i++) {
        if (list[i].slot >= 0) text_addf(&t, "%sv%d=%s", t.n ? "," : "", list[i].slot, list[i].value);
        free(list[i].value);
    }
    free(list);
    return text_detach(&t);
}
