#!/bin/sh
# A model that lives outside of the tree, as a plug-in: compiled against what is installed, asked through every command, through the library and in SQL;
# and what is no plug-in, fits other headers or crashes is told.
SOURCE=$(cd "$2" && pwd) BUILD=$3
. "$(dirname "$0")/lib.sh"
. "$SOURCE/tests/cli/library.lib"
export LC_ALL=C
install_into "$WORK/root"
says() { grep -qe "$1" "$2" || fail "\"$1\" is not in $2: $(head -n 20 "$2")"; }
pc=$(PKG_CONFIG_SYSROOT_DIR=$WORK/root PKG_CONFIG_PATH=$(dirname "$(find "$WORK/root" -name dse.pc)") pkg-config --cflags --libs dse)
plugin() { # SOURCE.c PLUGIN.so [OPTION]...
    from=$1 to=$2
    shift 2
    # shellcheck disable=SC2086
    cc -std=gnu17 -O2 -g -Wall -Wextra -Wno-missing-field-initializers -Werror -shared -fPIC $sanitised "$@" "$from" $pc -lm -o "$to" || fail "$from does not compile"
}
[ "$(wc -l <"$SOURCE/examples/roofline/roofline.c")" -lt 160 ] || fail "the model takes 160 lines or more"
mkdir here
cp "$SOURCE"/examples/roofline/* here
plugin here/roofline.c here/roofline.so
unset DSE_DATA_DIR # what it was compiled against lies beside the program
if [ -n "$sanitised" ]; then export ASAN_OPTIONS="detect_odr_violation=0:${ASAN_OPTIONS:-}"; fi
with() { "$DSE" --plugin here/roofline.so "$@"; }

"$DSE" test-model here/roofline.so >out.txt 2>err.txt || fail "the model of the example does not hold: $(cat out.txt err.txt)"
[ "$(grep -c '^roofline .* ok ' out.txt)" -eq 11 ] || fail "test-model: $(cat out.txt)"
with list models >out.txt
says '^roofline .*closed-form, event-level' out.txt
with describe roofline machine >out.txt
says 'peak_tflops' out.txt
with eval roofline --breakdown >out.txt
says 'ffn_down' out.txt
with eval roofline --fidelity event-level >out.txt
says 'dram_utilization' out.txt
with agree roofline --points 5 >out.txt
says 'latency_us' out.txt
with validate roofline >out.txt 2>&1 || fail "a model without claims: $(cat out.txt)"
says 'roofline has no published numbers' out.txt
cat >six.toml <<'TOML'
# Is LAD faster than an ideal machine on its own memory?
[sweep]
name = "six"
models = ["lad", "roofline"]
[params]
context = [1024, 2048]
memory = "hbm2-5cube"
[params.roofline]
peak_tflops = { from = 1, to = 1000, points = 13, scale = "log" }
[objectives]
tokens_per_s = "max"
energy_mj = "min"
TOML
DSE_PLUGINS="$WORK/here/roofline.so" "$DSE" sweep six.toml -q -o six.db >out.txt 2>err.txt || fail "the sweep: $(cat err.txt)"
[ "$(sqlite3 six.db 'select count(*) from roofline')" = 26 ] || fail "rows of the roofline are missing"
[ "$(sqlite3 six.db 'select count(*) from comparison where model = "roofline"')" = 26 ] || fail "the comparison lacks the roofline"
with report six.db -o six.html >out.txt 2>err.txt || fail "the report: $(cat err.txt)"
says 'peak_tflops' six.html
if "$DSE" sweep six.toml -q -o none.db >out.txt 2>err.txt; then fail "a sweep of a model that is not there"; fi
says 'roofline' err.txt

# In SQL and in the library; in the folder under the prefix.
[ "$(with query :memory: "SELECT count(*), sum(status = 'ok') FROM roofline WHERE batch BETWEEN 1 AND 4" --format csv | tail -n 1)" = 4,4 ] || fail "dse query"
cat >library.c <<'C'
#include <dse/dse.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    struct dse_problems *problems = dse_problems_new();
    struct dse *d = dse_open(argc > 2 ? argv[2] : NULL, problems);
    if (!d || !dse_add_plugin(d, argv[1], problems)) return fputs(dse_problems_text(problems), stderr), 1;
    struct dse_points *p = dse_points_new(d, "roofline", problems);
    double speed;
    if (!p || !dse_points_evaluate(p, 1, NULL, 0, &(struct dse_output){.name = "tokens_per_s", .numbers = &speed}, 1, problems))
        return fputs(dse_problems_text(problems), stderr), 1;
    printf("%.15g\n", speed);
    dse_points_free(p);
    dse_close(d);
    dse_problems_free(problems);
}
C
# shellcheck disable=SC2086
cc -std=c99 $sanitised library.c $pc -o library || fail "library.c"
./library here/roofline.so "$share" >speed.txt || fail "the library does not load the plug-in"
with eval roofline --format csv >eval.csv
[ "$(sqlite3 :memory: '.mode csv' '.import eval.csv t' "select abs(tokens_per_s / $(cat speed.txt) - 1) < 1e-9 from t")" = 1 ] || fail "the library says $(cat speed.txt)"
mkdir -p "$WORK/root/lib" "$(dirname "$share")/../lib/dse/plugins/roofline"
cp here/roofline.so "$share/../../lib/dse/plugins"
cp here/defaults.toml here/README.md "$share/../../lib/dse/plugins/roofline"
[ "$(in_host sqlite3 -batch -csv -cmd '.load dse' :memory: "SELECT count(*), sum(status = 'ok') FROM roofline WHERE batch BETWEEN 1 AND 4")" = 4,4 ] || fail "the extension"
installed=$(find "$WORK/root" -type f -name dse -perm -u+x | head -n 1)
"$installed" list models >out.txt || fail "the installed dse"
says '^roofline' out.txt
rm -r "$share/../../lib/dse/plugins"

# What is refused, and how.
refused() { # PLUGIN MESSAGE
    if "$DSE" --plugin "$1" list models >out.txt 2>err.txt; then fail "$1 was loaded"; else status=$?; fi
    [ "$status" -eq 2 ] || fail "$1: exit status $status"
    says "$2" err.txt
}
refused nowhere.so 'nowhere.so: error: the plug-in cannot be loaded: No such file'
refused six.toml 'the file has no \[model\]'
echo 'int nothing;' >nothing.c
plugin nothing.c nothing.so
refused nothing.so 'nothing.so: error: this is no plug-in: it has no symbol dse_plugin'
model() { # WHAT: a model that does as little as it can
    cat <<C
#include <dse/plugin.h>
struct p { struct dse_workload workload; struct dse_dram dram; };
static const struct dse_param params[] = {DSE_EMBED(struct p, workload, struct dse_workload, dse_workload_params), DSE_EMBED(struct p, dram, struct dse_dram, dse_dram_params), DSE_PARAM_END};
static void resolve(void *p) { dse_dram_resolve(&((struct p *)p)->dram); }
static void estimate(const void *p, void *m, struct dse_breakdown *b) { (void)p, (void)b; *(struct dse_common *)m = (struct dse_common){.tokens_per_s = 1}; }
static int *volatile nowhere;
static int deep(void) { return *nowhere; }
static const char *check(const void *p) { (void)p; return deep() ? "no" : 0; }
static const struct dse_model dse_model_mine = {.name = "mine", .title = "mine", .cite = "mine", .version = 1, .params = params, .params_size = sizeof(struct p),
    .metrics = dse_common_metrics, .metrics_size = sizeof(struct dse_common), .resolve = resolve, .check = check, .estimate = estimate};
$1
C
}
{ model 'DSE_PLUGIN(&dse_model_mine);'; } >mine.c
plugin mine.c mine.so -fno-inline
grep -v -e peak_tflops -e op_pj -e stream_mib "$SOURCE/examples/roofline/defaults.toml" >defaults.toml
if "$DSE" --plugin mine.so eval mine >out.txt 2>err.txt; then fail "a crash in check went unnoticed"; fi
says 'dse: error: the plug-in .*/mine.so crashed: check of model mine' err.txt
if "$DSE" test-model ./mine.so >out.txt 2>err.txt; then fail "a crash in check went unnoticed by test-model"; fi
says 'dse: error: the plug-in .*/mine.so crashed: check of model mine' err.txt
says 'mine .* tables .* ok' out.txt
# no shortage, no trends, no breakdown, and a bound above what there is
sed -e 's/return deep() ? "no" : 0/return 0/' -e 's/\.check = check,/.check = check, .bound = bound,/' \
    -e '/^static const char \*check/a static bool bound(const void *lo, const void *hi, void *floor, void *ceiling) { (void)lo, (void)hi; ((struct dse_common *)floor)->tokens_per_s = 2; ((struct dse_common *)ceiling)->tokens_per_s = 3; return true; }' mine.c >poor.c
