"""The command-line options that a release of SGLang declares, read from its syntax trees.

Three generations: calls of `add_argument` (0.4.0 to 0.5.12), annotated fields of the dataclass `ServerArgs` (0.5.13
to 0.5.18 or so), and annotated fields of one msgspec struct per namespace (later), each of the last two with calls
for what a field cannot say. All are read from whatever a release holds; no version number is looked at.

Source: sglang `srt/server_args.py`, `srt/arg_groups/arg_utils.py`, `srt/arg_groups/argparse_actions.py`,
`srt/arg_groups/fields/`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from preflight.catalog.annotations import annotated, is_true, list_element, literal_values, without_optional
from preflight.catalog.evaluate import (
    SUPPRESS,
    Evaluator,
    Opaque,
    Scope,
    Unresolved,
    class_assignments,
    local_assignments,
)
from preflight.catalog.source import Module, Source
from preflight.records import NamedTuple

SERVER_ARGS = "sglang/srt/server_args.py"
FIELDS = "sglang/srt/arg_groups/fields/"
ACTIONS = ("sglang/srt/arg_groups/argparse_actions.py", SERVER_ARGS)

STORE, STORE_TRUE, OPTIONAL_BOOLEAN, LORA_PATHS = "store", "store_true", "optional_boolean", "lora_paths"
DEPRECATED, DEPRECATED_TRUE, DEPRECATED_CONST, DEPRECATED_ALIAS = (
    "deprecated",
    "deprecated_store_true",
    "deprecated_store_const",
    "deprecated_alias",
)
_ACTION_CLASSES = {
    "BooleanOptionalAction": OPTIONAL_BOOLEAN,
    "LoRAPathAction": LORA_PATHS,
    "DeprecatedAction": DEPRECATED,
    "DeprecatedStoreTrueAction": DEPRECATED_TRUE,
    "DeprecatedStoreConstAction": DEPRECATED_CONST,
    "DeprecatedAliasStoreAction": DEPRECATED_ALIAS,
}
_KEYED_TYPES = {"parse_cuda_graph_config_arg": ("sglang/srt/model_executor/cuda_graph_config.py", "ALLOWED_KEYS_PER_PHASE")}
_NO_VALUE = {STORE_TRUE, OPTIONAL_BOOLEAN, DEPRECATED, DEPRECATED_TRUE, DEPRECATED_CONST}
_TYPES = {"json.loads": "json", "json_list_type": "json_list"}
_SCALARS = {"str", "int", "float"}


class Declared(NamedTuple):
    """One option of one release.

    `nargs` is argparse's: None (one value), 0, "?", "*", "+" or a number. `type` names the conversion of each value;
    "str" is no conversion. `default` is what the namespace holds without the option; SUPPRESS: nothing. `field` is
    the attribute of ServerArgs when it is not `dest`. `fails`: using it stops the launch. `keys`: what a JSON object
    may hold, by its first key.
    """

    spellings: tuple[str, ...]
    dest: str
    action: str = STORE
    type: str = "str"
    nargs: str | int | None = None
    choices: tuple[object, ...] | None = None
    default: object = None
    const: object = None
    required: bool = False
    hidden: bool = False
    deprecated: bool = False
    fails: bool = False
    field: str | None = None
    fallback: object = None
    keys: dict[str, list[object]] | None = None


def read_flags(source: Source) -> list[Declared]:
    """Every option of the release's server, fields before calls. Raises ValueError where none is found."""
    module = source.module(SERVER_ARGS)
    if module is None:
        raise ValueError(f"no {SERVER_ARGS} that parses")
    # Not by name: a later line may bind the name again, to the class made of the namespaces.
    body = next((node for node in module.tree.body if isinstance(node, ast.ClassDef) and node.name == "ServerArgs"), None)
    if body is None:
        raise ValueError(f"no class ServerArgs in {SERVER_ARGS}")
    reader = _Reader(source, module, body)
    flags = [*reader.from_fields(), *reader.from_calls()]
    if not flags:
        raise ValueError(f"no options declared in {SERVER_ARGS}")
    return flags


