/* claims.csv: the published numbers. */
#include "claims/rows.h"

#include "base/xalloc.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ID, SYSTEM, PAPER, LOCATION, QUANTITY, VALUE, VALUE_HI, UNIT, CONDITIONS, KIND, MODELABLE, HOW, SPLIT, COLUMNS };
static const char *const columns[] = {"id",   "system",     "paper", "location",  "quantity", "value", "value_hi",
                                      "unit", "conditions", "kind",  "modelable", "how",      "split"};
_Static_assert(sizeof columns / sizeof *columns == COLUMNS, "every column has its name");

static const char *const kinds[] = {"input", "equation", "derived", "measured", "algorithmic"};
static const char *const modelables[] = {"yes", "partly", "no"};
static const char *const splits[] = {"calibrate", "holdout"};

/* What stands behind "op:" in the conditions, the longer ones first. */
static const struct {
    const char *text;
    enum claim_bound bound;
} operators[] = {{">=", CLAIM_AT_LEAST}, {"<=", CLAIM_AT_MOST}, {">", CLAIM_ABOVE},
                 {"<", CLAIM_BELOW},     {"~", CLAIM_ABOUT},    {"max", CLAIM_MAX}};
enum { OPERATORS = sizeof operators / sizeof *operators };

/* Add an error at a cell. Always false. */
static bool cell_error(const struct claim_set *s, size_t row, size_t column, struct diags *diags, const char *hint, const char *fmt,
                       ...) __attribute__((format(printf, 6, 7)));

static bool cell_error(const struct claim_set *s, size_t row, size_t column, struct diags *diags, const char *hint, const char *fmt,
                       ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *message = xvasprintf(fmt, ap);
    va_end(ap);
    diags_input(diags, csv_table_cell_loc(&s->csv, row, column), s->csv.text, hint, "%s", message);
    free(message);
    return false;
}

static bool check_word(const struct claim_set *s, size_t row, size_t column, const char *const *words, size_t n,
                       struct diags *diags)
{
    const char *cell = s->csv.rows[row].cells[column];
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i], cell) == 0) return true;
    struct text list;
    text_init(&list);
    for (size_t i = 0; i < n; i++) text_addf(&list, "%s%s", i ? ", " : "one of ", words[i]);
    cell_error(s, row, column, diags, list.s, "%s: there is no \"%s\"", columns[column], cell);
    text_release(&list);
    return false;
}

double claim_half_digit(const char *text)
{
    int decimals = 0, exponent = 0;
    const char *point = strchr(text, '.'), *e = strpbrk(text, "eE");
    for (const char *p = point ? point + 1 : text; point && isdigit((unsigned char)*p); p++) decimals++;
    if (e) exponent = atoi(e + 1);
    return 0.5 * pow(10, exponent - decimals);
}

static bool read_numbers(struct claim_set *s, size_t row, struct claim *c, struct diags *diags)
{
    char **cells = s->csv.rows[row].cells;
    bool ok = csv_table_number(&s->csv, row, VALUE, false, &c->value, diags);
    ok = csv_table_number(&s->csv, row, VALUE_HI, true, &c->value_hi, diags) && ok;
    if (!ok) return false;
    c->half_digit = claim_half_digit(cells[VALUE]);
    if (isnan(c->value_hi)) return true;
    c->half_digit_hi = claim_half_digit(cells[VALUE_HI]);
    if (c->value_hi > c->value) return true;
    return cell_error(s, row, VALUE_HI, diags, "a range goes from value up to value_hi", "value_hi: %s is not above the value %s",
                      cells[VALUE_HI], cells[VALUE]);
}

