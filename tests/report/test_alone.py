"""Words are made of a record alone: engine/report/ needs nothing else of this repository."""

from conftest import Tree, finished, need


def test_words_need_nothing_else(tree: Tree) -> None:
    """No runtime, no names, no source of a kernel: tests of records need the library of this folder alone."""
    tree.make("build/libreport.a")
    built = finished([need("cc"), "-std=c11", "-pthread", "-I.", "tests/report/test_record.c", "-Wl,-z,muldefs",
                      "build/libreport.a", "-o", "build/alone", "-lm"], tree.path)
    assert built.returncode == 0, built.stderr
