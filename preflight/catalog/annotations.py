"""Questions about type annotations, asked of their syntax trees."""

from __future__ import annotations

import ast


def annotated(node: ast.expr) -> tuple[ast.expr, list[ast.expr]] | None:
    """Type and metadata of `A[type, meta...]`."""
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("A", "Annotated") and isinstance(node.slice, ast.Tuple):
        return node.slice.elts[0], node.slice.elts[1:]
    return None


def without_optional(kind: ast.expr) -> ast.expr:
    """X of `Optional[X]`, `X | None` and `Union[X, None]`."""
    if isinstance(kind, ast.BinOp) and isinstance(kind.op, ast.BitOr):
        if is_none(kind.right):
            return kind.left
        if is_none(kind.left):
            return kind.right
    if isinstance(kind, ast.Subscript):
        head = ast.unparse(kind.value).rpartition(".")[2]
        if head == "Optional":
            return kind.slice
        if head == "Union" and isinstance(kind.slice, ast.Tuple):
            rest = [element for element in kind.slice.elts if not is_none(element)]
            if len(rest) == 1:
                return rest[0]
    return kind


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_true(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def literal_values(kind: ast.expr) -> tuple[object, ...] | None:
    if isinstance(kind, ast.Subscript) and ast.unparse(kind.value).rpartition(".")[2] == "Literal":
        elements = kind.slice.elts if isinstance(kind.slice, ast.Tuple) else [kind.slice]
        return tuple(element.value for element in elements if isinstance(element, ast.Constant))
    return None


def list_element(kind: ast.expr) -> str | None:
    """The element type's name of a list type; None for any other."""
    if isinstance(kind, ast.Subscript) and ast.unparse(kind.value).rpartition(".")[2] in ("List", "list"):
        return ast.unparse(kind.slice)
    return None
