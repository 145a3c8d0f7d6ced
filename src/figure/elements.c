/* What layers of marks and of boxes are written with: the elements of gnuplot's command "plot". */
#include "figure/layers.h"

char plot_letter(size_t place)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return letters[place % (sizeof letters - 1)];
}

void plot_begin_element(struct plot *p)
{
    text_add(&p->command, p->command.n ? ", " : "plot ");
}

void plot_begin_data(struct plot *p, size_t offset)
{
    plot_begin_element(p);
    if (p->canvas->data_path) {
        script_add_path(&p->command, p->canvas->data_path);
        text_addf(&p->command, " binary skip=%zu", offset);
    } else {
        text_add(&p->command, "'-' binary");
    }
}

void plot_add_image(struct plot *p, const unsigned char *rgba, int width, int height)
{
    plot_begin_data(p, p->data.n);
    text_addf(&p->command, " array=(%d,%d)", width, height);
    script_add_number(&p->command, " dx=", 1.0 / width);
    script_add_number(&p->command, " dy=", 1.0 / height);
    script_add_number(&p->command, " origin=(", 0.5 / width);
    script_add_number(&p->command, ",", 0.5 / height);
    text_add(&p->command, ") format='%uint8%uint8%uint8%uint8' using 1:2:3:4 with rgbalpha notitle");
    text_add_bytes(&p->data, (const char *)rgba, (size_t)width * (size_t)height * 4);
}
