#include "analysis/stairs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xalloc.h"

void stairs_init(struct stairs *s, size_t capacity)
{
    size_t words = 0;
    for (size_t n = capacity; words == 0 || n > 1;) {
        n = (n + 63) / 64;
        words += n;
    }
    *s = (struct stairs){.words = xcalloc(words, sizeof *s->words), .capacity = capacity};
    stairs_reset(s, capacity);
}

void stairs_release(struct stairs *s)
{
    free(s->words);
    *s = (struct stairs){0};
}

void stairs_reset(struct stairs *s, size_t n)
{
    assert(n <= s->capacity);
    uint64_t *next = s->words;
    s->levels = 0;
    do {
        n = (n + 63) / 64;
        s->level[s->levels++] = next;
        next += n;
    } while (n > 1);
    memset(s->words, 0, (size_t)(next - s->words) * sizeof *s->words);
}
