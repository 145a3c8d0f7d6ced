#include "cli/merge_shards.h"

#include "base/text.h"
#include "base/xalloc.h"
#include "command/terminal.h"
#include "store/query.h"

#include <stdlib.h>
#include <string.h>

/* A run of one of the databases that is shard K of N. */
struct part {
    char *sweep, *hash;
    const char *path;
    int64_t k, n;
};

struct parts {
    struct part *list;
    size_t n;
};

static void parts_release(struct parts *p)
{
    for (size_t i = 0; i < p->n; i++) {
        free(p->list[i].sweep);
        free(p->list[i].hash);
    }
    free(p->list);
}

/* "K/N"; what workers with leases have is none. */
static bool parse_shard(const char *text, struct part *ret)
{
    char *k = xstrndup(text, strcspn(text, "/"));
    const char *slash = strchr(text, '/');
    const bool ok = slash && text_parse_i64(k, &ret->k) && text_parse_i64(slash + 1, &ret->n) && ret->n > 1;
    free(k);
    return ok;
}

static bool read_parts(const char *path, struct parts *p, struct diags *diags)
{
    struct reader *r = reader_open(path, diags);
    struct query *q =
        r ? query_new(r, "SELECT sweep, hash, shard FROM run WHERE shard IS NOT NULL", (struct srcloc){0}, diags) : NULL;
    int status = q ? 1 : -1;
    while (status > 0 && (status = query_step(q, diags)) > 0) {
        const char *sweep = query_text(q, 0), *hash = query_text(q, 1), *shard = query_text(q, 2);
        struct part one = {.path = path};
        if (!sweep || !hash || !shard || !parse_shard(shard, &one)) continue;
        one.sweep = xstrdup(sweep);
        one.hash = xstrdup(hash);
        p->list = xrealloc(p->list, p->n + 1, sizeof *p->list);
        p->list[p->n++] = one;
    }
    query_free(q);
    reader_close(r);
    return status == 0;
}

static bool same_run(const struct part *a, const struct part *b)
{
    return strcmp(a->sweep, b->sweep) == 0 && strcmp(a->hash, b->hash) == 0;
}

static bool is_first_of_its_run(const struct parts *p, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (same_run(&p->list[k], &p->list[i])) return false;
    return true;
}

/* How many shards of its N the run of part i has. */
static int64_t shards_there(const struct parts *p, size_t i)
{
    int64_t there = 0;
    for (size_t k = 0; k < p->n; k++) {
        bool counted = !same_run(&p->list[k], &p->list[i]);
        for (size_t j = 0; j < k; j++) counted |= same_run(&p->list[j], &p->list[k]) && p->list[j].k == p->list[k].k;
        there += !counted;
    }
    return there;
}

bool merge_check_shards(const char *const *paths, size_t n, struct diags *diags)
{
    struct parts p = {0};
    struct text said;
    size_t broken = 0;
    bool ok = true;
    text_init(&said);
    for (size_t i = 0; i < n; i++) ok = read_parts(paths[i], &p, diags) && ok;
    for (size_t i = 0; ok && i < p.n; i++) {
        const struct part *one = &p.list[i];
        if (!is_first_of_its_run(&p, i) || shards_there(&p, i) == one->n) continue;
        text_addf(&said, "%s%s has shard %lld/%lld of %s", broken ? ", " : "", one->path, (long long)one->k, (long long)one->n,
                  one->sweep);
        broken++;
    }
    if (broken > 1)
        ok = diags_input(diags, (struct srcloc){0}, NULL,
                         "a sweep whose file was edited in between is another sweep; merge the shards of one sweep at a time",
                         "shards of different sweeps, none of which is whole: %s", said.s);
    text_release(&said);
    parts_release(&p);
    return ok;
}

bool merge_say_missing(const char *db, struct diags *diags)
{
    struct reader *r = reader_open(db, diags);
    struct query *q =
        r ? query_new(r, "SELECT sweep, done, planned, coalesce(shard, '') FROM run WHERE done < planned OR shard LIKE '%/%'",
                      (struct srcloc){0}, diags)
          : NULL;
    int status = q ? 1 : -1;
    while (status > 0 && (status = query_step(q, diags)) > 0) {
        char done[TEXT_NUMBER_MAX], planned[TEXT_NUMBER_MAX];
        const char *sweep = query_text(q, 0), *shard = query_text(q, 3);
        if (shard && *shard)
            diags_warn(diags, (struct srcloc){.file = db}, NULL, "%s: only shard %s is there, so the front covers only this part",
                       sweep ? sweep : "?", shard);
        else
            diags_warn(diags, (struct srcloc){.file = db}, NULL,
                       "%s: %s of %s points are there, and shards are missing or not done; the front covers only these points",
                       sweep ? sweep : "?", text_count(done, (uint64_t)query_i64(q, 1)),
                       text_count(planned, (uint64_t)query_i64(q, 2)));
    }
    query_free(q);
    reader_close(r);
    return status == 0;
}
