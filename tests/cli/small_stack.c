/* Every model in a thread with the stack that dse.h says it needs: LLMs in closed form, techniques, one point at event level. */
#include <dse/dse.h>

#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { STACK = 256 * 1024 };

static int evaluate(struct dse_points *p, const char *llm, struct dse_problems *problems)
{
    double speed;
    const char *quality, *nulls;
    const struct dse_input in = {"llm", NULL, &llm};
    const struct dse_output out[] = {{"tokens_per_s", &speed, NULL}, {"quality", NULL, &quality}, {"why_null", NULL, &nulls}};
    return dse_points_evaluate(p, 1, &in, 1, out, 3, problems);
}

static int ask(const struct dse *d, const char *model, struct dse_problems *problems)
{
    static const char *const evictions[] = {"none", "h2o", "snapkv", "quest"};
    struct dse_points *p = dse_points_new(d, model, problems);
    const char *llm;
    int ok = p != NULL;
    for (size_t i = 0; ok && i < sizeof evictions / sizeof *evictions; i++) {
        if (!dse_points_set(p, "eviction", evictions[i], NULL)) continue; /* it cannot */
        for (size_t k = 0; ok && (llm = dse_entry_at(d, "llms", k)); k++) ok = evaluate(p, llm, problems);
    }
    if (ok) dse_points_set(p, "eviction", NULL, NULL);
    if (ok && dse_points_set_fidelity(p, "event-level", NULL)) ok = evaluate(p, "llama2-7b", problems);
    dse_points_free(p);
    return ok;
}

static void *work(void *user)
{
    struct dse_problems *problems = dse_problems_new();
    struct dse *d = dse_open(NULL, problems);
    int ok = d != NULL;
    for (size_t i = 0; ok && dse_model_at(d, i); i++) ok = ask(d, dse_model_at(d, i), problems);
    fputs(dse_problems_text(problems), stderr);
    dse_close(d);
    dse_problems_free(problems);
    *(int *)user = ok;
    return NULL;
}

int main(void)
{
    pthread_attr_t small;
    pthread_t thread;
    int ok = 0;
    if (pthread_attr_init(&small) != 0 || pthread_attr_setstacksize(&small, STACK) != 0) return 2;
    if (pthread_create(&thread, &small, work, &ok) != 0 || pthread_join(thread, NULL) != 0) return 2;
    return !ok;
}
