"""The keys of a launch file and of the project settings: what each one takes. The JSON Schemas are made from this table."""

from preflight.records import NamedTuple

ENGINES = ("sglang", "vllm")

TEXT, TEXTS, QUANTITY, COUNT, CHOICE, CAPABILITY, TABLE = (
    "string",
    "strings",
    "quantity",
    "count",
    "choice",
    "capability",
    "table",
)


class Key(NamedTuple):
    """One key. `least` bounds a count; `per_rank` says that a list with one value per rank is taken as well."""

    kind: str
    text: str
    least: int = 0
    choices: tuple[str, ...] = ()
    per_rank: bool = False


Keys = dict[str, Key]

HARDWARE: Keys = {
    "profile": Key(TEXT, "A machine of the catalogue, such as 8x-h200, or the path of a profile. The other keys override it."),
    "gpu": Key(TEXT, "The GPU model, as the catalogue or nvidia-smi names it."),
    "count": Key(COUNT, "GPUs per node.", 1),
    "nodes": Key(COUNT, "Nodes that this launch spans.", 1),
    "memory": Key(QUANTITY, 'Total memory of one GPU as nvidia-smi reports it, with its unit: "97887 MiB".', 1),
    "memory-cuda": Key(QUANTITY, "Total memory of one GPU as the CUDA runtime reports it, with its unit: a little less.", 1),
    "interconnect": Key(
        CHOICE,
        "How the GPUs of a node are joined.",
        choices=("nvlink", "nvlink-pairs", "pcie", "unified"),
    ),
    "compute-capability": Key(CAPABILITY, 'The CUDA compute capability: "9.0" for Hopper, "12.0" for RTX Blackwell.'),
    "driver": Key(TEXT, 'The version of the NVIDIA driver: "580.95.05".'),
    "cuda": Key(TEXT, 'The CUDA version: "12.9".'),
    "host-memory": Key(QUANTITY, "Main memory of one node, with its unit.", 1),
}

MODEL: Keys = {
    "profile": Key(TEXT, "A model of the catalogue, its hub id, or the path of a profile, a model directory or its config.json."),
    "draft": Key(TEXT, "The draft model for speculative decoding, named like the profile."),
}

OBSERVED: Keys = {
    "free-before-load": Key(QUANTITY, "Free GPU memory before the weights were loaded, from a boot log.", per_rank=True),
    "free-after-load": Key(QUANTITY, "Free GPU memory after the weights were loaded, from a boot log.", per_rank=True),
    "weights": Key(QUANTITY, "What loading the weights took of one GPU's memory.", per_rank=True),
    "draft-weights": Key(QUANTITY, "What loading the draft model took of one GPU's memory.", per_rank=True),
    "kv-tokens": Key(COUNT, "Tokens of KV cache that the log states.", per_rank=True),
    "kv-cache": Key(QUANTITY, "GPU memory of the KV cache that the log states.", per_rank=True),
    "graphs": Key(QUANTITY, "GPU memory that capturing CUDA graphs took.", per_rank=True),
    "activations": Key(QUANTITY, "Peak GPU memory of activations that the log states.", per_rank=True),
    "engine-version": Key(TEXT, "The engine version that wrote the log. Figures of another version are not used."),
}

EXPECT: Keys = {
    "kv-tokens": Key(COUNT, "Tokens of KV cache that this launch has to have.", 1),
    "context-length": Key(COUNT, "Tokens of one request that has to fit.", 1),
    "concurrent-requests": Key(COUNT, "Requests of that context length that have to fit, and run, at once.", 1),
}

BASELINE: Keys = {
    "log": Key(TEXT, "The boot log of a launch that worked, as a path relative to this file. Drift from it is reported."),
}

TABLES: dict[str, Keys] = {
    "hardware": HARDWARE,
    "model": MODEL,
    "observed": OBSERVED,
    "expect": EXPECT,
    "baseline": BASELINE,
}
"""The tables whose keys are known. Those of [flags] are the engine's, those of [env] anybody's."""

LAUNCH: Keys = {
    "engine": Key(CHOICE, "The engine that is launched.", choices=ENGINES),
    "engine-version": Key(TEXT, 'The version of the engine: "0.5.9". Without it, every version that the project allows.'),
    "name": Key(TEXT, "What this launch is called in reports."),
    "hardware": Key(TABLE, "The machine. What is not given is unknown, never assumed."),
    "model": Key(TABLE, "Where the facts about the model's memory come from."),
    "flags": Key(
        TABLE,
        "The command line, a key for each flag, without dashes. true is a bare switch, an array several values.",
    ),
    "env": Key(TABLE, "Environment variables of the engine."),
    "observed": Key(TABLE, "Figures from a boot log. They replace estimates. A list gives one value per rank."),
    "expect": Key(TABLE, "What the launch has to hold."),
    "baseline": Key(TABLE, "The launch to compare with."),
}
"""Top-level keys, and those of one [[launch]]."""

SETTINGS: Keys = {
    "engine-version": Key(TEXT, 'The engine versions that the project runs, where a file does not say: "0.5.9" or ">=0.5.9".'),
    "select": Key(TEXTS, "The only rules that are run: codes, prefixes of codes, or names."),
    "extend-select": Key(TEXTS, "Rules that are run besides those selected."),
    "ignore": Key(TEXTS, "Rules that are not reported: codes, prefixes of codes, or names."),
    "exclude": Key(TEXTS, "Files and folders that a walk leaves out, as patterns relative to this file."),
    "fail-on": Key(CHOICE, "The least severity that makes the exit code 1.", choices=("error", "warning", "never")),
    "hardware": Key(TABLE, "The machine of every launch. Later tables and the linted file's own win, key by key."),
    "model": Key(TABLE, "The model of every launch."),
    "observed": Key(TABLE, "Figures from a boot log, for every launch."),
    "expect": Key(TABLE, "What every launch has to hold."),
    "files": Key(TABLE, "Context of some files: a table for each pattern, relative to this file. Later ones win, key by key."),
}
"""Keys of preflight.toml, and of [tool.preflight] in pyproject.toml."""

FILES: Keys = {name: SETTINGS[name] for name in ("engine-version", "ignore", "hardware", "model", "observed", "expect")}
"""Keys of one [files."pattern"]."""
