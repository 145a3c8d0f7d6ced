#include "figure/face.h"

#include "base/xalloc.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

/* Thousandths of the font's size, from the space on: the widths that DejaVuSans.ttf gives (table hmtx). */
static const unsigned short widths[] = {
    318, 401, 460, 838, 636, 950, 780, 275, 390,  390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636, 636, 636, 636,
    636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295, 295, 656, 557, 863, 748, 787,
    603, 787, 695, 635, 611, 732, 684, 989, 685,  611, 685, 390, 337, 390, 838, 500, 500, 613, 635, 550, 635, 615, 352, 635,
    634, 278, 278, 579, 278, 974, 634, 612, 635,  635, 411, 521, 392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
};
static const double other_width = 0.84; /* of a character beyond ASCII: as a minus sign */

/* The width of the character that begins here. Bytes that continue a character have none. */
static double width_of(const char *p)
{
    unsigned char c = (unsigned char)*p;
    if ((c & 0xC0) == 0x80) return 0;
    size_t i = c - (size_t)' ';
    return c >= ' ' && i < sizeof widths / sizeof *widths ? widths[i] / 1000.0 : c > 0x7F ? other_width : 0;
}

double face_width(const char *text)
{
    double longest = 0, line = 0;
    for (const char *p = text; *p; p++) {
        line = *p == '\n' ? 0 : line + width_of(p);
        longest = fmax(longest, line);
    }
    return longest;
}

static char *wrap(const char *text, double most, bool counted)
{
    char *copy = xstrdup(text), *space = NULL;
    double line = 0, behind = 0; /* of the line so far; of what comes behind its last space */
    for (char *p = copy; *p; p++) {
        if (*p == '\n') {
            line = 0;
            space = NULL;
            continue;
        }
        double width = counted ? ((unsigned char)*p & 0xC0) != 0x80 : width_of(p);
        line += width;
        behind += width;
        if (*p == ' ') {
            space = p;
            behind = 0;
        }
        if (line <= most || !space || p == space) continue;
        *space = '\n';
        space = NULL;
        line = behind;
    }
    return copy;
}

char *face_wrap(const char *text, double most)
{
    return wrap(text, most, false);
}

char *face_wrap_characters(const char *text, double most)
{
    return wrap(text, most, true);
}
