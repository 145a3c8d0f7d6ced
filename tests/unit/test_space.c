/* space/space.h: points, their indices, what varies, the hash. */
#include "scratch.h"
#include "space/space_internal.h"
#include "toy_model.h"

#include <math.h>

/* A sweep of the toy model with these [params] and, behind them, these sections. */
struct bed {
    char *dir;
    struct catalog *catalog;
    struct sweep_file *sweep;
    struct space *space;
    struct diags diags;
};

static struct bed *open_bed(const char *params, const char *sections)
{
    struct bed *b = xcalloc(1, sizeof *b);
    diags_init(&b->diags);
    b->dir = scratch_new();
    char *text = xasprintf("[sweep]\nname = \"t\"\nmodels = [\"toy\"]\n[params]\n%s\n%s\n[objectives]\ntokens_per_s = \"max\"\n",
                           params, sections);
    scratch_write(b->dir, "t.toml", text);
    free(text);
    char *path = xasprintf("%s/t.toml", b->dir);
    b->catalog = catalog_new(toy_data_dir(), &b->diags);
    b->sweep = b->catalog ? sweep_file_read(path, b->catalog, toy_data_dir(), &b->diags) : NULL;
    free(path);
    if (b->sweep && b->diags.errors == 0) b->space = space_new(b->sweep, 0, 1000000, &b->diags);
    if (!b->space) {
        diags_print(&b->diags, stderr, false);
        fail_msg("no space");
    }
    return b;
}

static void close_bed(struct bed *b)
{
    space_free(b->space);
    sweep_file_free(b->sweep);
    catalog_free(b->catalog);
    diags_release(&b->diags);
    scratch_remove(b->dir);
    free(b);
}

static struct toy_params point(const struct bed *b, uint64_t index)
{
    struct toy_params p;
    space_point(b->space, index, &p);
    return p;
}

static bool varies(const struct bed *b, const char *name)
{
    const struct schema *params = &space_model(b->space)->params;
    return space_varies(b->space, schema_index(params, schema_find(params, name)));
}

/* Axes by name, the last fastest: clock_ghz, context, tiles. */
static void space__numbers_points_by_sorted_axes(void **state)
{
    (void)state;
    struct bed *b = open_bed("tiles = [4, 2, 8]\nclock_ghz = { from = 0.5, to = 0.8, step = 0.1 }\ncontext = [1024, 2048]", "");
    assert_int_equal(space_count(b->space), 4 * 2 * 3);
    static const double clocks[] = {0.5, 0.6, 0.7, 0.8};
    static const int tiles[] = {4, 2, 8};
    uint64_t index = 0;
    for (int c = 0; c < 4; c++)
        for (int n = 0; n < 2; n++)
            for (int t = 0; t < 3; t++, index++) {
                struct toy_params p = point(b, index);
                assert_true(p.clock_ghz == clocks[c]);
                assert_int_equal(p.context, n ? 2048 : 1024);
                assert_int_equal(p.tiles, tiles[t]);
                assert_true(p.sram_mib == 2); /* fixed: the default */
            }
    close_bed(b);
}

static void space__of_nothing_varying_has_one_point(void **state)
{
    (void)state;
    struct bed *b = open_bed("tiles = 8", "");
    assert_int_equal(space_count(b->space), 1);
    assert_int_equal(point(b, 0).tiles, 8);
    for (size_t i = 0; i < space_model(b->space)->params.n; i++) assert_false(space_varies(b->space, i));
    close_bed(b);
}

/* A memory sets channels and channel_gbs, and with them the automatic bandwidth; what is given explicitly stays. */
static void space__catalog_names_set_what_was_not_given(void **state)
{
    (void)state;
    struct bed *b = open_bed("memory = [\"two-channels\", \"eight-channels\"]", "");
    struct toy_params two = point(b, 0), eight = point(b, 1);
    assert_int_equal(two.channels, two.memory->channels);
    assert_int_equal(eight.channels, eight.memory->channels);
    assert_true(two.channels != eight.channels);
    assert_true(two.bandwidth_gbs == (double)two.channels * two.channel_gbs);
    assert_true(eight.bandwidth_gbs == (double)eight.channels * eight.channel_gbs);
    assert_true(varies(b, "memory") && varies(b, "channels") && varies(b, "bandwidth_gbs"));
    assert_false(varies(b, "tiles"));
    close_bed(b);

    b = open_bed("memory = [\"two-channels\", \"eight-channels\"]\nchannels = 5", "");
    assert_int_equal(point(b, 0).channels, 5);
    assert_int_equal(point(b, 1).channels, 5);
    assert_false(varies(b, "channels"));
    close_bed(b);

    b = open_bed("memory = \"eight-channels\"", ""); /* not on an axis, it sets them all the same */
    assert_int_equal(point(b, 0).channels, point(b, 0).memory->channels);
    close_bed(b);

    b = open_bed("memory = [\"two-channels\", \"eight-channels\"]\nbandwidth_gbs = 100", "");
    assert_true(point(b, 0).bandwidth_gbs == 100 && point(b, 1).bandwidth_gbs == 100);
    close_bed(b);
}

/* An axis that an automatic parameter follows makes it vary too. */
static void space__automatic_parameters_vary_with_their_causes(void **state)
{
    (void)state;
    struct bed *b = open_bed("channels = [1, 2, 4]", "");
    assert_true(varies(b, "bandwidth_gbs"));
    size_t n;
    const struct column *columns = space_columns(b->space, &n);
    assert_true(space_column(b->space, "bandwidth_gbs") != SIZE_MAX);
    assert_true(space_column(b->space, "tiles") == SIZE_MAX);
    for (size_t i = 1; i < n; i++) assert_true(columns[i - 1].role <= columns[i].role);
    close_bed(b);
}