plugin poor.c poor.so -Wno-unused-function
if "$DSE" test-model ./poor.so >out.txt 2>err.txt; then fail "a poor model was found good"; else [ $? -eq 1 ] || fail "test-model: exit status"; fi
for what in defaults points shortage bounds trends documentation; do says "^mine .* $what .*FAILED" out.txt; done
says 'mine: error: it has no breakdown' err.txt
says 'mine: error: tokens_per_s is 1 at a point, and its bound is 2 to 3 (bound); the box: ' err.txt
says 'mine: error: it declares no trend of context' err.txt
if "$DSE" test-model lda >out.txt 2>err.txt; then fail "test-model of no model"; fi
says 'did you mean lad' err.txt
{ model 'static const struct dse_plugin_size sizes[] = {{"struct dse_model", 8}, {0}};
const struct dse_plugin dse_plugin = {DSE_PLUGIN_ABI, DSE_HEADERS, sizes, (const struct dse_model *const[]){&dse_model_mine, 0}};'; } >sizes.c
plugin sizes.c sizes.so
refused sizes.so 'sizes.so: error: struct dse_model has 8 bytes in the plug-in and [0-9]* in this dse'
says 'compile it against the headers of this dse' err.txt
{ model 'const struct dse_plugin dse_plugin = {99, DSE_HEADERS, DSE_PLUGIN_SIZES, (const struct dse_model *const[]){&dse_model_mine, 0}};'; } >abi.c
plugin abi.c abi.so
refused abi.so 'the plug-in has ABI version 99, and this dse has 1'
{ model 'const struct dse_plugin dse_plugin = {DSE_PLUGIN_ABI, "0", DSE_PLUGIN_SIZES, (const struct dse_model *const[]){&dse_model_mine, 0}};'; } >headers.c
plugin headers.c headers.so
refused headers.so 'was compiled against other headers (0)'
sed 's/"mine"/"lad"/' mine.c >lad.c
plugin lad.c lad.so
refused lad.so 'there is a model lad already'
sed 's/"mine"/"My Model"/' mine.c >name.c
plugin name.c name.so
refused name.so 'the name of a model, "My Model", is no identifier'

# Names that are taken, of parameters of any case; what a constructor does, and a file that is cut short.
own() { # ROWS: another table of parameters
    sed "s/DSE_PARAM_END};/$1 DSE_PARAM_END};/" mine.c
}
row() { printf '{.type = DSE_TYPE_F64, .name = "%s", .unit = "", .doc = "mine", .source = "ours", .min = 1, .max = 2},' "$1"; }
own "$(row max_points) $(row Context) $(row Run)" >names.c
plugin names.c names.so -Wno-unused-function
refused names.so 'names.so: error: model mine: a parameter cannot be called "max_points": the tables of `dse query` have a column of that name'
says 'a parameter cannot be called "Context": a parameter is called "context", and SQL does not tell upper from lower case' err.txt
says 'a parameter cannot be called "Run": every table of results has a column of that name' err.txt
sed 's/"mine"/"lad_front"/' mine.c >front.c
plugin front.c front.so
refused front.so 'a model cannot be called "lad_front": model lad has a table of that name in SQL'
if ./library front.so "$share" >out.txt 2>err.txt; then fail "the library loads it"; fi
says 'a model cannot be called "lad_front"' err.txt
constructor() { # WHAT MESSAGE
    { printf '#include <stdlib.h>\n__attribute__((constructor)) static void begin(void) { %s }\n' "$1"; cat mine.c; } >begin.c
    plugin begin.c begin.so
    refused begin.so "begin.so: error: the plug-in $2"
}
constructor 'abort();' 'crashes when it is loaded'
constructor 'volatile int *volatile no = 0; *no = 1;' '\(crashes\|ends the program\) when it is loaded'
constructor 'exit(0);' 'ends the program when it is loaded'
constructor 'for (;;) {}' 'takes too long to load; at most 0.8 s'
own '{.type = DSE_TYPE_F64, .name = (const char *)8},' >pointer.c
plugin pointer.c pointer.so
refused pointer.so 'pointer.so: error: the plug-in \(crashes\|ends the program\) when it is loaded' # sanitisers end it
head -c 5000 mine.so >cut.so
refused cut.so 'cut.so: error: the plug-in is cut short: it has 5000 bytes'

# A bound that the model does not set is unknown: area_mm2 was 0 for certain once, and the largest machine was the whole front.
cat >bound.c <<'C'
static struct dse_common of(const void *params)
{
    const double tiles = ((const struct p *)params)->workload.batch;
    return (struct dse_common){.tokens_per_s = 10 * tiles, .latency_us = 1e5 / tiles, .power_w = tiles, .area_mm2 = 5 + tiles,
        .die_usd = NAN, .design_usd = NAN, .system_usd = NAN, .usd_per_mtoken = NAN, .embodied_kgco2 = NAN, .gco2_per_mtoken = NAN};
}
static void estimate(const void *p, void *m, struct dse_breakdown *b) { (void)b; *(struct dse_common *)m = of(p); }
static bool bound(const void *lo, const void *hi, void *floor, void *ceiling)
{
    ((struct dse_common *)floor)->tokens_per_s = of(lo).tokens_per_s, ((struct dse_common *)ceiling)->tokens_per_s = of(hi).tokens_per_s;
    return true;
}
C
{ echo '#include <math.h>'; sed -e '/^static void estimate/{r bound.c
d}' -e '/^static int/d' -e '/^static const char \*check/d' -e 's/\.check = check/.bound = bound/' mine.c; } >forgets.c
plugin forgets.c forgets.so
cat >forgets.toml <<'TOML'
# Which machine?
[sweep]
name = "forgets"
models = ["mine"]
[params]
batch = [1, 2, 4, 8, 16]
[objectives]
tokens_per_s = "max"
area_mm2 = "min"
TOML
if "$DSE" --plugin forgets.so front forgets.toml -q -o forgets.db >out.txt 2>err.txt; then fail "a front without a bound of area_mm2: $(cat out.txt)"; fi
says 'an exact front needs a bound of every objective: model mine has no bound of area_mm2' err.txt
"$DSE" --plugin forgets.so sweep forgets.toml -q -o all.db >out.txt 2>err.txt || fail "its sweep: $(cat err.txt)"
[ "$(sqlite3 all.db 'select count(*) from mine_front')" = 5 ] || fail "all five are on the front"

if "$DSE" --plugin >out.txt 2>err.txt; then fail "--plugin without a file"; fi
says 'option --plugin needs an argument' err.txt

# A plug-in that was compiled anew while a program has the old one: the program keeps it, and says so. A file that was only touched is the same.
cat >again.c <<'C'
#include <dse/dse.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    struct dse_problems *problems = dse_problems_new();
    struct dse *d = dse_open(argv[2], problems);
    if (argc != 5 || !d || !dse_add_plugin(d, argv[1], problems)) return fputs(dse_problems_text(problems), stderr), 1;
    if (system(argv[3]) != 0 || !dse_add_plugin(d, argv[1], problems)) return fputs(dse_problems_text(problems), stderr), 1;
    if (system(argv[4]) != 0 || dse_add_plugin(d, argv[1], problems)) return fputs("the new one was taken", stderr), 1;
    fputs(dse_problems_text(problems), stdout);
    dse_close(d);
    dse_problems_free(problems);
}
C
# shellcheck disable=SC2086
cc -std=c99 $sanitised again.c $pc -o again || fail "again.c"
cp here/roofline.so here/new.so
printf 'another' >>here/new.so
./again here/roofline.so "$share" 'touch here/roofline.so' 'mv here/new.so here/roofline.so' >out.txt 2>err.txt || fail "an edited plug-in: $(cat out.txt err.txt)"
says 'here/roofline.so: error: the file has other contents than when its model was loaded' out.txt
