/* search/: the certificate of an exact front, and what its check finds in one that was touched. */
#include "scratch.h"
#include "search_bed.h"

#include "base/file.h"
#include "search/check_front.h"
#include "search/cover.h"
#include "sweep/certified.h"
#include "toy_model.h"

#include <sqlite3.h>

/* ---- covers ------------------------------------------------------------------------------------------------------------------ */

enum { AXES = 3, BOXES_MAX = 400 };
static const uint32_t places[AXES] = {7, 1, 40};

struct boxes {
    uint32_t ends[BOXES_MAX + 1][2 * AXES];
    size_t n;
};

static void halve(struct boxes *b, const uint32_t *box, int depth)
{
    int axis = rand() % AXES;
    if (depth == 0 || box[axis] == box[AXES + axis] || b->n > (size_t)BOXES_MAX / 2) {
        memcpy(b->ends[b->n++], box, sizeof b->ends[0]);
        return;
    }
    uint32_t lower[2 * AXES], upper[2 * AXES];
    memcpy(lower, box, sizeof lower);
    memcpy(upper, box, sizeof upper);
    const uint32_t at = box[axis] + (uint32_t)rand() % (box[AXES + axis] - box[axis]);
    lower[AXES + axis] = at;
    upper[axis] = at + 1;
    halve(b, lower, depth - 1);
    halve(b, upper, depth - 1);
}

static struct boxes any_boxes(void)
{
    struct boxes b = {.n = 0};
    const uint32_t all[2 * AXES] = {0, 0, 0, places[0] - 1, places[1] - 1, places[2] - 1};
    halve(&b, all, 1 + rand() % 9);
    for (size_t i = b.n; i > 1; i--) { /* in any order */
        uint32_t other[2 * AXES];
        const size_t k = (size_t)rand() % i;
        memcpy(other, b.ends[k], sizeof other);
        memcpy(b.ends[k], b.ends[i - 1], sizeof other);
        memcpy(b.ends[i - 1], other, sizeof other);
    }
    return b;
}

static enum cover_state state_of(const struct boxes *b, struct cover *c)
{
    cover_check(b->ends[0], b->n, places, AXES, c);
    return c->state;
}

static bool holds(const uint32_t *box, const uint32_t *lo, const uint32_t *hi)
{
    for (size_t k = 0; k < AXES; k++)
        if (lo[k] > box[AXES + k] || hi[k] < box[k]) return false;
    return true;
}

static void cover__is_whole_however_it_was_halved(void **state)
{
    (void)state;
    uint32_t lo[AXES], hi[AXES];
    struct cover c = {.lo = lo, .hi = hi};
    for (int i = 0; i < 2000; i++) {
        const struct boxes b = any_boxes();
        assert_int_equal(state_of(&b, &c), COVER_WHOLE);
    }
}

static void cover__names_a_hole(void **state)
{
    (void)state;
    uint32_t lo[AXES], hi[AXES];
    struct cover c = {.lo = lo, .hi = hi};
    for (int i = 0; i < 2000; i++) {
        struct boxes b = any_boxes();
        uint32_t gone[2 * AXES];
        memcpy(gone, b.ends[--b.n], sizeof gone);
        assert_int_equal(state_of(&b, &c), COVER_HOLE);
        assert_true(holds(gone, lo, hi));
        for (size_t k = 0; b.n > 1 && k < b.n; k++) /* what is named is the hole: or, around one that is tangled, all of a region */
            if (holds(b.ends[k], lo, hi)) assert_true(memcmp(gone, lo, sizeof lo) != 0 || memcmp(gone + AXES, hi, sizeof hi) != 0);
    }
}

static void cover__names_two_boxes_that_overlap(void **state)
{
    (void)state;
    uint32_t lo[AXES], hi[AXES];
    struct cover c = {.lo = lo, .hi = hi};
    for (int i = 0; i < 2000; i++) {
        struct boxes b = any_boxes();
        const size_t k = (size_t)rand() % (b.n ? b.n : 1);
        const int axis = rand() % AXES;
        if (b.ends[k][AXES + axis] + 1 == places[axis]) continue;
        b.ends[k][AXES + axis]++; /* into its neighbours */
        assert_int_equal(state_of(&b, &c), COVER_OVERLAP);
        assert_true(c.a != c.b && holds(b.ends[c.a], b.ends[c.b], b.ends[c.b] + AXES));
    }
}

static void cover__may_be_whole_without_a_cut(void **state)
{
    (void)state;
    static const uint32_t wheel[][4] = {{0, 0, 1, 0}, {2, 0, 2, 1}, {1, 2, 2, 2}, {0, 1, 0, 2}, {1, 1, 1, 1}}, sides[] = {3, 3};
    uint32_t lo[2], hi[2];
    struct cover c = {.lo = lo, .hi = hi};
    cover_check(wheel[0], 5, sides, 2, &c);
    assert_int_equal(c.state, COVER_WHOLE);
    cover_check(wheel[0], 4, sides, 2, &c);
    assert_int_equal(c.state, COVER_HOLE);
    cover_check(wheel[0], 0, sides, 2, &c);
    assert_int_equal(c.state, COVER_HOLE);
}