static uint64_t hash_of(const char *params, const char *sections)
{
    struct bed *b = open_bed(params, sections);
    uint64_t h = space_hash(b->space);
    close_bed(b);
    return h;
}

static void space__hash_tells_sweeps_apart_and_not_their_spelling(void **state)
{
    (void)state;
    uint64_t h = hash_of("tiles = [2, 4]\nclock_ghz = { from = 0.5, to = 1, step = 0.25 }", "");
    assert_true(h == hash_of("clock_ghz = [0.5, 0.75, 1.0]\ntiles = [2, 4]", ""));
    assert_true(h == hash_of("clock_ghz = [0.5, 0.75, 1.0]\ntiles = [2, 4]\nsram_mib = 2.0", "")); /* the default, said aloud */
    assert_true(h == hash_of("tiles = { from = 2, to = 4, step = 2 }\nclock_ghz = { from = 0.5, to = 1, points = 3 }", ""));
    assert_true(h != hash_of("tiles = [4, 2]\nclock_ghz = [0.5, 0.75, 1.0]", "")); /* the points have other numbers */
    assert_true(h != hash_of("tiles = [2, 5]\nclock_ghz = [0.5, 0.75, 1.0]", ""));
    assert_true(h != hash_of("tiles = [2, 4]\nclock_ghz = [0.5, 0.75, 1.0]\nsram_mib = 3", ""));
    assert_true(h != hash_of("tiles = [2, 4]\nclock_ghz = [0.5, 0.75, 1.0]", "[constraints]\na = \"tiles > 1\""));
    assert_true(h != hash_of("tiles = [2, 4]\nclock_ghz = [0.5, 0.75, 1.0]", "[derive]\na = \"tiles + 1\""));
}

/* An LLM of the sweep's own is part of the hash with what it is made of, not by its name alone. */
static void space__hash_sees_into_catalog_entries(void **state)
{
    (void)state;
    static const char entry[] =
        "[catalog.llms.mine]\nlayers = %d\nhidden = 256\nheads = 4\nkv_heads = 4\nhead_dim = 64\nffn = 1024\n"
        "ffn_matrices = 2\nvocab = 1000\nembedding_tables = 2\nmax_context = 4096\nsource = \"x\"\n";
    char *two = xasprintf(entry, 2), *three = xasprintf(entry, 3);
    uint64_t h = hash_of("llm = \"mine\"\ntiles = [1, 2]", two);
    assert_true(h == hash_of("llm = \"mine\"\ntiles = [1, 2]", two));
    assert_true(h != hash_of("llm = \"mine\"\ntiles = [1, 2]", three));
    assert_true(hash_of("llm = [\"mine\", \"tiny\"]", two) != hash_of("llm = [\"mine\", \"tiny\"]", three));
    free(two);
    free(three);
}

/* Blocks of any size at any place give the rows of single points; infeasible points have no metrics, broken constraints keep
 * theirs. */
static void space__evaluates_blocks_as_single_points(void **state)
{
    (void)state;
    struct bed *b =
        open_bed("tiles = { from = 1, to = 40, step = 1 }\nclock_ghz = { from = 0.5, to = 2, points = 7 }\nsram_mib = [1, 2, 4]",
                 "[constraints]\nsmall = \"area_mm2 < 40\"\n[derive]\nbad = \"log2(area_mm2 - 30)\"");
    size_t columns, bad = space_column(b->space, "bad"), area = space_column(b->space, "area_mm2");
    space_columns(b->space, &columns);
    uint64_t count = space_count(b->space);
    union cell *all = xcalloc(count * columns, sizeof *all), *one = xcalloc(columns, sizeof *one);
    struct row *rows = xcalloc(count, sizeof *rows), row;
    struct evaluator *e = evaluator_new(b->space, FIDELITY_CLOSED_FORM, NULL),
                     *other = evaluator_new(b->space, FIDELITY_CLOSED_FORM, NULL);
    for (uint64_t first = 0, n = 1; first < count; first += n, n = n % 37 + 5)
        evaluator_run(e, first, (size_t)(first + n < count ? n : count - first), all + first * columns, rows + first);
    size_t refused = 0, broken = 0;
    for (uint64_t i = count; i-- > 0;) {
        evaluator_run(other, i, 1, one, &row);
        assert_memory_equal(one, all + i * columns, columns * sizeof *one);
        assert_ptr_equal(row.reason, rows[i].reason);
        struct toy_params p = point(b, i);
        const char *why = space_model(b->space)->desc->check(&p);
        assert_true(isnan(one[area].f64) == (why != NULL));
        assert_true(isnan(one[bad].f64) == (why || !(one[area].f64 > 30)));
        refused += why != NULL;
        broken += !why && row.reason != NULL;
        if (!why) assert_true((row.reason != NULL) == !(one[area].f64 < 40));
    }
    assert_true(refused > 0 && broken > 0 && refused + broken < count);
    evaluator_free(e);
    evaluator_free(other);
    free(all);
    free(one);
    free(rows);
    close_bed(b);
}

static int tear_down(void **state)
{
    (void)state;
    registry_release();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(space__numbers_points_by_sorted_axes),
        cmocka_unit_test(space__of_nothing_varying_has_one_point),
        cmocka_unit_test(space__catalog_names_set_what_was_not_given),
        cmocka_unit_test(space__automatic_parameters_vary_with_their_causes),
        cmocka_unit_test(space__hash_tells_sweeps_apart_and_not_their_spelling),
        cmocka_unit_test(space__hash_sees_into_catalog_entries),
        cmocka_unit_test(space__evaluates_blocks_as_single_points),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}
