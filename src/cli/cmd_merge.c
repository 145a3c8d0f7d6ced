/* dse merge: databases of shards, of workers, or of different sweeps, into one. */
#include "base/diag.h"
#include "base/text.h"
#include "base/xalloc.h"
#include "command/command.h"
#include "command/terminal.h"
#include "store/query.h"
#include "sweep/goal.h"
#include "sweep/leases.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* ---- shards --------------------------------------------------------------------------------------------------------------- */

/* Shards among the databases that `dse merge` is given: what together makes a whole, and what does not. */

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

/* Are the shards those of one sweep, or are all of each sweep there? Else an error says which are of which, and which are missing:
 * merged, they would look like one run, and be parts of two. */
static bool merge_check_shards(const char *const *paths, size_t n, struct diags *diags)
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

/* Say of each run of a merged database that lacks points how many it has. */
static bool merge_say_missing(const char *db, struct diags *diags)
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

/* ---- the command ---------------------------------------------------------------------------------------------------------- */

/* A run put together from shards has no front yet. */
static bool compute_front(const char *db, int64_t run, struct diags *diags)
{
    struct store *st = store_open_run(db, run, diags);
    struct goal goal;
    goal_init(&goal);
    size_t n;
    bool ok = st && (goal_parse(&goal, store_objectives(st)) ||
                     diags_runtime(diags, db, "run %lld has unreadable objectives", (long long)run));
    ok = ok && goal_front(st, &goal, &n, diags);
    goal_release(&goal);
    store_close(st);
    return ok;
}

static bool compute_fronts(const char *db, struct diags *diags)
{
    size_t n;
    int64_t *runs = store_runs(db, &n, diags);
    bool ok = runs != NULL;
    for (size_t i = 0; ok && i < n; i++) ok = compute_front(db, runs[i], diags);
    free(runs);
    return ok;
}

/* Say SAID of the sweep of each run that a query finds. */
static bool say_each(struct reader *r, const char *sql, const char *said, const char *db, struct diags *diags)
{
    struct query *q = query_new(r, sql, (struct srcloc){0}, diags);
    int status = q ? 1 : -1;
    while (status > 0 && (status = query_step(q, diags)) > 0)
        terminal_say(stderr, "dse: the %s of %s is not %s yet: run its sweep file with --fidelity %s -o %s", query_text(q, 1),
                     query_text(q, 0), said, query_text(q, 2), db);
    query_free(q);
    return status == 0;
}

/* What is missing of runs that workers have done their part of: a front is to be refined, or what is kept is to be stored. */
static bool say_open(const char *db, struct diags *diags)
{
    struct reader *r = reader_open(db, diags);
    const bool ok =
        r &&
        say_each(r,
                 "SELECT sweep, 'front', fidelity FROM run"
                 " WHERE fidelity = 'refine' AND status <> 'done' AND done = planned AND shard IS NULL",
                 "refined", db, diags) &&
        say_each(
            r,
            "SELECT sweep, substr(method, 6), fidelity FROM run WHERE method LIKE 'keep %' AND status <> 'done' AND shard IS NULL",
            "stored", db, diags);
    reader_close(r);
    return ok;
}

/* The databases to be merged. */
struct inputs {
    char **paths;
    size_t n;
};

static void inputs_release(struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->n; i++) free(inputs->paths[i]);
    free(inputs->paths);
}

/* An operand is a database, or a folder of leases with those of all workers. */
static bool add_operand(struct inputs *inputs, const char *operand, struct diags *diags)
{
    size_t n = 1;
    char *one = NULL, **paths = &one;
    if (leases_is_folder(operand))
        paths = leases_databases(operand, &n, diags);
    else
        one = xstrdup(operand);
    if (!paths) return false;
    inputs->paths = xrealloc(inputs->paths, inputs->n + n, sizeof(char *));
    for (size_t i = 0; i < n; i++) inputs->paths[inputs->n++] = paths[i];
    if (paths != &one) free(paths);
    return true;
}

static int run(const struct invocation *in)
{
    const char *out = in->operands[0];
    struct inputs inputs = {0};
    bool ok = true;
    for (size_t i = 1; i < in->n_operands; i++) ok = add_operand(&inputs, in->operands[i], in->diags) && ok;
    ok = ok && merge_check_shards((const char *const *)inputs.paths, inputs.n, in->diags);
    ok = ok && store_merge(out, (const char *const *)inputs.paths, inputs.n, in->diags) && compute_fronts(out, in->diags);
    if (ok) terminal_say(stderr, "dse: merged %zu databases into %s", inputs.n, out);
    ok = ok && say_open(out, in->diags) && merge_say_missing(out, in->diags);
    inputs_release(&inputs);
    return ok ? 0 : 1;
}

const struct command command_merge = {
    .name = "merge",
    .operands = "OUT.db IN...",
    .summary = "join the databases of shards or workers, or collect several sweeps in one file",
    .options = (const struct option_row[]){{0}},
    .help = "Runs of the same sweep become one run with one front over all their points. Other runs are copied as they are.\n"
            "dse only reads the inputs. An input is a database, or a folder of `dse sweep --lease` whose blocks are all done.\n"
            "Shards of different sweeps are refused, unless all shards of each sweep are there. If shards of one sweep are\n"
            "missing, dse merges the others and says so.\n"
            "\n"
            "  dse merge results/lad_sram.db results/lad_sram.shard-*.db\n"
            "  dse merge results/lad_sram.db /shared/lad_sram\n",
    .min_operands = 2,
    .max_operands = 100000,
    .run = run,
};
