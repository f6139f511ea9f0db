"""A file that was named holds no launch.

## What it does
Says so, as a note, when a file given on the command line by name holds nothing that preflight can judge. In a walk
through folders, and in a hook, such files are passed over without a word.

## Why
A file without findings and a file that nobody could read look alike. Whoever asks about one file should know which it
is.

## Example
`preflight lint Cargo.toml`.

## Fix
None. A TOML file is a launch file when it is called launch.toml or *.launch.toml, or when it names an engine; in
other kinds the command that starts an engine has to be there.

## Source
The form of launch files and settings: preflight's own documentation, `preflight schema launch` and `preflight schema
settings`.
"""

from preflight.diagnostics import NOTE, Rule

META = Rule("CFG012", "no-launch", NOTE)
