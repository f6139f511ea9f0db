"""A value of the wrong type.

## What it does
Compares each value with the type that its key takes: text, a whole number, an amount of memory, a table. A value of
another type is reported and left out.

## Why
`count = "8"` is a text. Reading it as a number would be a guess, and guesses are how figures go wrong without a word.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
hardware = { gpu = "h200", count = "8" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
hardware = { gpu = "h200", count = 8 }
```

## Fix
Safe where the same value can be written in the right type: quotes are added or taken away. Otherwise none.

## Source
The form of launch files and settings: preflight's own documentation, `preflight schema launch` and `preflight schema
settings`.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("CFG003", "wrong-type", ERROR)