/* ---- certificates ------------------------------------------------------------------------------------------------------------ */

static const char sweep[] =
    "[sweep]\nname = \"t\"\nmodels = [\"toy\"]\n[params]\n"
    "memory = [\"two-channels\", \"eight-channels\"]\ntiles = { from = 1, to = 12, step = 1 }\n"
    "clock_ghz = [0.5, 1, 1.5, 2, 3]\nbatch = [1, 2, 4, 8]\nsram_mib = [0.5, 1, 2, 4]\ncontext = [512, 2048]\n"
    "[constraints]\nsize = \"area_mm2 <= 15\"\n[derive]\ndensity = \"tokens_per_s / area_mm2\"\n"
    "[objectives]\nlatency_us = \"min\"\narea_mm2 = \"min\"\ndensity = \"max\"\nper = [\"context\"]\n";

static char *dir, *db;

static struct certificate certify(double seconds, bool boxes)
{
    struct search_bed b;
    assert_true(open_search(&b, toy_data_dir(), sweep));
    const struct certified_options options = {.db = db, .threads = 2, .seconds = seconds, .fresh = true, .boxes = boxes};
    struct certified_result r;
    const bool ok = certified_run(b.sweep, &options, &r, &b.diags);
    diags_print(&b.diags, stderr, false);
    assert_true(ok);
    close_search(&b);
    return r.certificate;
}

static int set_up(void **state)
{
    (void)state;
    dir = scratch_new();
    db = xasprintf("%s/t.db", dir);
    srand(1);
    certify(0, true);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_remove(dir);
    free(db);
    return 0;
}

/* What the check says of a file: NULL when all is well, else its first error, which the caller frees. */
static char *complaint_about(const char *path)
{
    struct diags d;
    diags_init(&d);
    struct catalog *catalog = catalog_new(toy_data_dir(), &d);
    const struct front_check_options options = {.threads = 2, .samples = FRONT_CHECK_SAMPLES};
    struct check c;
    const bool ok = front_check(path, &options, catalog, toy_data_dir(), &c, &d);
    assert_true((ok && c.whole) == (d.errors == 0));
    char *first = d.errors ? xstrdup(d.list[0].message) : NULL;
    check_release(&c);
    catalog_free(catalog);
    diags_release(&d);
    return first;
}

/* Change a copy of the database and check that: with its digests, which find every change, or without. */
static void assert_found_in(const char *sql, bool digests, const char *expected)
{
    char *copy = xasprintf("%s/copy.db", dir), *bytes, *error = NULL;
    size_t n;
    struct diags d;
    diags_init(&d);
    assert_true(text_read_file(db, 100000000, &bytes, &n, &d));
    FILE *f = fopen(copy, "wb");
    assert_true(f && fwrite(bytes, 1, n, f) == n && fclose(f) == 0);
    free(bytes);
    sqlite3 *s;
    assert_int_equal(sqlite3_open(copy, &s), SQLITE_OK);
    if (sqlite3_exec(s, sql, NULL, NULL, &error) != SQLITE_OK) fail_msg("%s: %s", sql, error);
    if (sqlite3_total_changes(s) == 0) fail_msg("%s changes nothing", sql);
    if (!digests && sqlite3_exec(s, "DELETE FROM digest; UPDATE run SET digests = NULL", NULL, NULL, &error) != SQLITE_OK)
        fail_msg("%s", error);
    sqlite3_close(s);
    char *found = complaint_about(copy);
    if (!found || !strstr(found, expected)) fail_msg("%s: \"%s\" is not in \"%s\"", sql, expected, found ? found : "(all is well)");
    free(found);
    free(copy);
    diags_release(&d);
}

static void assert_found(const char *sql, const char *expected)
{
    assert_found_in(sql, false, expected);
    assert_found_in(sql, true, "is not as dse wrote it");
}

static void certificate__holds(void **state)
{
    (void)state;
    char *found = complaint_about(db);
    if (found) fail_msg("%s", found);
}

static void certificate__finds_an_edited_row(void **state)
{
    (void)state;
    assert_found("UPDATE toy_all SET latency_us = latency_us * 1.01 WHERE point = (SELECT max(point) FROM front)",
                 "latency_us was changed");
    assert_found("UPDATE toy_all SET tiles = tiles + 1 WHERE point = (SELECT max(point) FROM front)", "tiles was changed");
    assert_found("UPDATE toy_all SET density = NULL WHERE point = (SELECT max(point) FROM front)", "density was changed");
    assert_found("DELETE FROM front WHERE point = (SELECT by_point FROM certificate_box WHERE why = 'dominated')",
                 "which is no row of the front");
}

