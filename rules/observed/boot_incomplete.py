"""A log ends before the server was ready.

## What it does
Says so, as a note, when a boot shows neither a failure nor a server that is ready: the log was cut, the process was killed
without a word, or the next boot follows.

## Why
A log without an error and a log without its end look alike.

## Example
`preflight lint boot.log`, where the last line is "Load weight begin".

## Fix
None. `dmesg | grep -i oom` shows whether the kernel ended the process; the exit code of a container does too (137).

## Source
preflight's own documentation.
"""

from preflight.diagnostics import NOTE, Rule

META = Rule("OBS011", "boot-incomplete", NOTE)
