"""Models in TOML that are made to hurt whoever reads them: make(add) calls add(kind, name, text or bytes, how it must end) for each.

How it must end: None: it is accepted; a text: it is refused, and what is said of it has the text; ANY: either.
A new limit of src/base/limits.h gets a model here that is one beyond it.
"""
ANY = object()
MIB = 1 << 20

SMALL = """[model]
name  = "mine"
title = "Mine"
cite  = "nobody"
{model}
[parameters]
pes = {{ default = 4096, range = [1, 1000000], doc = "multiply-adds a cycle" }}
{parameters}
{functions}
[equations]
e0 = "pes"
{equations}
{sections}
[step]
time = "{time}"
{step}
"""


def small(*, model="", parameters="", functions="", equations="", sections="", time="1 [s] * e0", step='tokens = "1"'):
    functions = functions and "[functions]\n" + functions
    return SMALL.format(model=model, parameters=parameters, functions=functions, equations=equations, sections=sections, time=time,
                        step=step)


def loops(equations, **more):
    """A model with a workload, whose equations may run over operators."""
    return small(model='uses = ["workload", "memory"]', equations=equations, step="", **more)


def lines(n, line, first=0):
    return "\n".join(line(i) for i in range(first, n))


def row(name, more=""):
    return f'{name} = {{ default = 1, range = [0, 10], doc = "x"{more} }}'


# ---- formulas, and what stands in them ----------------------------------------------------------------------------------------

