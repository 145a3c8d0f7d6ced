"""What C needs of a model that is a file in TOML: python3 closed.py NAME.toml shared.toml NAME_closed.h NAME_closed.c

The header has a struct for the numbers of each section of [events] (include/dse/closed.h). The other file has tables of their names
and places, and the text of the model itself. Whether the names mean something is found when the file is read (src/toml_model).
"""

import os
import sys
import tomllib

KEYWORDS = set("""auto break case char const continue default do double else enum extern float for goto if inline int long register
restrict return short signed sizeof static struct switch typedef union unsigned void volatile while""".split())
ARRAYS = {"op": "DSE_OPS_MAX", "group": "DSE_ATTENTIONS_MAX"}
SIMULATE = "bool {}_simulate(struct dse_closed *closed, struct dse_sim *sim, void *metrics, struct dse_breakdown *breakdown);"


def strings(value):
    """What of a value may be a list of names: errors of other kinds are told when the file is read."""
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def split(name):
    """The struct of a number, "op" or "group", or None, and its field there."""
    first, _, field = name.partition(".")
    return (first, field) if field and first in ARRAYS else (None, name)


def field_of(name):
    struct, field = split(name)
    if not field.isidentifier() or field in KEYWORDS or struct is None and field in ARRAYS:
        sys.exit(f'closed.py: "{name}" in [events] cannot be the name of a field in C; give the equation another name')
    return struct, field


def variants_of(model):
    """Name, gives and reads of each section."""
    events = model.get("events")
    if not isinstance(events, dict): return
    if "reads" in events: yield "events", [], strings(events["reads"])
    for name, section in events.items():
        if isinstance(section, dict): yield name, strings(section.get("gives")), strings(section.get("reads"))


def docs_of(model):
    """What the file says of its numbers, by name."""
    tables = [(prefix, table) for prefix, table in (("", model.get(key)) for key in ("parameters", "equations", "metrics"))]
    tables += [("group." if loop == "attention" else "op.", table) for loop, table in model.get("for", {}).items()]
    return {prefix + name: value["doc"] for prefix, table in tables if isinstance(table, dict) for name, value in table.items()
            if isinstance(value, dict) and isinstance(value.get("doc"), str)}


def struct_of(tag, names, docs):
    """A struct with a field for each number: those of elements are arrays in structs of their own."""
    def line(name, indent, array=""):
        doc = docs.get(name)
        return f"{indent}double {field_of(name)[1]}{array};" + (f" /* {doc.replace('*/', '* /').replace('/*', '/ *')} */" if doc else "")

    yield f"struct {tag} {{"
    yield from (line(name, "    ") for name in names if split(name)[0] is None)
    for struct, size in ARRAYS.items():
        inside = [name for name in names if split(name)[0] == struct]
        if not inside: continue
        yield "    struct {"
        yield from (line(name, " " * 8, f"[{size}]") for name in inside)
        yield f"    }} {struct};"
    yield "};"


def header(base, model):
    guard, docs = f"{base.upper()}_CLOSED_H", docs_of(model)
    yield f"/* Made from {base}.toml by models/closed.py: see dse/closed.h. */"
    yield from (f"#ifndef {guard}", f"#define {guard}", "", "#include <dse/closed.h>", "#include <dse/workload.h>")
    for name, gives, reads in variants_of(model):
        yield from ("", f"/* [events{'' if name == 'events' else '.' + name}] */")
        for what, names in (("gives", gives), ("reads", reads)):
            if names: yield from struct_of(f"{base}_{name}_{what}", names, docs)
        yield f"extern const struct dse_closed_variant {base}_{name};"
    if "events" in model: yield from ("", SIMULATE.format(base))
    yield from ("", f"extern const struct dse_closed_model dse_closed_{base};", "", "#endif")


def table(base, variant, what, names):
    yield f"static const struct dse_closed_number {variant}_{what}[] = {{"
    for name in names:
        struct, field = field_of(name)
        place = f"{struct}.{field}" if struct else field
        yield f'    {{"{name}", offsetof(struct {base}_{variant}_{what}, {place})}},'
    yield from ("    {NULL, 0},", "};")


def text_of(name, text):
    """A text as a constant of C."""
    yield f"static const char {name}[] ="
    for line in text.splitlines(keepends=True):
        inside = line.rstrip("\n").replace("\\", "\\\\").replace('"', '\\"').replace("\r", "\\r")
        yield f'    "{inside}' + ('\\n"' if line.endswith("\n") else '"')
    yield '    "";'


def source(base, model, text, shared):
    yield f'#include "{base}_closed.h"'
    made = list(variants_of(model))
    for name, gives, reads in made:
        yield ""
        yield from table(base, name, "gives", gives)
        yield from table(base, name, "reads", reads)
        yield f'const struct dse_closed_variant {base}_{name} = {{"{name}", {name}_gives, {name}_reads}};'
    yield ""
    yield "static const struct dse_closed_variant *const variants[] = {"
    yield from (f"    &{base}_{name}," for name, _, _ in made)
    yield from ("    NULL,", "};", "")
    yield from text_of("text", text)
    yield ""
    yield from text_of("shared", shared)
    simulate = f"{base}_simulate" if "events" in model else "NULL"
    yield from ("", f"const struct dse_closed_model dse_closed_{base} = {{",
                f'    "{base}", "models/{base}/{base}.toml", text, shared, variants, {simulate},', "};")


def write(path, lines):
    with open(path, "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")


def main(file, shared, to_header, to_source):
    with open(file, encoding="utf-8", newline="") as opened:
        text = opened.read()
    with open(shared, encoding="utf-8", newline="") as opened:
        shared_text = opened.read()
    base = os.path.splitext(os.path.basename(file))[0]
    try:
        model = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        sys.exit(f"{file}: {error}")
    if model.get("model", {}).get("name") != base:
        sys.exit(f'{file}: [model] name is not "{base}", as the file is called')
    write(to_header, header(base, model))
    write(to_source, source(base, model, text, shared_text))


if __name__ == "__main__":
    main(*sys.argv[1:])
