# SPDX-License-Identifier: BSD-3-Clause
"""What doxygen reads of the Python packages: modules of what users see, without what is private and without bodies.

    python_pages.py OUTPUT

Names are where users import them from, and not in the files that Cython puts together.
"""
import ast
import pathlib
import re
import sys

PACKAGES = pathlib.Path("bindings/python")
SPECIAL = ("__init__", "__call__")  # of those with underscores, what users read of
BLOCK = re.compile(r'^(?P<property> *@property\n)?(?P<indent> *)(?:cdef )?(?P<what>class|def) (?P<name>\w+)'
                   r'(?P<given>(?:\([^()]*(?:\([^()]*\)[^()]*)*\))?):\n(?P<text>\s*"""(?:.|\n)*?"""\n)?', re.M)
TUPLE = re.compile(r'^(\w+) = namedtuple\(.*, "(.*)"\)\n\1\.__doc__ = """((?:.|\n)*?)"""$', re.M)


def signature(given):
    """Arguments without types of C, and without the star in front of keywords, which doxygen takes for a part of one."""
    return re.sub(r"(?<=[(, ])(?:int|Plan) (?=\w)|\*, | not None", "", " ".join(given.split()))


def blocks(text, offered):
    """The classes and functions of a source file that a package offers, with their docstrings."""
    found, inside = [], False
    for block in BLOCK.finditer(text):
        name, indent = block["name"], block["indent"]
        if not indent:
            inside = name in offered
        if not inside or len(indent) > 4 or (indent and name.startswith("_") and name not in SPECIAL):
            continue
        body = block["text"] or ""
        if block["property"]:
            found += ["", *[f"{indent}## {line.strip()}" for line in body.strip().strip('"').splitlines()],
                      f"{indent}{name} = property()"]
        else:
            found += ["", f"{indent}{block['what']} {name}{signature(block['given'])}:", body.rstrip("\n") or f"{indent}    pass"]
    return found


def tuples(text):
    """Named tuples, as classes."""
    return [line for name, fields, doc in TUPLE.findall(text) for line in (
        "", f"class {name}:", f'    """{doc}"""', *[f"    {field} = property()" for field in fields.split()])]


def with_shared_text(path):
    """A module whose docstrings are put together when it is imported, as functions that have them."""
    kept = [node for node in ast.parse(path.read_text()).body
            if isinstance(node, ast.FunctionDef) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))
            or (isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant))]
    module = {}
    exec(compile(ast.Module(kept, []), str(path), "exec"), module)
    functions = [node for node in kept if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]
    return "\n".join(f'def {node.name}({ast.unparse(node.args)}):\n    """{module[node.name].__doc__}"""\n' for node in functions)


def package(name):
    """One module: the docstring of the package and what it offers."""
    folder = PACKAGES / name
    text = (folder / "__init__.py").read_text()
    offered = set(ast.literal_eval(re.search(r"__all__ = (\[(?:.|\n)*?\])", text)[1]))
    lines = [f'"""{ast.get_docstring(ast.parse(text))}"""']
    for path in sorted(folder.glob("*.p*")):
        if path.suffix in (".pxi", ".py") and path.name != "__init__.py":
            source = with_shared_text(path) if path.name == "_functions.py" else path.read_text()
            lines += tuples(source) + blocks(source, offered)
    return lines


for one in ("redist", "fftnd"):
    page = pathlib.Path(sys.argv[1]) / one / "__init__.py"
    page.parent.mkdir(parents=True)
    page.write_text("\n".join(package(one)) + "\n")
