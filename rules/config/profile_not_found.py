"""A profile that is named but cannot be found or read.

## What it does
Looks a profile up in the catalogue by name, hub id or alias, then as a path relative to the file that names it.

A path that leads nowhere, or to a file that is no profile, is an error. A bare name that the catalogue does not have
is a note: the model or machine may be perfectly good, preflight just does not know it, and everything that hangs on
it stays unknown.

## Why
Without the facts about the model and the machine no memory figure can be computed. A wrong path would switch all
those checks off without a word.

## Example
```toml bad
engine = "sglang"
engine-version = "0.5.9"
model = { profile = "./profiles/no-such-model.toml" }
```
```toml good
engine = "sglang"
engine-version = "0.5.9"
model = { profile = "llama-3.1-8b" }
```

## Fix
None. `preflight profile list` shows the catalogue, `preflight profile` makes a profile from a model's configuration.

## Source
The form of launch files and settings: preflight's own documentation, `preflight schema launch` and `preflight schema
settings`.
"""

from preflight.diagnostics import ERROR, Rule

META = Rule("CFG005", "profile-not-found", ERROR)
