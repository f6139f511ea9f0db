"""A file that cannot be read.

## What it does
Reports files that do not exist or may not be opened, that are not UTF-8, or that have more than 10 MB.

## Why
A file that was named and not read must not look like a file without findings. The run ends with exit code 2, whatever
else was found.

## Example
`preflight lint lunch.toml`, where the file is called launch.toml.

## Fix
None: correct the path, or save the file as UTF-8.

## Source
preflight's own documentation, exit codes.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("CFG006", "unreadable-file", ERROR)