class _Reader:
    def __init__(self, source: Source, module: Module, server_args: ast.ClassDef) -> None:
        self.source = source
        self.module = module
        self.server_args = server_args
        self.fields = list(_fields(source, module, server_args))
        self.defaults = {name: (owner, node.value) for owner, name, node in self.fields if node.value is not None}
        self.evaluator = Evaluator(source, {"_declared_default": lambda arguments: self._default_of(str(arguments[0]))})

    def _default_of(self, field: str) -> object:
        if field not in self.defaults:
            raise Unresolved(field)
        owner, node = self.defaults[field]
        assert node is not None
        return self.evaluator.value(node, owner)

    def _value(self, node: ast.expr, module: Module, scope: Scope) -> object:
        """Like the evaluator, and `ServerArgs.field` is the field's default."""
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ServerArgs":
            try:
                return self._default_of(node.attr)
            except Unresolved:
                return Opaque(ast.unparse(node))
        try:
            return self.evaluator.value(node, module, scope)
        except Unresolved:
            return Opaque(ast.unparse(node))

    # -- fields
    # ---------------------------------------------------------------------------------------------------------

    def from_fields(self) -> Iterator[Declared]:
        for owner, name, node in self.fields:
            parts = annotated(node.annotation)
            if parts is None:
                continue
            kind, metas = parts
            meta = self._meta(metas, owner)
            if meta is not None and not is_true(meta.get("no_cli")):
                yield self._from_field(owner, name, kind, meta)

    def _meta(self, metas: list[ast.expr], owner: Module) -> dict[str, ast.expr] | None:
        """The keywords of the first `Arg(...)` or help text; None where there is neither, so that the field is no
        option.
        """
        for meta in metas:
            if isinstance(meta, ast.Call) and ast.unparse(meta.func).rpartition(".")[2] == "Arg":
                return {keyword.arg: keyword.value for keyword in meta.keywords if keyword.arg}
            if isinstance(meta, ast.Call):
                continue
            if isinstance(self._value(meta, owner, {}), str):
                return {"help": meta}
        return None

    def _from_field(self, owner: Module, name: str, kind: ast.expr, meta: dict[str, ast.expr]) -> Declared:
        given = {
            key: self._value(node, owner, {})
            for key, node in meta.items()
            if key not in ("type_parser", "action", "action_kwargs")
        }
        spelling = given.get("cli_name")
        aliases = given.get("aliases")
        spellings = [spelling if isinstance(spelling, str) else "--" + name.replace("_", "-")]
        spellings += [str(alias) for alias in aliases] if isinstance(aliases, list) else []
        default = self._value(self.defaults[name][1] or ast.Constant(None), owner, {}) if name in self.defaults else None
        flag = Declared(
            tuple(spellings),
            name,
            default=default,
            required=name not in self.defaults and given.get("required") is not False,
            const=given.get("const"),
            fallback=given.get("fallback"),
            hidden=given.get("help") == SUPPRESS,
            deprecated=_says_deprecated(given.get("help")),
        )
        if "action" in meta:
            keywords: dict[str, ast.expr] = {"action": meta["action"]}
            extra = meta.get("action_kwargs")
            if isinstance(extra, ast.Dict):
                keywords |= {
                    str(key.value): node
                    for key, node in zip(extra.keys, extra.values, strict=True)
                    if isinstance(key, ast.Constant)
                }
            return self._with_keywords(flag, keywords, owner, {})
        return self._with_kind(flag, kind, meta, given, owner)

    def _with_kind(
        self, flag: Declared, kind: ast.expr, meta: dict[str, ast.expr], given: dict[str, object], owner: Module
    ) -> Declared:
        """The conversion, arity and choices that follow from a field's type, in the order of
        `add_cli_args_from_dataclass`.
        """
        kind = without_optional(self._named_type(kind, owner))
        parser = _type_name(meta["type_parser"]) if "type_parser" in meta else None
        choices = _tuple(given.get("choices"))
        nargs = given.get("nargs")
        arity = nargs if isinstance(nargs, (str, int)) else None
        literals = literal_values(kind)
        if literals is not None:
            inferred = type(literals[0]).__name__ if literals else "str"
            return flag._replace(type=parser or _scalar(inferred), choices=choices or literals, required=False)
        element = list_element(kind)
        if element is not None and parser is None:
            return flag._replace(type=_scalar(element), nargs=arity or "+", choices=choices, required=False)
        if ast.unparse(kind) == "bool":
            return flag._replace(action=STORE_TRUE, type="str", nargs=0, const=True, required=False)
        return flag._replace(type=parser or _scalar(ast.unparse(kind)), nargs=arity, choices=choices, keys=self._keys(parser))

    def _keys(self, parser: str | None) -> dict[str, list[object]] | None:
        path, name = _KEYED_TYPES.get(parser or "", ("", ""))
        module = self.source.module(path) if path else None
        if module is None:
            return None
        try:
            found = self.evaluator.name(name, module, {})
        except Unresolved:
            return None
        return {str(key): value for key, value in found.items() if isinstance(value, list)} if isinstance(found, dict) else None

    def _named_type(self, kind: ast.expr, owner: Module) -> ast.expr:
        """`kind`, or what a name for a type stands for."""
        bound = owner.bindings.get(kind.id) if isinstance(kind, ast.Name) else None
        if isinstance(bound, ast.Assign) and isinstance(bound.value, ast.Subscript):
            return bound.value
        return kind

    # -- calls
    # ----------------------------------------------------------------------------------------------------------

    def from_calls(self) -> Iterator[Declared]:
        function = next((n for n in self.server_args.body if isinstance(n, ast.FunctionDef) and n.name == "add_cli_args"), None)
        if function is None:
            return
        scope = local_assignments(function)
        copied = _copied_fields(self.server_args)
        for node in ast.walk(function):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add_argument":
                yield self._from_call(node, scope, copied)

    def _from_call(self, call: ast.Call, scope: Scope, copied: dict[str, str]) -> Declared:
        spellings = [str(self._value(argument, self.module, scope)) for argument in call.args]
        keywords = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        long = next((spelling for spelling in spellings if spelling.startswith("--")), spellings[0])
        dest = long.lstrip("-").replace("-", "_")
        if "dest" in keywords:
            dest = str(self._value(keywords["dest"], self.module, scope))
        return self._with_keywords(Declared(tuple(spellings), dest, field=copied.get(dest)), keywords, self.module, scope)

    def _with_keywords(self, flag: Declared, keywords: dict[str, ast.expr], module: Module, scope: Scope) -> Declared:
        """`flag` with what the keywords of an `add_argument` call say."""
        action = self._action(keywords.get("action"))
        said = {key: self._value(node, module, scope) for key, node in keywords.items() if key not in ("action", "type")}
        nargs = said.get("nargs", self._arity_of(action))
        flag = flag._replace(
            action=action,
            type=_type_name(keywords["type"]) if "type" in keywords else "str",
            nargs=nargs if isinstance(nargs, (str, int)) else None,
            choices=_tuple(said.get("choices")),
            required=flag.required if "required" not in said else said["required"] is True,
            hidden=flag.hidden or said.get("help") == SUPPRESS,
            deprecated=flag.deprecated or action.startswith("deprecated") or _says_deprecated(said.get("help")),
        )
        if "default" in said:
            flag = flag._replace(default=said["default"])
        elif action in (STORE_TRUE, DEPRECATED_TRUE) and flag.default is None:
            flag = flag._replace(default=False)
        if action in (STORE_TRUE, DEPRECATED_TRUE):
            flag = flag._replace(const=True)
        elif "const" in said or "const_value" in said:
            flag = flag._replace(const=said.get("const_value", said.get("const")))
        if action == OPTIONAL_BOOLEAN:
            negative = ["--no-" + spelling[2:] for spelling in flag.spellings if spelling.startswith("--")]
            flag = flag._replace(spellings=(*flag.spellings, *negative))
        if action == LORA_PATHS:
            bound = self._action_class("LoRAPathAction")
            if bound is not None and "json.loads" in ast.unparse(bound):  # since 0.5; before, it is a path as any
                flag = flag._replace(keys={"item": ["lora_name", "lora_path"]})
        if action == DEPRECATED:
            flag = flag._replace(fails="error_message" in said or self._always_raises())
        return flag

    def _action(self, node: ast.expr | None) -> str:
        if node is None:
            return STORE
        if isinstance(node, ast.Constant):
            return str(node.value)
        name = ast.unparse(node).rpartition(".")[2]
        return _ACTION_CLASSES.get(name, name)

    def _arity_of(self, action: str) -> int | None:
        """nargs where the call gives none: 0 for a switch, and for an action class whose constructor says so."""
        if action in _NO_VALUE:
            return 0
        bound = self._action_class(action)
        for node in bound.body if bound is not None else ():
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                given = zip(reversed(node.args.args), reversed(node.args.defaults), strict=False)
                defaults = {argument.arg: default for argument, default in given}
                nargs = defaults.get("nargs")
                return 0 if isinstance(nargs, ast.Constant) and nargs.value == 0 else None
        return None

    def _action_class(self, name: str) -> ast.ClassDef | None:
        for path in ACTIONS:
            module = self.source.module(path)
            bound = module.bindings.get(name) if module is not None else None
            if isinstance(bound, ast.ClassDef):
                return bound
        return None

    def _always_raises(self) -> bool:
        """Whether this release's `DeprecatedAction` raises, as the first ones did, in place of warning."""
        bound = self._action_class("DeprecatedAction")
        for node in bound.body if bound is not None else ():
            if isinstance(node, ast.FunctionDef) and node.name == "__call__":
                return any(isinstance(statement, ast.Raise) for statement in node.body)
        return False