def make_formulas(add):
    F = "functions"
    DOUBLE = '"f0(x)" = "x + x"\n'
    for n in (14, 15, 16, 29, 60):
        add(F, f"{n} that double", small(functions=DOUBLE + lines(n, lambda i: f'"f{i}(x)" = "f{i-1}(f{i-1}(x))"', 1), equations=f'e1 = "f{n-1}(pes)"'),
            "more than 50,000 terms" if n > 15 else ANY)
    add(F, "two arguments that double", small(functions='"f0(x, y)" = "x * y"\n' + lines(60, lambda i: f'"f{i}(x, y)" = "f{i-1}(x, y) * f{i-1}(y, x)"', 1), equations='e1 = "f59(pes, 2)"'),
        "more than 50,000 terms")
    add(F, "eight arguments, each used twice", small(functions='"f0(a, b, c, d, e, f, g, h)" = "a + b + c + d + e + f + g + h + a"\n' + lines(
        20, lambda i: f'"f{i}(a, b, c, d, e, f, g, h)" = "f{i-1}(a+b, b+c, c+d, d+e, e+f, f+g, g+h, h+a)"', 1), equations='e1 = "f19(pes, 1, 2, 3, 4, 5, 6, 7)"'), ANY)
    add(F, "1,900 inside each other", small(functions=DOUBLE + lines(1900, lambda i: f'"f{i}(x)" = "-(-(-(f{i-1}(x))))"', 1), equations='e1 = "f1899(pes)"'), "at most 1,500")
    add(F, "700 inside each other", small(functions=DOUBLE + lines(700, lambda i: f'"f{i}(x)" = "f{i-1}(x) + 1"', 1), equations='e1 = "f699(pes)"'), ANY)
    add(F, "itself", small(functions='"f(x)" = "f(x)"', equations='e1 = "f(pes)"'), "")
    add(F, "itself, twice", small(functions='"f(x)" = "f(f(x - 1)) + f(x - 2)"', equations='e1 = "f(pes)"'), "")
    add(F, "each other, in a ring of 1,000", small(functions=lines(1000, lambda i: f'"f{i}(x)" = "f{(i + 1) % 1000}(x)"'), equations='e1 = "f0(pes)"'), "")
    add(F, "as each other's arguments", small(functions='"f(x)" = "g(f(x))"\n"g(x)" = "f(g(x))"', equations='e1 = "f(pes)"'), "")
    add(F, "a loop", loops('e1 = "f(pes)"', functions='"f(x)" = "sum(for op in linear: op.ops * x)"'), None)
    add(F, "nine arguments", small(functions='"f(a, b, c, d, e, f, g, h, i)" = "a"'), "")
    add(F, "2,000 arguments", small(functions=f'"f({", ".join(f"a{i}" for i in range(2000))})" = "a0"'), "")
    add(F, "an argument twice", small(functions='"f(x, x)" = "x"', equations='e1 = "f(1, 2)"'), ANY)
    add(F, "the name of a function that is there", small(functions='"max(x)" = "x"', equations='e1 = "max(1)"'), ANY)
    add(F, "without an end", small(functions='"f(x" = "x"'), "")
    add(F, "of nothing", small(functions='"f(x)" = ""', equations='e1 = "f(1)"'), "")
    add(F, "2,001", small(functions=lines(2001, lambda i: f'"f{i}(x)" = "x"')), "2,001 entries")
    add(F, "2,000 that nobody calls", small(functions=lines(1990, lambda i: f'"f{i}(x)" = "x + {i}"')), ANY)
    add(F, "a call with 2,000 arguments", small(equations=f'e1 = "max({", ".join("1" for _ in range(2000))})"'), "")
    add(F, "a name of 1 MB", small(functions=f'"{"f" * MIB}(x)" = "x"'), ANY)

    E = "equations"
    add(E, "a chain of 1,400", small(equations=lines(1400, lambda i: f'e{i} = "e{i-1} + 1"', 1), time="1 [s] * e1399"), ANY)
    add(E, "a chain of 1,990", small(equations=lines(1990, lambda i: f'e{i} = "e{i-1} + 1"', 1), time="1 [s] * e1989"), ANY)
    add(E, "a chain of 1,990, last first", small(equations="\n".join(f'e{i} = "e{i-1} + 1"' for i in range(1989, 0, -1)), time="1 [s] * e1989"), "more than 500 equations need each other in a row")
    add(E, "a chain of 1,990 names", small(equations=lines(1990, lambda i: f'e{i} = "e{i-1}"', 1), time="1 [s] * e1989"), ANY)
    add(E, "2,001", small(equations=lines(2001, lambda i: f'e{i} = "1"', 1)), "2,001 entries")
    add(E, "itself", small(equations='e1 = "e1"'), "e1")
    add(E, "a ring of 1,990", small(equations=lines(1990, lambda i: f'e{i} = "e{i % 1989 + 1}"', 1)), "")
    add(E, "a ring through functions", small(functions='"f(x)" = "e1 + x"', equations='e1 = "f(e2)"\ne2 = "f(1)"'), "")
    add(E, "1,400 that double", small(equations=lines(1400, lambda i: f'e{i} = "e{i-1} + e{i-1}"', 1), time="1 [s] * e1399"), ANY)
    add(E, "1,400 squares", small(equations=lines(1400, lambda i: f'e{i} = "e{i-1} * e{i-1}"', 1), time="1 [s] * e1399"), ANY)
    add(E, "each the sum of all before it", small(equations=lines(300, lambda i: f'e{i} = "' + "+".join(f"e{k}" for k in range(i)) + '"', 1), time="1 [s] * e299"), ANY)
    add(E, "each twice the sum of all before it", small(equations=lines(220, lambda i: f'e{i} = "' + "+".join(f"e{k}*e{k}" for k in range(i)) + '"', 1), time="1 [s] * e219"), ANY)
    add(E, "35 of 300 products", small(equations=lines(36, lambda i: f'e{i} = "1+' + "+".join(f"pes*{k}" for k in range(300)) + '"', 1), time="1 [s] * (e1 + e2 + e35)"), None)
    add(E, "35 of 300 products, all alike", small(equations=lines(36, lambda i: f'e{i} = "1+' + "+".join("pes*2" for _ in range(300)) + '"', 1), time="1 [s] * (e1 + e2 + e35)"), None)
    add(E, "40 of 800 products", small(equations=lines(40, lambda i: f'e{i} = "1+' + "+".join("pes*2" for _ in range(800)) + '"', 1)), "more than 50,000 terms")
    add(E, "1,900 of 20 different terms", small(equations=lines(1900, lambda i: f'e{i} = "' + "+".join(f"pes*{i * 20 + k}" for k in range(6)) + '"', 1), time="1 [s] * (" + "+".join(f"e{i}" for i in range(1, 600)) + ")"), ANY)
    add(E, "unknown names, 1,900 times", small(parameters=lines(1700, lambda i: row(f"{'p' * 90}{i}")), equations=lines(1900, lambda i: f'e{i} = "{"q" * 95}{i}"', 1)), "")
    add(E, "an unknown name of 4,900 letters, 1,600 times", small(parameters=lines(1700, lambda i: row(f"{'p' * 90}{i}")), equations=lines(1600, lambda i: f'e{i} = "{"q" * 4900}"', 1)), "")
    add(E, "unknown fields of operators, 1,900 times", loops(lines(1900, lambda i: f'e{i} = "sum(for op in linear: op.x{i})"', 1)), "")
    add(E, "no formula", small(equations="e1 = [1, 2]\ne2 = true\ne3 = 1979-05-27\ne4 = {}\ne5 = nan"), "")
    add(E, "1,900 errors of 4,000 characters", small(equations=lines(1900, lambda i: f'e{i} = "{"1+" * 2000}"', 1)), "")
    add(E, "1 MB in its doc", small(equations='e1 = { is = "1", doc = "' + "x" * MIB + '" }'), ANY)

    P = "formulas"
    formula = lambda text, says, name: add(P, name, small(equations=f"e1 = '''{text}'''", time="1 [s] * (e0 + 0 * e1)"), says)
    formula("+".join(["pes"] * 1250), ANY, "4,999 characters")
    formula("+".join(["pes"] * 2000), "at most 5,000", "8,000 characters")
    formula("1" + "+1" * (2 * MIB), "at most 5,000", "4 MB")
    formula("(" * 20 + "1" + ")" * 20, None, "20 parentheses")
    formula("(" * 65 + "1" + ")" * 65, "less deep", "65 parentheses")
    formula("(" * 2400 + "1" + ")" * 2400, "less deep", "2,400 parentheses")
    formula("(" * 4999, "", "4,999 parentheses that open")
    formula(")" * 4999, "", "4,999 parentheses that close")
    formula("-" * 4990 + "1", "less deep", "4,990 signs")
    formula("!" * 4990 + "1", "less deep", "4,990 times not")
    formula("2^" * 2490 + "2", "less deep", "2,490 powers")
    formula("pes?" * 1200 + "1", "", "1,200 questions")
    formula("pes?1:" * 800 + "1", "less deep", "800 choices")
    formula("max(" * 60 + "1" + ")" * 60, ANY, "60 calls")
    formula("max(" * 990 + "1" + ")" * 990, "less deep", "990 calls")
    formula("exp(exp(exp(exp(exp(pes)))))", ANY, "exp of exp of exp")
    formula("1/0 + 0/0 + inf - inf + inf * 0 + null + known(null) + sqrt(-1) + ln(0) + ln(-1) + log2(0)", ANY, "infinities")
    formula("0^0 + 0^-1 + (-1)^0.5 + inf^0 + 1^inf", ANY, "powers of nothing")
    formula("1e999 + 1e-999 + 0x10p5", ANY, "numbers out of range")
    formula("9" * 4900, ANY, "a number of 4,900 digits")
    formula("0." + "0" * 4900 + "1", ANY, "a number of 4,900 zeros")
    formula("1e" + "9" * 4000, ANY, "an exponent of 4,000 digits")
    formula("1 [" + " ".join(["B"] * 2000) + "]", ANY, "a unit of 2,000 units")
    formula("1 [" + "/".join(["s"] * 2000) + "]", ANY, "a unit divided 2,000 times")
    formula("1 [s99999999999]", "", "a unit to a power beyond numbers")
    formula("1 [" + "B" * 4900 + "]", "", "a unit of 4,900 letters")
    formula("1 [B", "", "a unit without an end")
    formula("'" + "x" * 4900, "", "a string without an end")
    formula("'" + "x" * 4900 + "' == 1", "", "a string that is compared with a number")
    formula("pes == 'x' == pes == 'y'", "", "strings that are compared in a row")
    formula("1 2 3 4", "", "numbers in a row")
    formula("pes.pes.pes" + ".x" * 2400, "", "a name of 2,400 names")
    formula("op.ops", "", "an operator outside of a loop")
    formula("sum(for op in everything: 1)", "", "a loop over nothing that there is")
    formula("sum(for pes in linear: pes)", "", "a loop without operators")
    formula("\u202e1 + \u2066pes", "", "letters that turn the line around")
    formula("π + ∞", "", "letters that are not ASCII")
    add(P, "units that double 14 times", small(equations='u0 = "1 [s]"\n' + lines(14, lambda i: f'u{i} = "u{i-1} * u{i-1}"', 1)), ANY)
    add(P, "units that double 1,000 times", small(equations='u0 = "1 [s]"\n' + lines(1000, lambda i: f'u{i} = "u{i-1} * u{i-1}"', 1)), ANY)
    add(P, "roots of units", small(equations='u0 = "1 [s]"\n' + lines(1000, lambda i: f'u{i} = "sqrt(u{i-1})"', 1)), "")
    add(P, "a unit to the power 1e300", small(equations='u0 = "1 [s]"\nu1 = "u0 ^ 1e300"'), "")
    add(P, "a unit to the power nan", small(equations='u0 = "1 [s]"\nu1 = "u0 ^ (0 / 0)"'), "")

    L = "loops"
    add(L, "25 that need each other", loops('s0 = "sum(for op in linear: op.ops)"\n' + lines(25, lambda i: f's{i} = "sum(for op in linear: op.ops / s{i-1})"', 1)), None)
    add(L, "19 that need each other", loops('s0 = "sum(for op in linear: op.ops)"\n' + lines(19, lambda i: f's{i} = "sum(for op in linear: op.ops / s{i-1})"', 1), time="1 [s] * (e0 + s18)"), ANY)
    add(L, "inside each other", loops('e1 = "sum(for op in linear: sum(for op in scores: op.ops))"'), ANY)
    add(L, "60 inside each other", loops('e1 = "' + "sum(for op in linear: " * 60 + "1" + ")" * 60 + '"'), "")
    add(L, "1,900, none like the other", loops(lines(1900, lambda i: f's{i} = "sum(for op in operators: op.ops * {i})"'), time="1 [s] * (" + "+".join(f"s{i}" for i in range(1900))[:4800].rsplit("+", 1)[0] + ")"), ANY)
    add(L, "1,900 over six kinds of operators", loops(lines(1900, lambda i: f's{i} = "most(for op in {("linear", "scores", "values", "elementwise", "recurrence", "collective")[i % 6]}: op.ops * {i} + op.m)"'), time="1 [s] * (" + "+".join(f"s{i}" for i in range(700)) + ")"), ANY)
    add(L, "1,900 equations of operators", loops("", sections="[for.operators]\n" + lines(1900, lambda i: f'x{i} = "op.ops * {i} + {"op.x%d" % (i - 1) if i % 1000 else 1}"'), time="1 [s] * (e0 + sum(for op in operators: op.x1899))"), ANY)
    add(L, "a ring of equations of operators", loops("", sections='[for.operators]\nx = "op.y"\ny = "op.x"', time="1 [s] * sum(for op in operators: op.x)"), "")
    add(L, "an element that needs the sum of its loop", loops('s = "sum(for op in linear: op.x)"', sections='[for.linear]\nx = "s + op.ops"', time="1 [s] * s"), "")
    add(L, "2,000 of no such operators", loops("", sections=lines(1900, lambda i: f'[for.l{i}]\nx = "1"')), "")
    add(L, "1,200 names of operators", loops("e1 = \"sum(for op in operators: " + "+".join(f"(op.name == 'n{i}')" for i in range(180)) + ")\"\n" + lines(
        7, lambda k: f"n{k} = \"sum(for op in operators: " + "+".join(f"(op.name == 'm{k}x{i}')" for i in range(180)) + ")\""), time="1 [s] * (e0 + e1)"), ANY)

    R = "ranges and tables"
    add(R, "of 1,000 numbers", small(equations='e1 = "argmin(i in 1..1000: abs(pes - i))"'), None)
    add(R, "of 1,001 numbers", small(equations='e1 = "argmin(i in 1..1001: abs(pes - i))"'), "at most 1,000")
    add(R, "of all numbers", small(equations='e1 = "sum(i in 1..9007199254740993: i)"'), "")
    add(R, "of infinitely many numbers", small(equations='e1 = "sum(i in 1..inf: i)"'), "")
    add(R, "of no number", small(equations='e1 = "sum(i in null..null: i)"'), "")
    add(R, "that go down", small(equations='e1 = "sum(i in 10..1: i)"'), "empty")
    add(R, "two inside each other", small(equations='e1 = "sum(i in 1..1000: sum(j in 1..1000: i * j))"'), "more than 50,000 terms")
    add(R, "30 inside each other", small(equations="e1 = '" + "".join(f"sum(i{k} in 1..9: " for k in range(30)) + "1" + ")" * 30 + "'"), "more than 50,000 terms")
    add(R, "of one number, 30 inside each other", small(equations="e1 = '" + "".join(f"sum(i{k} in 1..1: " for k in range(30)) + "1" + ")" * 30 + "'"), ANY)
    add(R, "in 40 functions that call each other", small(functions='"f0(x)" = "sum(i in 1..9: i * x)"\n' + lines(40, lambda i: f'"f{i}(x)" = "sum(i in 1..9: f{i-1}(i * x))"', 1), equations='e1 = "f39(pes)"'), "more than 50,000 terms")
    add(R, "12 chains of 1,000 choices", small(equations=lines(13, lambda i: f'e{i} = "argmin(i in 1..1000: abs(pes - {i} * i))"', 1), time="1 [s] * (" + "+".join(f"e{i}" for i in range(1, 9)) + ")"), "more than 50,000 terms")
    add(R, "six chains of 1,000 choices", small(equations=lines(7, lambda i: f'e{i} = "argmin(i in 1..1000: abs(e{i-1} - {i} * i))"', 1), time="1 [s] * e6"), ANY)
    add(R, "nine chains of largest numbers", small(equations=lines(10, lambda i: f'e{i} = "largest(i in 1..1000: i < e{i-1} + {i})"', 1), time="1 [s] * e9"), ANY)
    add(R, "for each operator", loops('e1 = "sum(for op in operators: argmin(i in 1..1000: abs(op.m - i)))"'), "5,000 terms")
    add(R, "for each operator, few", loops('e1 = "sum(for op in operators: argmin(i in 1..900: abs(op.m - i)))"'), ANY)
    table = lambda n, columns=1: "[tables]\nt = { columns = [" + ", ".join(f'"c{k}"' for k in range(columns)) + "], rows = [" + ", ".join("[" + ", ".join(str(i + k) for k in range(columns)) + "]" for i in range(n)) + "] }\n"
    add(R, "a table of 2,000 rows", small(functions=table(2000), equations='e1 = "argmin(r in t: abs(pes - r.c0))"').replace("[functions]\n[tables]", "[tables]"), None)
    add(R, "a table of 2,001 rows", small(functions=table(2001)).replace("[functions]\n[tables]", "[tables]"), "2,001 entries")
    add(R, "a table of 900 rows and columns", small(functions=table(900, 900), equations='e1 = "sum(r in t: r.c899)"').replace("[functions]\n[tables]", "[tables]"), ANY)
    add(R, "2,000 rows, looked up 1,000 times", small(functions=table(2000), equations=lines(1000, lambda i: f'e{i} = "t.c0(pes + {i})"', 1)).replace("[functions]\n[tables]", "[tables]"), "more than 50,000 terms")
    add(R, "2,000 rows, looked up 24 times in a row", small(functions=table(2000), equations=lines(24, lambda i: f'e{i} = "t.c0(e{i-1})"', 1), time="1 [s] * e23").replace("[functions]\n[tables]", "[tables]"), ANY)
    add(R, "1,900 tables", small(functions="[tables]\n" + lines(1900, lambda i: f't{i} = {{ columns = ["a"], rows = [[{i}]] }}')).replace("[functions]\n[tables]", "[tables]"), ANY)
    add(R, "tables without sense", small(functions='[tables]\na = 1\nb = {}\nc = { columns = [1], rows = [[nan]] }\nd = { columns = ["x"], rows = [1, [2, 3], "y", [inf]] }').replace("[functions]\n[tables]", "[tables]"), "")

    O = "other values"
    add(O, "60 inside each other", small(parameters=lines(60, lambda i: row(f"p{i}")), equations="e1 = '" + "".join(f"at(p{k} = pes, " for k in range(60)) + "e0" + ")" * 60 + "'"), ANY)
    add(O, "501", small(equations='e1 = "sum(i in 1..501: at(pes = pes + i, e0))"'), "at() asks for more than 500")
    add(O, "499", small(equations='e1 = "sum(i in 1..499: at(pes = pes + i, e0))"', time="1 [s] * e1"), None)
    add(O, "of equations that double", small(equations='e1 = "e0 + pes"\n' + lines(300, lambda i: f'e{i} = "at(pes = pes + {i}, e{i-1}) + at(pes = pes * {i}, e{i-1})"', 2), time="1 [s] * e299"), "at() asks for more than 500")
    add(O, "of equations that double, two values", small(equations='e1 = "e0 + pes"\n' + lines(300, lambda i: f'e{i} = "at(pes = 1, e{i-1}) + at(pes = 2, e{i-1}) + pes"', 2), time="1 [s] * e299"), ANY)
    add(O, "of a chain of 1,400", small(equations=lines(1400, lambda i: f'e{i} = "e{i-1} + 1"', 1), time="1 [s] * sum(i in 1..40: at(pes = i, e1399))"), "more than 500 equations need each other in a row")
    add(O, "of a chain of 400, 200 times", small(equations=lines(400, lambda i: f'e{i} = "e{i-1} + 1"', 1), time="1 [s] * sum(i in 1..200: at(pes = i, e399))"), "more than 50,000 terms")
    add(O, "of a chain of 1,400 that does not change", small(parameters=row("q"), equations=lines(1400, lambda i: f'e{i} = "e{i-1} + 1"', 1), time="1 [s] * sum(i in 1..40: at(q = i, e1399))"), None)
    add(O, "of 400 parameters", small(parameters=lines(400, lambda i: row(f"p{i}")), equations="e400 = '" + "+".join(f"p{i}" for i in range(400)) + "'\n" + lines(400, lambda i: f'e{i} = "at(p{i} = {i} + pes, e{i + 1})"', 1), time="1 [s] * e1"), ANY)
    add(O, "itself", small(equations='e1 = "at(pes = pes + 1, e1)"'), "cycle")
    add(O, "without sense", small(equations='e1 = "at(pes = pes, pes = 1)"\ne2 = "at(1, 2)"\ne3 = "at(pes = 1)"\ne4 = "pes = 1"\ne5 = "at(e0 = 1, pes)"'), "")

    I = "files that are included"
    for name in ("/etc/passwd", "/dev/zero", "../mine.toml", "mine.toml", "./mine.toml", "a/../../mine.toml", "", ".toml", "a//b.toml", "a\\\\b.toml", "not-there.toml", "x" * 5000 + ".toml", "a\\u0000.toml", "https://a.b/c.toml"):
        add(I, f"\"{name[:20]}\"", f'include = ["{name}"]\n' + small(), "")
    add(I, "2,001", "include = [" + ", ".join('"a.toml"' for _ in range(2001)) + "]\n" + small(), "")
    add(I, "without sense", 'include = "mine.toml"\n' + small(), "")


