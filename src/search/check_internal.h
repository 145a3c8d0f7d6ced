/* Internal to src/search: the parts of the check of a certificate.
 *
 * Files that call each other: check_boxes, check_front, check_read, check_rows: check_front is the check from its beginning to its
 * end, and the parts count and stop by the checking that it has begun.
 */
#ifndef DSE_SEARCH_CHECK_INTERNAL_H
#define DSE_SEARCH_CHECK_INTERNAL_H

#include "search/certificate.h"
#include "search/check_front.h"
#include "search/lattice.h"
#include "space/space.h"
#include "store/certificates.h"

/* A row of the front, evaluated again. */
struct checked_row {
    size_t space, group;
    uint64_t point;
    double values[SWEEP_OBJECTIVES_MAX];
};

/* A box as it stands in the database. */
struct checked_box {
    uint64_t number;
    enum box_end end;
    uint32_t constraint;
    size_t by;            /* BOX_DOMINATED: the row */
    size_t best;          /* where its bounds stand in `best`, or SIZE_MAX */
    uint32_t along, than; /* BOX_WORSE */
};

struct checked_space {
    struct space *space;
    struct lattice *lattice;
    size_t axes;
    uint32_t *places; /* of each axis */
    size_t columns[SWEEP_OBJECTIVES_MAX];
    struct checked_box *boxes;
    uint32_t *ends;            /* lo and hi of each box */
    uint32_t upward, downward; /* axes (bits) along which a box is worse than the place above it, and below */
    size_t n, capacity;
};

struct checking {
    const char *db;
    const struct front_check_options *options;
    struct reader *reader;
    struct certified_run run;
    struct sweep_file *sweep;
    struct checked_space *spaces;
    size_t n_spaces;
    bool maximise[SWEEP_OBJECTIVES_MAX];
    struct checked_row *rows; /* by space and point */
    size_t n_rows;
    char **groups; /* names of the fronts */
    size_t n_groups;
    double *best;
    size_t n_best, best_capacity;
    struct check *out;
    struct diags *diags;
    size_t wrong; /* problems of the step at hand */
};

/* Begin a step, and end it with a line: ok, or how many problems it has. */
void checking_begin(struct checking *c);
void checking_end(struct checking *c, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
/* A problem. Thread-safe. Always false. */
bool checking_wrong(struct checking *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Has the user had enough? */
bool checking_stopped(const struct checking *c);

/* The space of that model, or SIZE_MAX. */
size_t checking_space(const struct checking *c, const char *model);
/* The row at that point, or SIZE_MAX. */
size_t checking_row(const struct checking *c, size_t space, uint64_t point);
/* Is the axis one that the front of a point follows from (`per`)? */
bool checking_is_of_front(const struct checking *c, size_t space, size_t axis);
/* "box 17 of lad (batch = 1 .. 4, tiles = 2)". The caller frees it. */
char *checking_box_name(const struct checking *c, size_t space, size_t box);

/* The steps. False when it makes no sense to go on. */
bool check_lattices(struct checking *c);
bool check_rows(struct checking *c);
bool check_read_boxes(struct checking *c);
bool check_cover(struct checking *c);
bool check_boxes(struct checking *c);

#endif
