#include "cli/list_formats.h"

#include "base/text.h"

#include <dse/catalog.h>
#include <stdlib.h>
#include <string.h>

static const struct dse_formats *format_at(const struct catalog *c, size_t i)
{
    return (const void *)catalog_at(c, DSE_KIND_FORMATS, i);
}

static void add_number(struct text *t, double v)
{
    char buf[TEXT_NUMBER_MAX];
    text_add(t, text_short_number(buf, v));
}

/* "4 + 0.25 x 8": bits, those of scales, and of activations; weight_bits where nothing is given. */
static char *class_text(const struct dse_class_bits *b, int class)
{
    struct text t;
    text_init(&t);
    if (b->bits[class] > 0)
        add_number(&t, b->bits[class]);
    else
        text_add(&t, "weight_bits");
    if (b->scale_bits[class] > 0) {
        text_add(&t, " + ");
        add_number(&t, b->scale_bits[class]);
    }
    if (b->activation_bits[class] > 0) {
        text_add(&t, " x ");
        add_number(&t, b->activation_bits[class]);
    }
    return text_detach(&t);
}

/* The class of which most are alike, the first of equal ones. */
static int usual_class(char *const texts[DSE_WEIGHT_CLASSES])
{
    int usual = 0, most = 0;
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        int alike = 0;
        for (int k = 0; k < DSE_WEIGHT_CLASSES; k++) alike += strcmp(texts[i], texts[k]) == 0;
        if (alike <= most) continue;
        most = alike;
        usual = i;
    }
    return usual;
}

/* Classes with the same bits, from class i on, which is the first of them. */
static void add_group(struct text *t, char *const texts[DSE_WEIGHT_CLASSES], int i)
{
    text_addf(t, "%s%s: ", t->n ? "; " : "", texts[i]);
    for (int k = i; k < DSE_WEIGHT_CLASSES; k++)
        if (strcmp(texts[i], texts[k]) == 0) text_addf(t, "%s%s", k > i ? ", " : "", dse_weight_class_names[k]);
}

/* "4 + 0.25: experts; else 16". */
static char *weights_text(const struct dse_formats *f)
{
    char *texts[DSE_WEIGHT_CLASSES];
    struct text t;
    text_init(&t);
    if (f->origin.released) {
        text_add(&t, "the LLM's checkpoint");
        return text_detach(&t);
    }
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) texts[i] = class_text(&f->weights, i);
    const int usual = usual_class(texts);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        int first = 0;
        while (strcmp(texts[first], texts[i]) != 0) first++;
        if (first == i && i != usual) add_group(&t, texts, i);
    }
    text_addf(&t, "%s%s", t.n ? "; else " : "", texts[usual]);
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) free(texts[i]);
    return text_detach(&t);
}

static void list_all(const struct catalog *c)
{
    struct output *o = output_new(stdout, OUTPUT_TABLE,
                                  (const char *const[]){"format", "bits + scales x activations: weights", "what", "source"}, 4);
    const struct dse_formats *f;
    for (size_t i = 0; (f = format_at(c, i)); i++) {
        char *weights = weights_text(f);
        output_text(o, f->entry.name);
        output_text(o, weights);
        output_text(o, f->entry.title);
        output_text(o, f->entry.source);
        free(weights);
    }
    output_end(o);
}

static void put_bits(struct output *o, double bits)
{
    if (bits > 0)
        output_f64(o, bits);
    else
        output_text(o, NULL);
}

static void put_classes(struct output *o, const struct dse_formats *f)
{
    for (int i = 0; i < DSE_WEIGHT_CLASSES; i++) {
        output_text(o, f->entry.name);
        output_text(o, dse_weight_class_names[i]);
        if (f->weights.bits[i] > 0)
            output_f64(o, f->weights.bits[i]);
        else
            output_text(o, f->origin.released ? "checkpoint" : "weight_bits");
        put_bits(o, f->weights.scale_bits[i]);
        put_bits(o, f->weights.activation_bits[i]);
        output_text(o, i == 0 ? f->entry.source : NULL);
    }
}

void list_formats(const struct invocation *in, const struct catalog *c)
{
    if (in->n_operands < 2) {
        list_all(c);
        return;
    }
    struct output *o = output_new(stdout, OUTPUT_TABLE,
                                  (const char *const[]){"format", "weights", "bits", "scale_bits", "activation_bits", "source"}, 6);
    for (size_t i = 1; i < in->n_operands; i++) put_classes(o, (const void *)catalog_find(c, DSE_KIND_FORMATS, in->operands[i]));
    output_end(o);
}