# ---- parameters and names -----------------------------------------------------------------------------------------------------

def make_parameters(add):
    A = "parameters"
    add(A, "1,500", small(parameters=lines(1500, lambda i: row(f"p{i}"))), None)
    add(A, "1,850", small(parameters=lines(1850, lambda i: row(f"p{i}"))), "at most 1,800")
    add(A, "2,001", small(parameters=lines(2001, lambda i: row(f"p{i}"))), "at most 2,000")
    add(A, "100,000", small(parameters=lines(100000, lambda i: row(f"p{i}"))), "at most 2,000")
    add(A, "1,700 with a choice of 20", small(parameters=lines(1700, lambda i: f'c{i} = {{ default = "v0", choices = [' + ", ".join(f'"v{k}"' for k in range(20)) + '], doc = "x" }')), None)
    add(A, "100 with a choice of 1,900", small(parameters=lines(100, lambda i: f'c{i} = {{ default = "v0", choices = [' + ", ".join(f'"v{k}"' for k in range(1900)) + '], doc = "x" }')), ANY)
    add(A, "a choice of 2,001", small(parameters='c = { default = "v0", choices = [' + ", ".join(f'"v{k}"' for k in range(2001)) + '], doc = "x" }'), "2,001 entries")
    add(A, "a choice of 100,000", small(parameters='c = { default = "v0", choices = [' + ", ".join(f'"v{k}"' for k in range(100000)) + '], doc = "x" }'), "100,000 entries")
    add(A, "a choice of 7 MB", small(parameters='c = { default = "a", choices = ["a", "' + "x" * 7 * MIB + '"], doc = "x" }'), ANY)
    add(A, "a choice twice", small(parameters='c = { default = "a", choices = ["a", "a"], doc = "x" }'), ANY)
    add(A, "no choice", small(parameters='c = { default = "a", choices = [], doc = "x" }'), "")
    add(A, "choices of numbers", small(parameters='c = { default = 1, choices = [1, [2], {a = 3}], doc = "x" }'), "")
    add(A, "a choice without letters", small(parameters='c = { default = "", choices = ["", " ", "a,b", "\'"], doc = "x" }'), ANY)
    add(A, "1,500 of the catalog", small(parameters=lines(1500, lambda i: f'c{i} = {{ default = "umc-28nm", catalog = "technologies", doc = "x" }}')), ANY)
    add(A, "of a catalog that is not there", small(parameters='c = { default = "a", catalog = "../../etc/passwd", doc = "x" }'), "")
    add(A, "an entry that is not there", small(parameters='c = { default = "' + "x" * MIB + '", catalog = "technologies", doc = "x" }'), ANY)
    for bound in ("[nan, nan]", "[0, nan]", "[inf, -inf]", "[-inf, inf]", "[10, 0]", "[0]", "[]", "[0, 1, 2]", '["0", "1"]', "[0, 9223372036854775807]", "[1e308, 1e309]", "[[0], [1]]"):
        add(A, f"range {bound}", small(parameters=f'a = {{ default = 1, range = {bound}, doc = "x" }}'), ANY if bound in ("[-inf, inf]", "[0, 9223372036854775807]") else "")
    for default in ("nan", "inf", "-1", "1e308", '"x"', "[1]", "{}", "9223372036854775807", "true"):
        add(A, f"default {default}", small(parameters=f'a = {{ default = {default}, range = [0, 10], doc = "x" }}'), "")
    add(A, "whole numbers beyond those of numbers", small(parameters='a = { default = 9007199254740993, range = [-9223372036854775807, 9223372036854775807], whole = true, doc = "x" }'), ANY)
    add(A, "a unit that does not exist", small(parameters='a = { default = 1, range = [0, 1], unit = "' + "x" * MIB + '", doc = "x" }'), "")
    add(A, "without a doc, a range, a default", small(parameters="a = {}\nb = 1\nc = []\nd = 'x'"), "")
    add(A, "a doc of 7 MB", small(parameters='a = { default = 1, range = [0, 1], doc = "' + "x" * 7 * MIB + '" }'), ANY)
    add(A, "a doc that paints the terminal", small(parameters='a = { default = 1, range = [0, 1], doc = "\\u001b[2J\\u001b]0;x\\u0007" }'), ANY)
    add(A, "keys that do not exist, 1,900 of them", small(parameters='a = { default = 1, range = [0, 1], doc = "x", ' + ", ".join(f"k{i} = 1" for i in range(1900)) + " }"), "")
    add(A, "a key of 7 MB that does not exist", small(model=f'{"k" * 7 * MIB} = 1'), "")

    N = "names"
    for name in ("comparison", "run", "front", "sqlite_master", "pragma_table_info", "select", "lad", "lad_front", "dse_rows_x", "json_each", "query", "_", "x" * 100):
        add(N, f"model {name[:20]}", small().replace('"mine"', f'"{name}"', 1), None if name in ("query", "_", "x" * 100) else "")
    for name in ("", "x" * 101, "x" * MIB, "Mine", "1x", "a b", "a;drop table run", "a\\\"b", "../../x", "münze", "\\u0000", "%s%n%s"):
        add(N, f"model \"{name[:20]}\" of {len(name)} letters", small().replace('"mine"', f'"{name}"', 1), "")
    for name in ("id", "run", "status", "rowid", "oid", "model", "max_points", "tokens_per_s", "requests", "points", "p" * 101, "sum", "inf", "null", "for"):
        add(N, f"parameter {name[:20]} of {len(name)} letters", small(parameters=row(name)), ANY if name in ("sum", "inf", "null", "for") else "")
    for name in ('"A"', '"a b"', '""', '"a\\u0000b"', '"é"', '"a.b"', "a.b", '"%n"', '"' + "x" * MIB + '"'):
        add(N, f"parameter {name[:12]}", small(parameters=row(name)), "")
    add(N, "a parameter and an equation", small(parameters=row("e0")), "")
    add(N, "a metric and a parameter", small(parameters=row("m"), sections='[metrics]\nm = { is = "1", better = "less", doc = "x" }'), "")
    add(N, "pairs that differ in case only", small(parameters=row("aa"), sections='[metrics]\naA = { is = "1", better = "less", doc = "x" }'), "")
    add(N, "parameters of a group", small(model='uses = ["workload"]', parameters=row("batch") + "\n" + row("llm"), step=""), "")


