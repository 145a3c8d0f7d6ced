/* Soundness and speed of the bounds of all models that have one (dse_model.bound): so many pairs of a point and a metric in random
 * boxes, of which none may be outside of its bound, and the CPU time of a bound over that of resolve, check and estimate of a
 * point, in the same run. Exit status 1 where one is outside. */
#include "bench.h"
#include "bound_boxes.h"

enum { POINTS = 24 };
static const double slack = 1e-12; /* of what is promised */

/* A box of any width, of few or many numbers, as the unit test draws them. */
static bool draw(struct boxes *b)
{
    const double width[] = {1.0001, 1.02, 1.3, 2, 8, 1000}, share[] = {0.02, 0.1, 0.3};
    const double base = uniform() < 0.5 ? 0.1 : 0.3;
    return box_draw(b, base, share[(int)(uniform() * 3)], width[(int)(uniform() * 6)]);
}

static bool check_pairs(struct boxes *b)
{
    const uint64_t wanted_pairs = (uint64_t)bench_size(100000000, 20000);
    while (b->pairs < wanted_pairs) {
        if (!draw(b)) continue;
        const char *wrong = box_ask(b, POINTS, slack);
        if (!wrong) continue;
        char *text = box_text(b, wrong);
        printf("OUTSIDE: %s\n", text);
        free(text);
        return false;
    }
    return true;
}

/* Time of a bound of boxes around feasible points, in which a tenth of the numbers vary by 30 %, and of their points' estimate. */
static void time_bounds(struct boxes *b, double *ret_bound_ns, double *ret_point_ns)
{
    enum { REPEATS = 8 };
    const int boxes = bench_size(4000, 50);
    const struct dse_model *desc = b->model->desc;
    double bound = 0, point = 0;
    int n = 0;
    while (n < boxes) {
        if (!box_draw(b, 0.1, 0.1, 1.3)) continue;
        n++;
        const double start = cpu_s();
        for (int i = 0; i < REPEATS; i++) desc->bound(b->lo, b->hi, b->floor, b->ceiling);
        const double middle = cpu_s();
        for (int i = 0; i < REPEATS; i++) {
            boxes_copy(b, b->point, b->corner[0]);
            resolve(b, b->point);
            if (!desc->check || !desc->check(b->point)) desc->estimate(b->point, b->metrics, NULL);
        }
        bound += middle - start;
        point += cpu_s() - middle;
    }
    *ret_bound_ns = 1e9 * bound / (boxes * REPEATS);
    *ret_point_ns = 1e9 * point / (boxes * REPEATS);
}

int main(void)
{
    size_t n;
    bool ok = true;
    if (set_up(NULL) != 0) return 2;
    const struct model *models = registry_models(&n);
    struct bench_row row = bench_row_open(
        "the bound of a box over the closed form of a point, CPU time; of 10^8 points and metrics of each, none is outside");
    printf("%-14s %12s %10s %8s %8s %10s %10s %6s\n", "bounds", "pairs", "boxes", "empty", "outside", "ns a bound", "ns a point",
           "ratio");
    for (size_t m = 0; m < n; m++) {
        struct boxes b;
        double bound_ns, point_ns;
        if (!models[m].desc->bound || !boxes_init(&b, &models[m])) continue;
        const bool sound = check_pairs(&b);
        ok = ok && sound;
        const uint64_t pairs = b.pairs, boxes = b.boxes, empty = b.empty;
        time_bounds(&b, &bound_ns, &point_ns);
        printf("%-14s %12llu %10llu %8llu %8d %10.0f %10.0f %6.2f\n", models[m].desc->name, (unsigned long long)pairs,
               (unsigned long long)boxes, (unsigned long long)empty, sound ? 0 : 1, bound_ns, point_ns, bound_ns / point_ns);
        bench_part(&row, "%s %.2f times", models[m].desc->name, bound_ns / point_ns);
        fflush(stdout);
        boxes_release(&b);
    }
    bench_row_close(&row);
    tear_down(NULL);
    return ok ? 0 : 1;
}
