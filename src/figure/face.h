/* How wide texts are: of DejaVu Sans, the widest of the usual sans-serif faces, so that a text of another face fits, too. */
#ifndef DSE_FIGURE_FACE_H
#define DSE_FIGURE_FACE_H

/* Width of the longest line of a text (UTF-8), in units of the font's size. */
double face_width(const char *text);

/* A text broken into lines no wider than `most` where spaces allow it, in units of the font's size. The caller frees it. */
char *face_wrap(const char *text, double most);
/* The same for a terminal, where `most` is in characters. */
char *face_wrap_characters(const char *text, double most);

#endif