static bool read_bound(struct claim_set *s, size_t row, struct claim *c, struct diags *diags)
{
    c->bound = isnan(c->value_hi) ? CLAIM_EQUAL : CLAIM_RANGE;
    if (strncmp(c->conditions, "op:", 3) != 0) return true;
    const char *text = c->conditions + 3;
    size_t n = strcspn(text, ";");
    for (size_t i = 0; i < OPERATORS; i++) {
        if (strlen(operators[i].text) != n || strncmp(text, operators[i].text, n) != 0) continue;
        if (c->bound == CLAIM_RANGE)
            return cell_error(s, row, CONDITIONS, diags, "leave out value_hi, or the op", "a range with op:%s", operators[i].text);
        c->bound = operators[i].bound;
        return true;
    }
    return cell_error(s, row, CONDITIONS, diags, "op:> op:>= op:< op:<= op:~ op:max, then a semicolon",
                      "conditions: there is no operator \"%.*s\"", (int)n, text);
}

static bool read_row(struct claim_set *s, size_t row, struct diags *diags)
{
    char **cells = s->csv.rows[row].cells;
    struct claim *c = &s->claims[row];
    *c = (struct claim){.id = cells[ID],
                        .system = cells[SYSTEM],
                        .location = cells[LOCATION],
                        .quantity = cells[QUANTITY],
                        .unit = cells[UNIT],
                        .conditions = cells[CONDITIONS],
                        .kind = cells[KIND],
                        .modelable = cells[MODELABLE],
                        .how = cells[HOW],
                        .split = cells[SPLIT],
                        .value_text = cells[VALUE],
                        .held_out = strcmp(cells[SPLIT], "holdout") == 0};
    bool ok = true;
    if (!*c->id) ok = cell_error(s, row, ID, diags, NULL, "the claim has no id");
    for (size_t i = 0; *c->id && i < row; i++) {
        if (strcmp(s->claims[i].id, c->id) != 0) continue;
        ok = cell_error(s, row, ID, diags, "give it another id", "claim \"%s\" stands in line %d already", c->id,
                        s->csv.rows[i].line);
        break;
    }
    ok = check_word(s, row, KIND, kinds, sizeof kinds / sizeof *kinds, diags) && ok;
    ok = check_word(s, row, MODELABLE, modelables, sizeof modelables / sizeof *modelables, diags) && ok;
    ok = check_word(s, row, SPLIT, splits, sizeof splits / sizeof *splits, diags) && ok;
    return read_numbers(s, row, c, diags) && read_bound(s, row, c, diags) && ok;
}

bool claims_read_rows(struct claim_set *s, struct diags *diags)
{
    const struct made_files *made = &s->model->made;
    char *path = model_file(s->model, s->data_dir, "claims.csv");
    bool ok = made->claims_csv ? csv_table_read_text(&s->csv, made->given, made->claims_csv, columns, COLUMNS, diags)
                               : csv_table_read(&s->csv, path, columns, COLUMNS, diags);
    s->rows_whole = ok;
    free(path);
    s->n_claims = s->csv.n_rows;
    s->claims = xcalloc(s->n_claims, sizeof *s->claims);
    for (size_t row = 0; row < s->n_claims; row++) ok = read_row(s, row, diags) && ok;
    return ok;
}

struct claim *claims_find(const struct claim_set *s, const char *id)
{
    for (size_t i = 0; i < s->n_claims; i++)
        if (strcmp(s->claims[i].id, id) == 0) return &s->claims[i];
    return NULL;
}

bool claims_no_such_id(const struct claim_set *s, const char *id, struct srcloc loc, struct diags *diags)
{
    if (!s->rows_whole) return false;
    const char **ids = xcalloc(s->n_claims, sizeof *ids);
    for (size_t i = 0; i < s->n_claims; i++) ids[i] = s->claims[i].id;
    char *otherwise = xasprintf("the ids stand in %s", s->csv.file);
    claims_unknown(s, loc, id, ids, s->n_claims, otherwise, diags, "no claim has the id \"%s\"", id);
    free(otherwise);
    free(ids);
    return false;
}

const char *claim_bound_text(const struct claim *c, char *buf)
{
    for (size_t i = 0; i < OPERATORS; i++)
        if (c->bound == operators[i].bound) return operators[i].text;
    return c->bound == CLAIM_RANGE ? text_number(buf, c->value_hi) : "";
}
