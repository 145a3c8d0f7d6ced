/* The certificate of an exact search in the database (docs/explanation/exact-fronts.md): what it says, its lattices, and the boxes
 * of its cover.
 *
 * certificate        one row a run: tolerance, counts, what is left open
 * certificate_space  one row a model of it: versions, points, a hash of all that its rows depend on
 * certificate_place  the lattice: the value at each place of each axis
 * certificate_box    the boxes, numbered from 1; none if they were not kept
 *
 * What the words of a box mean is known to src/search; here they are text. A file that somebody else wrote is hostile: a reader
 * gives what stands there if it has the right type, and an error else. */
#ifndef DSE_STORE_CERTIFICATES_H
#define DSE_STORE_CERTIFICATES_H

#include "store/store.h"

enum { CERTIFICATE_FORM = 2, CERTIFICATE_ENDS = 6 };

struct certificate_head {
    int64_t form; /* of these tables: CERTIFICATE_FORM */
    double tolerance, epsilon, hypervolume_left, seconds;
    bool complete, kept;
    uint64_t evaluations, boxes[CERTIFICATE_ENDS];
    int64_t threads;
};

struct certificate_space {
    const char *model;
    int64_t version; /* of the model */
    uint64_t points;
    const char *hash; /* as text, of all that rows depend on (space_hash) */
};

/* One place of an axis. `type` is that of the axis's parameter; ENUM and REF: text. */
struct certificate_place {
    const char *model, *axis;
    int64_t place;
    enum dse_type type;
    union cell value;
};

/* A box: `places` is "0..3 5 2..7", the place or the places on each axis in the order of their names; `best` is "12.5 0.25", for
 * each objective the bound on its better side; `along` and `than` an axis, and a place on it. NULL where a box has none. */
struct certificate_line {
    uint64_t box;
    const char *model, *why, *constraint, *by_model, *places, *best, *along;
    int64_t by_point, than;
};

/* ---- writing --------------------------------------------------------------------------------------------------------------- */

/* Begin the certificate of the store's run, in a transaction of its own; it replaces an earlier one. NULL with errors. */
struct certificate_writer;
struct certificate_writer *certificate_writer_new(struct store *st, const struct certificate_head *head, struct diags *diags);
bool certificate_write_space(struct certificate_writer *w, const struct certificate_space *s, struct diags *diags);
bool certificate_write_place(struct certificate_writer *w, const struct certificate_place *p, struct diags *diags);
bool certificate_write_box(struct certificate_writer *w, const struct certificate_line *line, struct diags *diags);
/* Commit it if ok, drop it else, and free the writer, which may be NULL. Returns whether it is stored. */
bool certificate_writer_end(struct certificate_writer *w, bool ok, struct diags *diags);

/* ---- reading --------------------------------------------------------------------------------------------------------------- */

struct reader;

/* A run that has a certificate: the one `wanted`, or with 0 the newest. Strings are the caller's. */
struct certified_run {
    int64_t run;
    char *sweep, *sweep_text, *objectives, *models; /* as table run has them */
    char *version, *commit;                         /* of the dse that made it */
    struct certificate_head head;
};
bool certificate_read_run(struct reader *r, int64_t wanted, struct certified_run *ret, struct diags *diags);
void certified_run_release(struct certified_run *run);

/* Call `visit` for each row, in the order of the tables, until it returns false. What it gets is valid during the call. False with
 * an error when the database cannot be read. */
bool certificate_read_spaces(struct reader *r, int64_t run, bool (*visit)(void *user, const struct certificate_space *s),
                             void *user, struct diags *diags);
bool certificate_read_places(struct reader *r, int64_t run, bool (*visit)(void *user, const struct certificate_place *p),
                             void *user, struct diags *diags);
bool certificate_read_boxes(struct reader *r, int64_t run, bool (*visit)(void *user, const struct certificate_line *line),
                            void *user, struct diags *diags);
/* The rows of the run's front of one model, with these columns of it, in the order of points. A cell whose type is not its column's
 * is refused with an error. A point that has no row comes with cells NULL. */
bool certificate_read_front(struct reader *r, int64_t run, const char *model, const struct column *columns, size_t n,
                            bool (*visit)(void *user, int64_t point, const char *status, const union cell *cells), void *user,
                            struct diags *diags);

#endif