# ---- sections -----------------------------------------------------------------------------------------------------------------

def make_sections(add):
    S = "sections"
    add(S, "2,001 checks", small(sections="[check]\n" + lines(2001, lambda i: f'"r{i}" = "pes > {i}"')), "2,001 entries")
    add(S, "1,990 checks", small(sections="[check]\n" + lines(1900, lambda i: f'"r{i}" = "pes > {-i}"')), ANY)
    add(S, "a reason of 1 MB", small(sections='[check]\n"' + "r" * MIB + '" = "pes > 0"'), ANY)
    add(S, "a reason without letters", small(sections='[check]\n"" = "pes > 0"\n"\\u001b[2J" = "pes > 1"'), ANY)
    add(S, "a check that nothing meets", small(sections='[check]\n"no" = "0 > 1"'), ANY)
    add(S, "1,780 metrics", small(sections="[metrics]\n" + lines(1780, lambda i: f'm{i} = {{ is = "pes + {i}", better = "less", doc = "x" }}')), ANY)
    add(S, "1,990 metrics", small(sections="[metrics]\n" + lines(1990, lambda i: f'm{i} = {{ is = "pes + {i}", better = "less", doc = "x" }}')), "at most 1,800")
    add(S, "metrics without sense", small(sections='[metrics]\na = { is = "1 [s]" }\nb = { is = "1", better = "best" }\nc = { is = "1", mean = "x" }\nd_us = { is = "1" }'), "")
    add(S, "1,900 trends", small(parameters=lines(1700, lambda i: row(f"p{i}")), sections="[trends]\n" + lines(1700, lambda i: f'p{i} = {{ more = ["tokens_per_s"] }}')), ANY)
    add(S, "a trend of 1,900 metrics", small(sections="[trends]\npes = { more = [" + ", ".join(['"tokens_per_s"'] * 1900) + "] }"), ANY)
    add(S, "1,700 trends of 1,900 metrics", small(parameters=lines(300, lambda i: row(f"p{i}")), sections="[trends]\n" + lines(300, lambda i: f"p{i} = {{ more = [" + ", ".join(['"tokens_per_s"'] * 1500) + "] }")), ANY)
    add(S, "trends of what is not there", small(sections='[trends]\nno = { more = ["x"] }\npes = { less = ["' + "y" * 10000 + '"], where = "' + "z=1," * 10000 + '", along = "q" }'), "")
    add(S, "2,001 parts", small(sections=lines(2001, lambda i: f'[[parts]]\nname = "p{i}"\ntime = "1 [s]"')), "2,001 entries")
    add(S, "1,900 parts", small(sections=lines(1900, lambda i: f'[[parts]]\nname = "p{i}"\ntime = "1 [s]"')), ANY)
    add(S, "100,000 parts", small(sections=lines(100000, lambda i: "[[parts]]")), "too many tables")
    add(S, "97 parts", small(sections=lines(97, lambda i: f'[[parts]]\nname = "p{i}"\ntime = "1 [s] * e0 / 97"')), ANY)
    add(S, "parts of no depth", small(sections=lines(20, lambda i: f'[[parts]]\nname = "p{i}"\ndepth = {i - 5}\ntime = "1 [s]"')), ANY)
    add(S, "parts of loops of loops", loops("", sections=lines(300, lambda i: '[[parts]]\nfor = "operators"\ntime = "op.ops * 1 [s]"')), ANY)
    add(S, "1,900 claims", small(sections='[machines.plain]\nmodel = "mine"\n' + lines(1900, lambda i: f'[claims.c{i}]\nnumber = {i}.5\nunit = "1/s"\nquantity = "q"\nsource = "s"\nkind = "derived"\nsplit = "holdout"\nvalue = "plain.tokens_per_s"')), ANY)
    add(S, "2,001 claims", small(sections=lines(2001, lambda i: f"[claims.c{i}]\nnumber = 1")), "2,001 entries")
    add(S, "claims without sense", small(sections='[claims.a]\nnumber = nan\n[claims."b\\"c"]\nnumber = "x"\nconditions = "op:' + ">" * 10000 + '"\n[claims.""]\n'), "")
    add(S, "1,900 machines, 1,900 cases", small(sections=lines(1900, lambda i: f'[machines.m{i}]\nmodel = "mine"\n[cases.c{i}]\nx = 1')), ANY)
    add(S, "100,000 machines", small(sections=lines(100000, lambda i: f"[machines.m{i}]")), "too many tables")
    add(S, "groups, 2,001 times", small(model="uses = [" + ", ".join(['"workload"'] * 2001) + "]"), "2,001 entries")
    add(S, "groups, 1,900 times", small(model="uses = [" + ", ".join(['"workload"'] * 1900) + "]"), "named twice")
    add(S, "groups that do not exist", small(model='uses = ["x", 1, [], {}, "' + "y" * MIB + '"]'), "")
    add(S, "workloads that do not exist", small(model='can = ["' + "y" * MIB + '", 1, nan]'), "")
    add(S, "defaults of nothing", small(sections="[defaults]\n" + lines(1900, lambda i: f"d{i} = {i}")), "")
    add(S, "defaults that are tables", small(model='uses = ["workload"]', step="", sections="[defaults]\nbatch = { from = 1, to = 1e18, step = 1 }\ncontext = [1, 2]\nllm = nan"), "")
    add(S, "1,900 of no name", small(sections=lines(1900, lambda i: f"[s{i}]\nx = 1")), "")
    add(S, "1,000 of no name, of 1,900 keys each", small(sections=lines(300, lambda i: f"[s{i}]\n" + lines(1900, lambda k: f"k{k}=1"))), "")
    add(S, "a version beyond numbers", small(model="version = 9223372036854775807"), ANY)
    add(S, "a version of text", small(model='version = "x"'), "")
    add(S, "a title of 7 MB", small().replace('"Mine"', '"' + "x" * 7 * MIB + '"'), ANY)
    for step in ('tokens = "0"', 'tokens = "-1"', 'tokens = "inf"', 'tokens = "null"', 'tokens = "1"\narea = "-1 [m2]"', 'tokens = "1"\nops = "-inf"', 'tokens = "1"\npeak_ops = "0 [Hz]"', 'tokens = "1"\ndie = "1 [m2]"', ""):
        add(S, f"a step with {step}".replace("\n", ", "), small(step=step), "" if step == "" or "die" in step else ANY)
    for time in ("0", "null", "inf", "-1 [s]", "0 [s] / 0", "1", "1 [B]", ""):
        add(S, f"a step of {time}", small(time=time), ANY)
    add(S, "none", "", "")
    add(S, "a model and no more", '[model]\nname = "mine"\ntitle = "x"\ncite = "y"\n', "")
    add(S, "a model that is no table", "model = 1\nparameters = 2\nequations = 3\nstep = 4\nmetrics = 5\nparts = 6\nfunctions = 7\n", "")
    add(S, "tables that are lists", "[[model]]\n[[parameters]]\n[[equations]]\n[[step]]\n", "")
    add(S, "a model of letters", small().replace('"mine"', "3", 1), "")


