"""The typer application: every command but `lint`, which is a pass-through here."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from preflight.cli import main
from preflight.version import VERSION

app = typer.Typer(
    name="preflight",
    help="A static linter for the files that launch LLM servers.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
profile = typer.Typer(help="Models and hardware: list, show, and make profiles.", no_args_is_help=True, rich_markup_mode=None)
catalog = typer.Typer(help="The flag history of the engines.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(profile, name="profile")
app.add_typer(catalog, name="catalog")


def run_app(words: Sequence[str]) -> int:
    """Runs a command; the exit code is 0, or 2 where it could not run."""
    try:
        app(args=list(words), prog_name="preflight")
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None) * 2
    return 0


def fail(message: str) -> NoReturn:
    sys.stderr.write(f"preflight: {message}\n")
    raise typer.Exit(2)


def say(text: str) -> None:
    from preflight.report.stream import write

    write(sys.stdout, text if text.endswith("\n") else f"{text}\n")


@app.callback(invoke_without_command=True)
def _top(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        say(f"preflight {VERSION}")
        raise typer.Exit


@app.command(
    "lint",
    help="Check launch files. `preflight lint --help` shows its options.",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def _lint(context: typer.Context) -> None:
    raise typer.Exit(main(["lint", *context.args]))


@app.command("explain")
def explain_command(
    files: Annotated[list[str], typer.Argument(help="Launch files, or - for standard input.")],
    format: Annotated[str, typer.Option("--format", help="text, json or html")] = "text",
    stdin_filename: Annotated[str, typer.Option("--stdin-filename", help="What standard input is taken for.")] = "launch.toml",
) -> None:
    """Show where the memory of each launch goes, setting by setting and row by row."""
    from preflight.explain.command import explain_files

    if format not in ("text", "json", "html"):
        fail(f"{format!r} is no format of explain. Use text, json or html.")
    text, problems = explain_files(files, format, stdin_filename)
    for problem in problems:
        sys.stderr.write(f"preflight: {problem}\n")
    say(text)
    if problems:
        raise typer.Exit(2)


@app.command("calibrate")
def calibrate_command(
    log: Annotated[str, typer.Argument(help="The boot log of a launch.")],
    write: Annotated[str | None, typer.Option("--write", help="The launch file that gets the figures.")] = None,
    line: Annotated[
        int | None, typer.Option("--line", help="A line of the boot that is meant, where the log holds several.")
    ] = None,
) -> None:
    """Print what a boot measured as an [observed] table, or write it into the launch file."""
    from preflight.calibrate.command import calibrate

    answer = calibrate(log, write, line)
    for note in answer.notes:
        sys.stderr.write(f"preflight: {note}\n")
    if answer.text:
        say(answer.text)
    if answer.failed:
        raise typer.Exit(2)


@app.command("diff")
def diff_command(
    a: Annotated[str, typer.Argument(help="A launch file, or the boot log of a launch: the one that works.")],
    b: Annotated[str, typer.Argument(help="Another one.")],
    format: Annotated[str, typer.Option("--format", help="text or json")] = "text",
) -> None:
    """Show what differs between two launches or boots, what it does to memory, and what neither file can show."""
    from preflight.drift.command import diff

    if format not in ("text", "json"):
        fail(f"{format!r} is no format of diff. Use text or json.")
    answer = diff(a, b, format)
    for note in answer.notes:
        sys.stderr.write(f"preflight: {note}\n")
    if answer.failed:
        raise typer.Exit(2)
    say(answer.text)


@app.command("rule")
def rule_command(
    name: Annotated[str | None, typer.Argument(help="A code or a name; without it all rules are listed.")] = None,
    every: Annotated[bool, typer.Option("--all", help="Document all rules.")] = False,
    format: Annotated[str, typer.Option("--format", help="text, markdown or json")] = "text",
) -> None:
    """Explain a rule: what it finds, why, with examples, and where the knowledge comes from."""
    from preflight.explain import rules as documents

    if format not in ("text", "markdown", "json"):
        fail(f"{format!r} is no format of rule. Use text, markdown or json.")
    try:
        say(documents.render(name, every=every, format=format))
    except documents.NoSuchRule as error:
        fail(str(error))


@app.command("schema")
def schema_command(
    name: Annotated[str | None, typer.Argument(help="A schema's name; without it the names are listed.")] = None,
) -> None:
    """Print a JSON Schema: of the launch file, the profiles, the settings, or an output."""
    from preflight.explain.schemas import names, schema_text

    if name is None:
        say("\n".join(names()))
        return
    text = schema_text(name)
    if text is None:
        fail(f"{name!r} is no schema. Use one of: {', '.join(names())}.")
    say(text)


@app.command("init")
def init_command(
    vscode: Annotated[bool, typer.Option("--vscode", help="Print .vscode/tasks.json with the problem matcher.")] = False,
    github: Annotated[bool, typer.Option("--github", help="Print a problem matcher for GitHub workflows.")] = False,
    engine: Annotated[str, typer.Option("--engine", help="sglang or vllm")] = "sglang",
) -> None:
    """Print a launch file to start from, or the set-up of an editor."""
    if vscode or github:
        from preflight.report.matcher import github_matcher, vscode_tasks

        say(vscode_tasks() if vscode else github_matcher())
        return
    from preflight.explain.template import launch_template

    if engine not in ("sglang", "vllm"):
        fail(f"{engine!r} is no engine. Use sglang or vllm.")
    say(launch_template(engine))


@profile.command("list")
def profile_list(
    kind: Annotated[str | None, typer.Argument(help="models or hardware; without it both.")] = None,
) -> None:
    """List the models, GPUs and machines of the catalogue."""
    from preflight.profiles.find import list_hardware, list_models

    if kind not in (None, "models", "hardware", "model"):
        fail(f"{kind!r} is no kind of profile. Use models or hardware.")
    if kind != "hardware":
        say("\n".join(list_models()))
    if kind not in ("models", "model"):
        say("\n".join(list_hardware()))


@profile.command("show")
def profile_show(name: Annotated[str, typer.Argument(help="A model, a GPU, a machine, or a path.")]) -> None:
    """Show what is known of a model or a machine, with its sources."""
    from preflight.explain.profiles import show_profile

    text = show_profile(name, Path.cwd())
    if text is None:
        fail(f"{name!r} is neither in the catalogue nor a profile's path. `preflight profile list` shows the names.")
    say(text)


@profile.command("model")
def profile_model_command(
    path: Annotated[str, typer.Argument(help="A model directory, its config.json, safetensors or a GGUF file.")],
    name: Annotated[str | None, typer.Option("--name", help="Name of the profile.")] = None,
) -> None:
    """Print a profile of a model from its own files, to be committed beside the launch file."""
    from preflight.profiles.commands import profile_model
    from preflight.profiles.results import Broken

    text = profile_model(path, name)
    fail(text.message) if isinstance(text, Broken) else say(text)


@profile.command("hardware")
def profile_hardware_command(
    saved: Annotated[Path | None, typer.Option("--from", help="Saved output of nvidia-smi or rocm-smi.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the profile.")] = None,
    against: Annotated[str | None, typer.Option("--against", help="A declared profile: print the differences instead.")] = None,
) -> None:
    """Print a profile of this machine, or say how it differs from a declared one."""
    from preflight.profiles.commands import differences, profile_hardware
    from preflight.profiles.results import Broken

    text = profile_hardware(saved, name) if against is None else differences(against, saved, Path.cwd())
    fail(text.message) if isinstance(text, Broken) else say(text)


@catalog.command("build")
def catalog_build(
    wheels: Annotated[list[Path], typer.Argument(help="Wheels of the engine, one per release.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.")] = Path("schemas/flags"),
) -> None:
    """Add releases to the flag history, read from their wheels without importing them, and say what they changed."""
    from preflight.catalog.commands import build

    try:
        for line in build(wheels, out):
            say(line)
    except (OSError, ValueError) as error:
        fail(str(error))


@catalog.command("add")
def catalog_add(
    wheel: Annotated[Path, typer.Argument(help="The wheel of one more release.")],
    root: Annotated[Path, typer.Option("--root", help="The repository that will use it.")] = Path(),
) -> None:
    """Add one more release to this repository's own flag history."""
    from preflight.catalog.commands import add

    try:
        say(str(add(wheel, root)))
    except (OSError, ValueError) as error:
        fail(str(error))


@catalog.command("history")
def catalog_history(
    name: Annotated[str | None, typer.Argument(help="A flag, as --tp-size, or an engine function that is mirrored here.")] = None,
) -> None:
    """Show the releases of a flag, or of the forms of an engine function that the rules and formulas follow."""
    from preflight.catalog.commands import history

    lines = history(name, Path.cwd())
    if not lines:
        fail(f"No release has {name}.")
    for line in lines:
        say(line)


@catalog.command("reviewed")
def catalog_reviewed(
    versions: Annotated[list[str], typer.Argument(help="Releases whose mirrored functions have been read.")],
    out: Annotated[Path, typer.Option("--out", help="The folder of the history.")] = Path("schemas/flags"),
) -> None:
    """Note that someone has read a release's mirrored functions, so that its figures count in full."""
    from preflight.catalog.commands import mark_reviewed

    try:
        mark_reviewed(versions, out)
    except (OSError, ValueError) as error:
        fail(str(error))
