/* Internal to src/store: rows as SQLite's records, records as leaf pages (https://www.sqlite.org/fileformat2.html, sections 1.6
 * and 2.1).
 *
 * A leaf page holds, from its start: 13, no free block, the number of cells, where the cells begin, no fragments; then the
 * offsets of the cells in order; a gap; and the cells, filled from the end of the page:
 *
 *     cell: bytes of the record | row id | record           numbers are varints: 7 bits a byte, the highest first
 *     record: bytes of the header | type of each column | values
 *     types: 0 NULL; 1 to 6 an integer of 1, 2, 3, 4, 6, 8 bytes; 7 a double; 8 and 9 the integers 0 and 1;
 *            13 + 2n a text of n bytes
 *
 * A leaf page names no other page, so it can stand anywhere. A double with an integer's value is stored as an integer where that
 * is shorter, as SQLite does in a REAL column: records are byte for byte what SQLite would have made of the row.
 */
#ifndef DSE_STORE_ENCODE_H
#define DSE_STORE_ENCODE_H

#include "store/db.h"
#include "store/schema.h"

enum {
    ENCODE_PAGE = 65536,
    ENCODE_PADDING = 256, /* readable bytes behind the last page, which SQLite may look at and never uses */
};

struct store_encoder; /* declared in store.h */

/* The encoder of MODEL_all as it is declared in the file; NULL without an error when its rows cannot be encoded, NULL with an
 * error when SQLite fails. The model must outlive it. */
struct store_model; /* store_internal.h */
struct store_encoder *encoder_new(const struct db *db, const struct store_table *t, const struct store_model *m,
                                  struct diags *diags);
void encoder_free(struct store_encoder *e);

/* Append a varint; returns the byte behind it. */
uint8_t *encode_varint(uint8_t *at, uint64_t v);
/* Write a number in big-endian order. */
void encode_u16(uint8_t *at, uint32_t v);
void encode_u32(uint8_t *at, uint32_t v);

#endif
