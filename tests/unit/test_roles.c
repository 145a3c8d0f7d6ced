/* Roles and traits of operators, over all LLMs of the catalog, phases, drafters and degrees: names and roles are one to one, the
 * documentation has both, and traits agree with the numbers of the operators. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/file.h"
#include "base/text.h"
#include "dse_config.h"
#include "expand_test.h"

#include <stdlib.h>
#include <string.h>

static const char draft[] = "draft_";

/* ---- all steps ------------------------------------------------------------------------------------------------------------- */

typedef void see_fn(const struct dse_workload *w, const struct dse_oplist *list);

static void see_degrees(struct dse_workload w, see_fn *see)
{
    static const int64_t degrees[][4] = {{1, 1, 1, 1}, {2, 1, 1, 1}, {4, 2, 1, 1}, {2, 1, 4, 8}}; /* the last is of experts */
    for (size_t i = 0; i < sizeof degrees / sizeof *degrees; i++) {
        struct dse_oplist list;
        w.tensor_parallel = degrees[i][0];
        w.pipeline_parallel = degrees[i][1];
        w.data_parallel = degrees[i][2];
        w.expert_parallel = w.llm->moe.experts > 0 ? degrees[i][3] : 1;
        if (dse_workload_check(&w, DSE_CAN_ALL)) continue;
        dse_workload_expand(&w, &list);
        see(&w, &list);
    }
}

static void see_all(see_fn *see)
{
    for (size_t i = 0; nth(i); i++) {
        struct dse_workload w = decode(nth(i), 16, 900);
        for (w.latent_form = DSE_LATENT_ABSORBED; w.latent_form <= DSE_LATENT_BY_PHASE; w.latent_form++) {
            w.phase = DSE_PREFILL;
            w.speculation.draft_tokens = w.chunk_tokens = 0;
            see_degrees(w, see);
            w.phase = DSE_DECODE;
            see_degrees(w, see);
            w.chunk_tokens = 64;
            see_degrees(w, see);
            w.speculation.draft_tokens = 3;
            w.speculation.draft = find("llama3.2-1b");
            for (int drafter = DSE_DRAFT_HEADS; drafter <= DSE_DRAFT_LLM; drafter++) {
                w.speculation.drafter = drafter;
                see_degrees(w, see);
            }
        }
    }
}

/* ---- roles ----------------------------------------------------------------------------------------------------------------- */

/* Of the operators seen so far: the name without "draft_", NULL before the first, and the kind. */
static const char *names[DSE_OP_ROLES];
static enum dse_op_kind kinds[DSE_OP_ROLES];

static void see_role(const struct dse_workload *w, const struct dse_oplist *list)
{
    for (int i = 0; i < list->n; i++) {
        const struct dse_op *op = &list->op[i];
        const bool drafts = strncmp(op->name, draft, strlen(draft)) == 0;
        const char *name = drafts ? op->name + strlen(draft) : op->name;
        assert_true(op->role >= 0 && op->role < DSE_OP_ROLES);
        if (drafts != op->is_draft) fail_msg("%s: is_draft of %s", w->llm->entry.name, op->name);
        if (!names[op->role]) {
            names[op->role] = name;
            kinds[op->role] = op->kind;
        }
        assert_string_equal(name, names[op->role]);
        assert_int_equal(op->kind, kinds[op->role]);
    }
}

static void roles__and_names_are_one_to_one(void **state)
{
    (void)state;
    see_all(see_role);
    for (int i = 0; i < DSE_OP_ROLES; i++) {
        if (!names[i]) fail_msg("no operator has role %s", dse_op_role_names[i]);
        for (int k = 0; k < i; k++) assert_string_not_equal(names[i], names[k]);
    }
}

static void roles__have_names_in_lower_case_with_dashes(void **state)
{
    (void)state;
    assert_null(dse_op_role_names[DSE_OP_ROLES]);
    for (int i = 0; i < DSE_OP_ROLES; i++) {
        const char *name = dse_op_role_names[i];
        assert_true(strspn(name, "abcdefghijklmnopqrstuvwxyz-") == strlen(name) && *name != '-');
        for (int k = 0; k < i; k++) assert_string_not_equal(name, dse_op_role_names[k]);
    }
}

/* The next `word` before the cell ends. */
static bool next_word(const char **at, char *ret, size_t size)
{
    const char *begin = *at + strcspn(*at, "`|\n");
    if (*begin != '`') return false;
    const size_t n = strcspn(begin + 1, "`");
    assert_true(n < size);
    memcpy(ret, begin + 1, n);
    ret[n] = '\0';
    *at = begin + n + 2;
    return true;
}

