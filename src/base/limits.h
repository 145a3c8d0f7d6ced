/* How much of what others wrote is read, at most: beyond these a file is refused by name, before it takes time or memory without
 * end. docs/reference/model-in-toml.md, expressions.md and catalog.md and docs/how-to/plug-in.md list them. */
#ifndef DSE_BASE_LIMITS_H
#define DSE_BASE_LIMITS_H

enum {
    NAME_LENGTH_MAX = 100,    /* of models, parameters, metrics, equations, functions: a view of SQL names a column three times */
    MODEL_COLUMNS_MAX = 1800, /* parameters and metrics of a model: SQLite has 2,000 columns in a table */
    MODEL_ENTRIES_MAX = 2000, /* in a section or a list of a model in TOML */
    MODEL_FORMULAS_MAX = 2000,
    MODEL_TERMS_MAX = 100000,    /* of all formulas, with the functions that stand in them, and loops over ranges written out */
    MODEL_LOOP_TERMS_MAX = 5000, /* of those in loops, each once: they are made for every operator */
    MODEL_RANGE_MAX = 1000,      /* numbers of a range */
    MODEL_CONTEXTS_MAX = 500,    /* other values of parameters that a model asks for, by at() */
    MODEL_SOLVES_MAX = 32,       /* solve() of a model */
    MODEL_INCLUDES_MAX = 16,     /* files that a model includes */
    MODEL_INCLUDES_DEEP = 4,     /* files that include each other in a row */
    MODEL_DEPTH_MAX = 1500,      /* terms, functions and equations inside each other */
    FORMULA_LENGTH_MAX = 5000,
    FORMULA_DEPTH_MAX = 64, /* parentheses and signs inside each other */
    EXPRESSION_LENGTH_MAX = 10000,
    EXPRESSION_DEPTH_MAX = 1000,

    MODEL_TEXT_MAX = 2000,      /* characters of a text in a plug-in: a title, a doc, a choice */
    MODEL_STRUCT_MAX = 1 << 20, /* bytes of the parameters of a plug-in's model, and of its metrics */
    PLUGIN_LOAD_MS_MAX = 800,   /* of work and of waiting while a plug-in is loaded, which is done twice: in less than 2 s */
    PLUGIN_LOAD_MIB_MAX = 512,  /* of memory that it takes then */
    PLUGIN_FILE_MIB_MAX = 256,

    CATALOG_ENTRIES_MAX = 5000, /* of a kind; rows of technology.csv and of scores of tasks */
    CATALOG_POINTS_MAX = 20000, /* rows of a profile and of a retention */
    CATALOG_ROWS_MAX = 100000,  /* of tables of SRAM macros, of an entry of quality */
};

#endif
