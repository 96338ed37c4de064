"""Which declarations engine/watch/locals/insert.c finds: those of local variables without a value, and of
arrays; nothing else, and no line moves."""

import re

from conftest import Tree, finished

MARKER = '# 1 "kernel.cu"\n'
FOUND = {
    "float a;": ["a"],
    "float a, b = 1, *c;": ["a", "c"],
    "const float *p;": ["p"],
    "unsigned int i; int j = 0;": ["i"],
    "float a[4][4 + 1], b[2] = {0};": ["a", "b"],
    "float a[16] {};": ["a"],
    "std::pair<int, float> p;": ["p"],
    "tile<16, (2 > 1)> t;": ["t"],
    "struct { float a[4]; } s;": ["s"],
    "struct tile t; ::tile u;": ["t", "u"],
    "alignas(16) float a[4]; __attribute__((aligned(8))) float b;": ["a", "b"],
    "volatile int v;": ["v"],
    "if (m) { int a; } else { int b; }": ["a", "b"],
    "for (int i, j = 0; i < 3; i++) { float c; }": ["i", "c"],
    "while (m) { float a; }": ["a"],
    "do { float a; } while (m);": ["a"],
    "switch (m) { case 1: { int a; } default: int b; }": ["a"],
    "{ { double d; } }": ["d"],
}
NOT_FOUND = [
    "float a = 1; int b(2);", "static float a; static __thread float b[4];", "a = b;",
    "a[1] = 2; x.y = z; p->q = 3; *p = 4; f(a); a++;", "return;", "goto out; out: ;", "using t = int;",
    "typedef float f;", "extern float e;", "delete p;", "auto &r = a;", "int (*f)(int);",
    "a < b || c > d; a < b && c > d; a << b; a << b >> c; a >>= b; a == b;", "if (m) x; else y;", "for (;;) break;", "dim3 grid(1, 2);", 'f("int a;");',
    "auto f = [](int i) { return i; };",
]  # fmt: skip


def insert(tree: Tree, text: str) -> tuple[int, str]:
    tree.make_first()
    ran = finished([tree.path / "build/check/insert", "engine/watch/locals/local.h"], tree.path, input=MARKER + text)
    return ran.returncode, ran.stdout


def names(printed: str) -> list[str]:
    return [a or b for a, b in re.findall(
        r"emulator_local_\d+\((\w+),|no_value{\d+u, \"(\w+)\"", printed)]


def test_found(tree: Tree) -> None:
    for body, found in FOUND.items():
        status, printed = insert(tree, f"template <int W> void f(int m)\n{{\n    {body}\n}}\n")
        assert (status, names(printed)) == (0, found), body
        assert printed.endswith("}\n") and printed.partition(MARKER)[2].count("\n") == 4
        assert set(re.findall(r"\"kernel.cu\", (\d+)", printed)) == {"3"}


def test_not_found(tree: Tree) -> None:
    for body in NOT_FOUND:
        assert insert(tree, f"void f(int m)\n{{\n    {body}\n}}\n") == (1, ""), body


def test_only_in_functions_of_the_students_files(tree: Tree) -> None:
    text = '''float outside; enum e { x }; int t[] = {1}; namespace n { void g() { int b; } }
struct s { float member; void f() { int a; } };
struct alignas(16) w { float m[4]; void f(const w &, float o = 1) { int z; } };
# 1 "/usr/include/h.h" 1 3
void h() { int c; }
# 3 "/usr/include/h.h"
void macro() { int y; }
# 7 "kernel.cu" 2
void i() { int d;
# 8 "kernel.cu" 3
 int e
# 8 "kernel.cu"
; }
'''
    status, printed = insert(tree, text)
    assert (status, names(printed)) == (0, ["b", "a", "z", "d", "e"])


def test_what_is_no_program_is_no_reason_to_crash(tree: Tree) -> None:
    for text in ("", "void f() { int", "void f() { for (int i", "{{{{((((", 'R"x(', "void f() { struct {", "# 1 \"",
                 "'", "void f(int x) { x <"):
        assert insert(tree, text)[0] in (0, 1), text