/* A row "| `operator`, ... | `role`, ... | ...": counts what it documents. */
static void see_row(const char *row, int *documented)
{
    char name[64], role[64];
    const char *at = row + 1, *other = strchr(at, '|');
    assert_non_null(other);
    for (other++; next_word(&at, name, sizeof name) && next_word(&other, role, sizeof role);) {
        int i = 0;
        while (i < DSE_OP_ROLES && strcmp(dse_op_role_names[i], role) != 0) i++;
        if (i == DSE_OP_ROLES) fail_msg("docs/explanation/llms.md: no role is called %s", role);
        const char *own = strncmp(name, draft, strlen(draft)) == 0 ? name + strlen(draft) : name;
        assert_string_equal(own, names[i]);
        documented[i]++;
    }
}

static void the_documentation__names_the_role_of_each_operator(void **state)
{
    (void)state;
    int documented[DSE_OP_ROLES] = {0};
    struct diags found;
    char *page;
    diags_init(&found);
    assert_true(text_read_file(DSE_SOURCE_DATA "/docs/explanation/llms.md", 1 << 20, &page, NULL, &found));
    see_all(see_role);
    const char *row = strstr(page, "| operators | roles");
    assert_non_null(row);
    for (row = strstr(row, "\n| `"); row && row[1] == '|'; row = strchr(row + 1, '\n')) see_row(row + 1, documented);
    for (int i = 0; i < DSE_OP_ROLES; i++)
        if (documented[i] == 0) fail_msg("docs/explanation/llms.md does not know role %s of %s", dse_op_role_names[i], names[i]);
    free(page);
}

/* ---- traits ---------------------------------------------------------------------------------------------------------------- */

static const struct dse_llm *llm_of(const struct dse_workload *w, const struct dse_op *op)
{
    return op->is_draft && w->speculation.drafter == DSE_DRAFT_LLM ? w->speculation.draft : w->llm;
}

/* A matrix for each head of a latent attention whose values lie in its keys. */
static bool has_heads(const struct dse_oplist *list, const struct dse_op *op)
{
    for (int i = 0; i < list->n_attentions; i++) {
        const struct dse_attention *a = &list->attention[i];
        if (a->values_in_keys && a->is_draft == op->is_draft && op->repeat == a->layers * a->heads) return true;
    }
    return false;
}

static void see_traits(const struct dse_workload *w, const struct dse_oplist *list)
{
    for (int i = 0; i < list->n; i++) {
        const struct dse_op *op = &list->op[i];
        const struct dse_llm *llm = llm_of(w, op);
        const bool state = op->kind == DSE_OP_RECURRENCE, linear = op->kind == DSE_OP_LINEAR;
        const bool up = op->role == DSE_ROLE_FFN_UP || op->role == DSE_ROLE_EXPERT_UP || op->role == DSE_ROLE_SHARED_UP;
        bool right = op->writes_cache == (op->kv_write_bytes > 0 && !state);
        right = right && op->has_gate == (up && llm->ffn_matrices == 3) && (!op->has_gate || op->n % 2 == 0);
        right = right && (!op->is_per_head || has_heads(list, op)) && op->in_attention == (op->attention >= 0);
        right = right && (linear || !(op->follows_norm || op->has_gate || op->writes_cache || op->is_per_head));
        right = right && (!op->follows_norm || op->k == llm->hidden);
        if (!right) fail_msg("%s: traits of %s", w->llm->entry.name, op->name);
    }
}

static void traits__agree_with_the_numbers(void **state)
{
    (void)state;
    see_all(see_traits);
}

/* One in each mixer and each network, and one in the output head; drafts have their own. */
static void see_norms(const struct dse_workload *w, const struct dse_oplist *list)
{
    int64_t norms = 0, sublayers = 1;
    for (size_t i = 0; i < w->llm->n_kinds; i++) {
        const struct dse_layer_kind *k = &w->llm->kinds[i];
        sublayers += k->layers * ((k->attention != DSE_NO_MIXER) + (k->feed_forward != DSE_NO_FFN));
    }
    for (int i = 0; i < list->n; i++)
        if (list->op[i].follows_norm && !list->op[i].is_draft) norms += list->op[i].repeat;
    if (dse_degree(w->pipeline_parallel) == 1 && norms != sublayers)
        fail_msg("%s: %d norms of %d sublayers", w->llm->entry.name, (int)norms, (int)sublayers);
}

static void norms__are_one_a_sublayer(void **state)
{
    (void)state;
    see_all(see_norms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles__and_names_are_one_to_one),
        cmocka_unit_test(roles__have_names_in_lower_case_with_dashes),
        cmocka_unit_test(the_documentation__names_the_role_of_each_operator),
        cmocka_unit_test(traits__agree_with_the_numbers),
        cmocka_unit_test(norms__are_one_a_sublayer),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