def _fields(source: Source, module: Module, server_args: ast.ClassDef) -> Iterator[tuple[Module, str, ast.AnnAssign]]:
    """The fields of ServerArgs with the module each stands in; a field declared twice has its first place and last
    form.
    """
    found: dict[str, tuple[Module, ast.AnnAssign]] = {}
    owners = [(module, server_args)]
    for path in source.paths(".py"):
        if path.startswith(FIELDS):
            part = source.module(path)
            if part is not None:
                owners += [
                    (part, n) for n in part.tree.body if isinstance(n, ast.ClassDef) and "_NS_PATH" in class_assignments(n)
                ]
    for owner, node in owners:
        for statement in node.body:
            if not isinstance(statement, ast.AnnAssign) or not isinstance(statement.target, ast.Name):
                continue
            if not ast.unparse(statement.annotation).startswith("ClassVar"):
                found[statement.target.id] = (owner, statement)
    for name, (owner, statement) in found.items():
        yield owner, name, statement


def _scalar(name: str) -> str:
    return name if name in _SCALARS else "str"


def _type_name(node: ast.expr) -> str:
    spelled = ast.unparse(node)
    return _TYPES.get(spelled, spelled.rpartition(".")[2])


def _tuple(value: object) -> tuple[object, ...] | None:
    """Choices as a tuple; None where there are none, or not all of them can be told."""
    if not isinstance(value, list) or not value or any(isinstance(item, Opaque) for item in value):
        return None
    return tuple(value)


def _says_deprecated(text: object) -> bool:
    """Whether a help text opens with the word: further on, it speaks of something else (a variable, another flag)."""
    return isinstance(text, str) and text.lstrip(" ([").lower().startswith("deprecat")


def _copied_fields(server_args: ast.ClassDef) -> dict[str, str]:
    """dest to field where `from_cli_args` copies one to the other (`args.tp_size = args.tensor_parallel_size`)."""
    out: dict[str, str] = {}
    for node in ast.walk(server_args):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1:
            continue
        target, value = node.targets[0], node.value
        if (
            isinstance(target, ast.Attribute)
            and isinstance(value, ast.Attribute)
            and {ast.unparse(target.value), ast.unparse(value.value)} == {"args"}
        ):
            out[value.attr] = target.attr
    return out