# ---- TOML, and what is none ---------------------------------------------------------------------------------------------------

def make_files(add):
    T = "toml"
    tail = lambda text: small(sections=text)
    add(T, "lists inside each other, 65", tail("x = " + "[" * 65 + "]" * 65), "")
    add(T, "lists inside each other, 1,000,000", tail("x = " + "[" * MIB + "]" * MIB), "")
    add(T, "lists that open, 7 MB", "x = " + "[" * 7 * MIB, "")
    add(T, "tables inside each other, 100,000", tail("x = " + "{a=" * 100000 + "1" + "}" * 100000), "")
    add(T, "keys of 17 parts", tail(".".join("a" * 17) + " = 1"), "")
    add(T, "a key of 2,000,000 parts", tail(".".join(["a"] * 2000000) + " = 1"), "")
    add(T, "headers of 16 parts, 40,000", lines(40000, lambda i: f"[a{i}" + ".b" * 15 + "]"), "")
    add(T, "lists of tables, 700,000", "[[a]]\n" * 700000, "")
    add(T, "lists of lists of tables", lines(60000, lambda i: "[[a]]\n[[a.b]]\n[[a.b.c]]\n[a.b.c.d]"), "too many tables")
    add(T, "tables that exist already, 200,000", lines(200000, lambda i: f"[a{i}.b]") + "\n" + "\n".join(f"[a{i}]" for i in range(199999, -1, -1)), "too many tables")
    add(T, "keys with a dot, 400,000", lines(200000, lambda i: f"a{i}.b = 1") + "\n" + lines(200000, lambda i: f"a{i}.c = 1"), "too many tables")
    add(T, "numbers with a dot, 400,000, as keys", lines(200000, lambda i: f"{i}.1 = 1") + "\n" + lines(200000, lambda i: f"{i}.2 = 1"), "too many tables")
    add(T, "keys with a dot in one table, 200,000", "x = {" + ",".join(f"a{i}.b = 1" for i in range(200000)) + "}", "too many tables")
    add(T, "tables that exist already, 19,000", lines(9500, lambda i: f"[a{i}.b]") + "\n" + "\n".join(f"[a{i}]" for i in range(9499, -1, -1)), "entries")
    add(T, "a list of 3,000,000 numbers", tail("x = [" + "1," * 3000000 + "]"), "too many values")
    add(T, "a list of 900,000 numbers", tail("x = [" + "1.5," * 900000 + "]"), "entries")
    add(T, "2,000 lists of 2,000 lists", tail("x = [" + ",".join("[" + "1," * 1000 + "]" for _ in range(2000)) + "]"), "")
    add(T, "2,000,000 empty tables in lists", tail("x = [" + ("[" + "{}," * 1990 + "],") * 1000 + "]"), "too many values")
    add(T, "a key twice", tail("[x]\na = 1\na = 2"), "")
    add(T, "a table twice", tail("[equations]\ne9 = '1'"), "")
    add(T, "500,000 keys", tail("[x]\n" + lines(500000, lambda i: f"k{i}=1")), "entries")
    add(T, "500,000 times the same key", tail("[x]\n" + "k=1\n" * 500000), "")
    add(T, "a key of 7 MB", tail("k" * 7 * MIB + " = 1"), "")
    add(T, "a string without an end", tail('x = "' + "x" * 7 * MIB), "")
    add(T, "a string of many lines without an end", tail('x = """' + "x\n" * 3 * MIB), "")
    add(T, "escapes without sense", tail('x = "\\q\\uD800\\U00110000\\u00"'), "")
    add(T, "control characters", tail('x = "\x01\x02\x1b[2J\x7f"'), "")
    add(T, "a NUL in a string", small().replace("Mine", "Mi\0ne"), "")
    add(T, "a NUL at the end", small() + "\0\0\0", "")
    add(T, "NULs, 1 MB", b"\0" * MIB, "")
    add(T, "UTF-8 that is none", small().encode().replace(b"Mine", b"Mi\xff\xfe\xc0\x80ne"), "")
    add(T, "half a character at the end", small().encode() + b"# \xe2\x82", "")
    add(T, "UTF-16", small().encode("utf-16"), "")
    add(T, "a mark of byte order", b"\xef\xbb\xbf" + small().encode(), None)
    add(T, "nothing but a mark of byte order", b"\xef\xbb\xbf", "")
    add(T, "marks of byte order, 1 MB", b"\xef\xbb\xbf" * (MIB // 3), "")
    add(T, "lines of another system", small().replace("\n", "\r\n"), None)
    add(T, "lines of a third system", small().replace("\n", "\r"), "")
    add(T, "whole numbers beyond numbers", tail("x = 99999999999999999999999999999999"), "")
    add(T, "a number of 7,000,000 digits", tail("x = 0." + "1" * 7000000), "")
    add(T, "dates that are none", tail("x = 2025-99-99\ny = 9999999-01-01T25:61:61Z"), "")
    add(T, "8 MB of comments", small() + "# " + "x" * (8 * MIB - len(small()) - 3) + "\n", None)
    add(T, "8 MB of empty lines", small() + "\n" * (8 * MIB - len(small())), None)
    add(T, "8 MB and a byte", small() + "\n" * (8 * MIB - len(small()) + 1), "larger than 8388608 bytes")
    add(T, "100 MB", b"#" * 100 * MIB, "larger than 8388608 bytes")
    add(T, "a page of HTML", "<!DOCTYPE html><html><body>404</body></html>", "")
    add(T, "JSON", '{"model": {"name": "mine"}}', "")
    add(T, "a shared object", b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 4000, "")
    add(T, "noise", bytes((i * 1103515245 + 12345 >> 16) & 255 for i in range(200000)), "")


def make(add):
    make_formulas(add)
    make_parameters(add)
    make_sections(add)
    make_files(add)
