#!/usr/bin/env python3
"""Links that lead somewhere: those of every page, with their anchors, and every docs/... that code, tests and catalogs name.

    links.py SOURCE            the links that lead nowhere
"""
import pathlib
import re
import sys

SKIPPED = {"node_modules", "subprojects", ".git"}
NAMED_IN = {".c", ".h", ".toml", ".sh", ".py", ".lib", ".csv", ".build", ".cpp", ".hpp", ".mjs", ".js", ".html", ".ts", ".err", ".md", ""}
OF_OTHERS = {"docs/source/performance.md", "docs/v5e"}  # pages of TensorRT-LLM and of Google
NAMED = re.compile(r"(?<![\w.-])docs/[\w./-]*[\w](#[a-z0-9_-]+)?")


def anchors(page):
    """The anchors of a page's headings, as GitHub makes them."""
    found, fenced = set(), False
    for line in page.read_text(encoding="utf-8").split("\n"):
        fenced ^= line.startswith("```")
        heading = re.match(r"#+ +(.*)", line)
        if heading and not fenced:
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1)).lower()
            base = name = re.sub(r"[^\w\- ]", "", text).strip().replace(" ", "-")
            n = 0
            while name in found:
                n += 1
                name = f"{base}-{n}"
            found.add(name)
    return found


def files(source):
    for path in sorted(source.rglob("*")):
        inside = path.relative_to(source).parts
        if not any(p in SKIPPED or p.startswith(("build", ".")) for p in inside) and path.is_file() and path.suffix in NAMED_IN:
            yield path


def problem(target, anchor):
    if not target.exists():
        return "is not there"
    if anchor and target.suffix == ".md" and anchor not in anchors(target):
        return "has no such heading"
    return None


def links(path, text):
    """(line, link, file, anchor) of what a page links to."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        fenced ^= line.startswith("```")
        for link in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)) if not fenced else []:
            if not re.match(r"[a-z]+:", link):
                name, _, anchor = link.partition("#")
                yield number, link, (path.parent / name if name else path), anchor


def named(source, text):
    """The same of the pages that a file names."""
    for number, line in enumerate(text.split("\n"), 1):
        for found in NAMED.finditer(line):
            if "://" in line[max(0, found.start() - 80):found.start()].split(" ")[-1]:
                continue
            name, _, anchor = found.group(0).partition("#")
            if name not in OF_OTHERS:
                yield number, found.group(0), source / name, anchor


def main():
    source = pathlib.Path(sys.argv[1]).resolve()
    failed = 0
    for path in files(source):
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found = [*(links(path, text) if path.suffix == ".md" else []), *named(source, text)]
        for number, link, target, anchor in found:
            why = problem(target, anchor)
            if why:
                failed += 1
                print(f"{path.relative_to(source)}:{number}: error: {link} {why}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
