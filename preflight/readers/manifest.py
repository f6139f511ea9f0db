"""YAML files: which kind each document is, and its launches."""

from __future__ import annotations

from collections.abc import Iterator

from preflight.launch import LaunchSite, Reading
from preflight.readers.pods import Service, services
from preflight.readers.shell import Context, distinct
from preflight.readers.yamltree import Mapping, Node, Tree
from preflight.text import VERBATIM, Document, Text


def read(document: Document) -> Reading:
    text = Text.of(document, 0, len(document.text), VERBATIM)
    assert text is not None  # the layer that changes nothing reads everything
    context = Context(document, "yaml")
    tree = Tree(text)
    if tree.problem is not None and ("{{" in document.text or "{%" in document.text):
        from preflight.readers import template

        return template.read(document)
    sites = tuple(distinct(tree_sites(tree, context)))
    problems = (tree.problem,) if tree.problem is not None else ()
    return Reading(sites, problems)


def text_sites(text: Text, context: Context) -> Iterator[LaunchSite]:
    """The launches of a YAML text inside another file."""
    yield from tree_sites(Tree(text), context)


def tree_sites(tree: Tree, context: Context) -> Iterator[LaunchSite]:
    known = services(tree.documents) if len(tree.documents) > 1 else ()
    for root in tree.documents:
        yield from _document(root, context, known)


def _document(root: Node, context: Context, known: tuple[Service, ...]) -> Iterator[LaunchSite]:
    if isinstance(root, Mapping) and isinstance(root.get("services"), Mapping) and root.get("apiVersion") is None:
        from preflight.readers.compose import compose_sites

        yield from compose_sites(root, context)
        return
    from preflight.readers.kubernetes import walk

    yield from walk(root, context, known)