static void certificate__finds_a_hole_and_an_overlap(void **state)
{
    (void)state;
    assert_found("DELETE FROM certificate_box WHERE why = 'dominated' AND box = (SELECT min(box) FROM certificate_box WHERE why ="
                 " 'dominated'); UPDATE certificate SET dominated = dominated - 1",
                 "have a hole");
    assert_found("DELETE FROM certificate_box WHERE box = 5", "the certificate says");
    assert_found(
        "INSERT INTO certificate_box SELECT run, 100000, model, why, refused_by, by_model, by_point, places, best, NULL, NULL FROM"
        " certificate_box WHERE why = 'dominated' LIMIT 1; UPDATE certificate SET dominated = dominated + 1",
        "boxes overlap: box ");
}

static void certificate__finds_a_bound_that_was_raised(void **state)
{
    (void)state;
    assert_found("UPDATE certificate_box SET best = CAST(substr(best, 1, instr(best, ' ') - 1) * 1.01 AS TEXT) ||"
                 " substr(best, instr(best, ' ')) WHERE box = (SELECT min(box) FROM certificate_box WHERE why = 'dominated')",
                 "its bound of latency_us is");
}

static void certificate__finds_what_is_not_so(void **state)
{
    (void)state;
    assert_found("UPDATE certificate_space SET version = version + 1", "this dse has version");
    assert_found("UPDATE certificate SET tolerance = 0.01", "the tolerance of run 1 is 0.01");
    assert_found("UPDATE certificate SET form = 3", "is of form 3");
    assert_found("UPDATE run SET objectives = 'min latency_us per context'", "its sweep says");
    assert_found("UPDATE run SET sweep_text = replace(sweep_text, 'area_mm2 <= 15', 'area_mm2 <= 14')",
                 "have changed since the certificate was made");
    assert_found("UPDATE certificate_place SET value = 11 WHERE axis = 'tiles' AND place = 11", "place 11 of axis tiles");
    assert_found(
        "UPDATE certificate_box SET why = 'impossible', by_model = NULL, by_point = NULL, best = NULL WHERE box = (SELECT"
        " min(box) FROM certificate_box WHERE why = 'dominated'); UPDATE certificate SET dominated = dominated - 1, impossible ="
        " impossible + 1",
        "the model's bound does not say so");
    assert_found("UPDATE certificate_box SET by_point = (SELECT point FROM toy_front WHERE context <> (SELECT f.context FROM"
                 " toy_front f WHERE f.point = by_point) LIMIT 1) WHERE why = 'dominated'",
                 "of another front");
    assert_found("UPDATE certificate_box SET places = '0 0 0 0 0' WHERE box = 3", "which the lattice has not");
    assert_found("UPDATE certificate_box SET places = x'00' WHERE box = 3", "is not what dse writes there");
}

/* The bound itself is too high by 1 %: the boxes agree with it, and the points that are drawn do not. */
static void certificate__finds_a_model_whose_bound_is_none(void **state)
{
    (void)state;
    toy_bound_factor = 1.01;
    certify(0, true);
    char *found = complaint_about(db);
    toy_bound_factor = 1;
    assert_non_null(found);
    assert_non_null(strstr(found, "the bound of latency_us is"));
    free(found);
    certify(0, true);
}

static void certificate__says_that_boxes_were_not_kept(void **state)
{
    (void)state;
    certify(0, false);
    char *found = complaint_about(db);
    assert_non_null(found);
    assert_non_null(strstr(found, "were not kept"));
    free(found);
    certify(0, true);
}

/* What is left open is told: no less than it may be. */
static void certificate__tells_what_is_left_open(void **state)
{
    (void)state;
    const struct certificate c = certify(1e-9, true);
    assert_false(c.complete);
    assert_true(c.boxes[BOX_OPEN] > 0 && c.epsilon > 0);
    certificate__holds(state);
    assert_found("UPDATE certificate SET complete = 1", "says that it is complete");
    if (isfinite(c.epsilon)) assert_found("UPDATE certificate SET epsilon = epsilon / 1.01", "what is left open may be better");
    certify(0, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cover__is_whole_however_it_was_halved),
        cmocka_unit_test(cover__names_a_hole),
        cmocka_unit_test(cover__names_two_boxes_that_overlap),
        cmocka_unit_test(cover__may_be_whole_without_a_cut),
        cmocka_unit_test(certificate__holds),
        cmocka_unit_test(certificate__finds_an_edited_row),
        cmocka_unit_test(certificate__finds_a_hole_and_an_overlap),
        cmocka_unit_test(certificate__finds_a_bound_that_was_raised),
        cmocka_unit_test(certificate__finds_what_is_not_so),
        cmocka_unit_test(certificate__finds_a_model_whose_bound_is_none),
        cmocka_unit_test(certificate__tells_what_is_left_open),
        cmocka_unit_test(certificate__says_that_boxes_were_not_kept),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
