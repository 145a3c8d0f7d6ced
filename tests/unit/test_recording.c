/* Recordings: exact on what was recorded, on the line between two contexts, means as of the rows; whatever is no recording is
 * refused with its row. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/xalloc.h"
#include "quality/recording.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = 3, HEADS = 2, STEPS = 4, ROWS = CONTEXTS * HEADS * STEPS };
static const double contexts[CONTEXTS] = {16, 32, 128};

static void fill(struct recording_row rows[ROWS])
{
    for (size_t i = 0; i < ROWS; i++) {
        size_t step = i % STEPS, head = i / STEPS % HEADS, c = i / STEPS / HEADS;
        double positions = contexts[c] - STEPS + 1 + (double)step, active = 2 + (double)((i * 7) % 11);
        rows[i] =
            (struct recording_row){contexts[c], (double)head, positions, {positions, floor(positions / 3), active, 1, active - 1}};
    }
}

static struct dse_recording *make(const struct recording_row *rows, size_t n)
{
    struct row_fault fault = {0};
    struct dse_recording *r = recording_new("test", "rows of the test", rows, n, &fault);
    assert_null(fault.why);
    assert_non_null(r);
    return r;
}

static void recording__is_what_was_recorded(void **state)
{
    (void)state;
    struct recording_row rows[ROWS];
    fill(rows);
    struct dse_recording *r = make(rows, ROWS);
    size_t n;
    assert_memory_equal(dse_recording_contexts(r, &n), contexts, sizeof contexts);
    assert_true(n == CONTEXTS && dse_recording_heads(r) == HEADS && dse_recording_steps(r) == STEPS);
    for (size_t i = 0; i < ROWS; i++) {
        struct dse_recorded at = dse_recording_at(r, rows[i].context, i / STEPS % HEADS, i % STEPS);
        assert_memory_equal(&at, &rows[i].at, sizeof at);
    }
    recording_free(r);
    r = make(rows, 1 * STEPS); /* one head at one context */
    assert_true(dse_recording_heads(r) == 1);
    recording_free(r);
}

/* Between two contexts each step is on a line; so are the means, which are those of the steps. */
static void recording__means_are_those_of_the_steps(void **state)
{
    (void)state;
    struct recording_row rows[ROWS];
    fill(rows);
    struct dse_recording *r = make(rows, ROWS);
    for (double context = 16; context <= 128; context += 4) {
        struct dse_recorded sum = {0};
        double heads[HEADS] = {0};
        for (size_t i = 0; i < HEADS * STEPS; i++) {
            struct dse_recorded at = dse_recording_at(r, context, i / STEPS, i % STEPS);
            heads[i / STEPS] += at.active / STEPS;
            sum.centers += at.centers / (HEADS * STEPS);
            sum.active += at.active / (HEADS * STEPS);
            sum.hits += at.hits / (HEADS * STEPS);
        }
        double cv, apart = fabs(heads[0] - heads[1]) / 2; /* of two */
        struct dse_locality mean = dse_recording_mean(r, context, &cv);
        assert_true(fabs(mean.active - sum.active) < 1e-12 && fabs(mean.centers - sum.centers) < 1e-12);
        assert_true(fabs(mean.hit_ratio * mean.active - sum.hits) < 1e-12 && fabs(cv * mean.active - apart) < 1e-12);
        size_t below = context < 32 ? 0 : 1;
        double share = (context - contexts[below]) / (contexts[below + 1] - contexts[below]), of_a, of_b;
        struct dse_locality a = dse_recording_mean(r, contexts[below], &of_a),
                            b = dse_recording_mean(r, contexts[below + 1], &of_b);
        assert_true(fabs(mean.active - (1 - share) * a.active - share * b.active) < 1e-12);
    }
    recording_free(r);
}

static void refuse(const struct recording_row *rows, size_t n, size_t row, const char *part)
{
    struct row_fault fault = {0};
    assert_null(recording_new("test", "", rows, n, &fault));
    if (!fault.why || !strstr(fault.why, part) || fault.row != row || (row != ROW_NONE && !fault.column))
        fail_msg("row %zu: %s; wanted: row %zu, %s", fault.row, fault.why ? fault.why : "no reason", row, part);
    free(fault.why);
}

static void recording__refuses_what_is_none(void **state)
{
    (void)state;
    struct recording_row rows[ROWS];
    const struct {
        size_t row;
        double context, head, step;
        struct dse_recorded at;
        const char *part;
    } cases[] = {
        {0, 16.5, 0, 13, {1, 1, 2, 1, 1}, "context 16.5 is not a whole number from 1"},
        {0, (double)NAN, 0, 13, {1, 1, 2, 1, 1}, "context nan is not"},
        {0, 16, (double)NAN, 13, {1, 1, 2, 1, 1}, "head nan is not a whole number"},
        {3, 16, 0, 17, {1, 1, 2, 1, 1}, "step 17 is not a whole number from 0 to 16 (the context)"},
        {3, 16, 0, 16, {17, 1, 2, 1, 1}, "centers 17 is not a whole number from 0 to 16 (the positions of the step)"},
        {3, 16, 0, 16, {1, -1, 2, 1, 1}, "large -1 is not"},
        {3, 16, 0, 16, {1, 1, 2.5, 1, 1}, "active 2.5 is not a whole number"},
        {3, 16, 0, 16, {1, 1, 2, 3, 1}, "updates 3 is not a whole number from 0 to 2 (active)"},
        {3, 16, 0, 16, {1, 1, 2, 1, 3}, "hits 3 is not a whole number from 0 to 2 (active)"},
        {6, 16, 1, 14, {1, 1, 2, 1, 1}, "context 16, head 1, step 14 stand where 16, 1, 15 should"},
        {8, 16, 0, 13, {1, 1, 2, 1, 1}, "context 16, head 0, step 13 stand where 16, 2, 13 should"},
        {12,
         32,
         0,
         29,
         {1, 1, 2, 1, 1},
         "context 32, head 0, step 29 stand where 32, 1, 29 should: all contexts have the heads 0 to 1"},
        {16, 32, 0, 29, {1, 1, 2, 1, 1}, "context 32 does not grow (the rows before have 32)"},
        {16, 2, 0, 1, {1, 1, 1, 1, 1}, "context 2 does not grow"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fill(rows);
        rows[cases[i].row] = (struct recording_row){cases[i].context, cases[i].head, cases[i].step, cases[i].at};
        refuse(rows, ROWS, cases[i].row, cases[i].part);
    }
    fill(rows);
    refuse(rows, 0, ROW_NONE, "no rows");
    refuse(rows, ROWS - 1, ROWS - 2, "ends inside of context 128, which needs 8 rows (heads: 2, steps of each: 4)");
    refuse(rows + 1, STEPS, STEPS - 1, "head 1, step 13 stand where");
    rows[0] = (struct recording_row){1, 0, 0, {0, 0, 0, 0, 0}};
    rows[1] = (struct recording_row){1, 0, 1, {0, 0, 0, 0, 0}};
    refuse(rows, 2, 0, "context 1 has no 2 steps");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recording__is_what_was_recorded),
        cmocka_unit_test(recording__means_are_those_of_the_steps),
        cmocka_unit_test(recording__refuses_what_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
