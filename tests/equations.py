#!/usr/bin/env python3
"""Equations on the page of a model are those of its file in TOML (models/equations.py), where the page has room for them.

    equations.py SOURCE        the blocks that say something else, and what the script that writes them gets wrong
"""
import pathlib
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "models"))
import equations  # noqa: E402

FILE = """[functions]
# E1: a sum
"twice(x)" = "2 * x"
[equations]
# E1
a = { is = "twice(b) + 1", doc = "a doc" }
# E2: more
long = "a == 'narrow' ? twice(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) + twice(bbbbbbbbbbbbbbbbbbbbbbb) : max(a, b, ccccccc, ddddddd)"
f = "a == '#'" # E1: of one line
[for.attention]
# E2
c = \"\"\"
a
+ b\"\"\"
[metrics]
d = { is = "a", doc = "of E1", source = "Sec. 2, E1" }
e = { is = "b", doc = "of no number" }
"""

PAGE = """text
<!-- from m.toml: E1 -->
<!-- end -->
between
<!-- from m.toml: E2 -->
old
<!-- end -->
"""

WRITTEN = """text
<!-- from m.toml: E1 -->
```equations
# a sum
twice(x) = 2 * x

a = twice(b) + 1  # a doc
f = a == '#'      # of one line

metrics:
    d = a  # of E1
```
<!-- end -->
between
<!-- from m.toml: E2 -->
```equations
# more
long = a == 'narrow' ? twice(aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa) + twice(bbbbbbbbbbbbbbbbbbbbbbb)
       : max(a, b, ccccccc, ddddddd)

for group in attention:
    group.c = a + b
```
<!-- end -->
"""

# What is changed in the file, what in the page, and what is said.
NONE = "", ""
WRONG = (
    (NONE, ("<!-- end -->\nbetween", "between"), 'README.md:2: error: the block of E1 has no "<!-- end -->" before the next block'),
    (NONE, ("old\n<!-- end -->", "old"), 'README.md:5: error: the block of E2 has no "<!-- end -->"'),
    (NONE, ("text", "<!-- end -->"), 'README.md:1: error: "<!-- end -->" without a marker "<!-- from m.toml: E7 -->" above it'),
    (NONE, ("toml: E2", "toml: E3"), "README.md:5: error: no line of m.toml has the number E3"),
    (NONE, ("<!-- from m.toml: E2", "<!-- from n.toml: E2"), "README.md:5: error: the marker names n.toml; it must name m.toml"),
    (NONE, ("<!-- from m.toml: E2", "<!-- From m.toml E2"), 'README.md:5: error: a marker is "<!-- from m.toml: E7 -->" or "<!--'),
    (NONE, ("text", "<!-- from m.toml: E1 -->\n<!-- end -->"), "README.md:3: error: E1 has a second block; each number has one"),
    (("# E2: more", "# E3: more"), NONE, "m.toml:7: error: E3 has no block in README.md"),
    (("# E1\n", ""), NONE, 'm.toml:5: error: a has no number: a comment "# E7: text" must stand above it in [equations]'),
    (("# E1\n", "# E1, E2: both\n"), NONE, "m.toml:5: error: this comment of [equations] begins with the number of an equation,"),
    (("[metrics]", "[metrics"), NONE, "m.toml: error: "),
)


def self_test():
    """What the script that writes the blocks gets wrong."""
    renewed, errors, stale = equations.renew(PAGE, FILE, "README.md", "m.toml")
    if errors or renewed != WRITTEN:
        yield f"models/equations.py: error: a page is not written as tests/equations.py has it: {errors}\n{renewed}"
    if [line.split(": the")[0] for line in stale] != ["README.md:3: error", "README.md:6: error"]:
        yield f"models/equations.py: error: of two blocks that say something else it finds: {stale}"
    if equations.renew(WRITTEN, FILE, "README.md", "m.toml") != (WRITTEN, [], []):
        yield "models/equations.py: error: a page that it has written is not as it would write it"
    for (was, now), (page_was, page_now), said in WRONG:
        errors = equations.renew(PAGE.replace(page_was, page_now, 1), FILE.replace(was, now, 1), "README.md", "m.toml")[1]
        if not any(error.startswith(said) for error in errors):
            yield f"models/equations.py: error: instead of {said!r} it says {errors}"


def pages(source):
    """(file, page) of each model whose page has a marker."""
    for page in sorted(source.glob("models/*/README.md")):
        names = set(re.findall(r"^<!-- from (\S+):", page.read_text(encoding="utf-8"), re.M))
        if names: yield page.parent / f"{page.parent.name}.toml", page


def of_page(source, file, page):
    """What is wrong with a page."""
    if not file.is_file():
        return [f"{page.relative_to(source)}: error: the markers of this page need {file.relative_to(source)}, which is not there"]
    names = str(page.relative_to(source)), str(file.relative_to(source))
    _, errors, stale = equations.renew(page.read_text(encoding="utf-8"), file.read_text(encoding="utf-8"), *names)
    if stale: stale.append(f"The blocks are written by: python3 models/equations.py {names[1]} {names[0]}")
    return errors + stale


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    said = [*self_test(), *(line for file, page in pages(source) for line in of_page(source, file, page))]
    if said: print("\n".join(said))
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
