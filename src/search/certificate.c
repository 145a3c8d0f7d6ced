#include "search/certificate.h"
struct box_log;
struct box_log *box_log_new(const size_t *n_axes, size_t n_spaces, size_t objectives, bool keep)
{
    (void)n_axes;
    (void)n_spaces;
    (void)objectives;
    (void)keep;
    return 0;
}
void box_log_free(struct box_log *log)
{
    (void)log;
}
void box_log_add(struct box_log *log, const struct certificate_box *box)
{
    (void)log;
    (void)box;
}
bool certificate_store(struct store *st, const struct sweep_file *s, struct space *const *spaces, struct certificate *c,
                       struct box_log *const *logs, size_t n_logs, const struct certificate_row *front, size_t n_front,
                       struct diags *diags)
{
    (void)st;
    (void)s;
    (void)spaces;
    (void)c;
    (void)logs;
    (void)n_logs;
    (void)front;
    (void)n_front;
    (void)diags;
    return true;
}
