"""Reading models from files: exact bytes from headers, and one clear error for every hostile file."""

import json
import os
import resource
import struct
import time
from pathlib import Path

import pytest

from preflight.model.importing.errors import BadModel
from preflight.model.importing.files import import_model
from preflight.model.types import Model, Parallel
from preflight.model.weights import total, weight_rows
from preflight.profiles.find import find_model
from preflight.profiles.results import Broken

GIB = 1 << 30
BYTES = {"BF16": 2, "F32": 4, "I32": 4, "I64": 8, "F8_E4M3": 1, "U8": 1}
SMALL = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "vocab_size": 256,
    "max_position_embeddings": 512,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}

Shapes = dict[str, tuple[str, list[int]]]


def header(shapes: Shapes) -> bytes:
    """A safetensors header (without data) for these tensors."""
    entries: dict[str, object] = {"__metadata__": {"format": "pt"}}
    at = 0
    for name, (dtype, shape) in shapes.items():
        size = BYTES[dtype]
        for extent in shape:
            size *= extent
        entries[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}
        at += size
    text = json.dumps(entries).encode()
    return struct.pack("<Q", len(text)) + text


def small_shapes() -> Shapes:
    shapes: Shapes = {"model.embed_tokens.weight": ("BF16", [256, 64]), "lm_head.weight": ("BF16", [256, 64])}
    for layer in range(2):
        at = f"model.layers.{layer}."
        shapes[at + "self_attn.q_proj.weight"] = ("BF16", [64, 64])
        shapes[at + "self_attn.k_proj.weight"] = ("BF16", [32, 64])
        shapes[at + "self_attn.v_proj.weight"] = ("BF16", [32, 64])
        shapes[at + "self_attn.o_proj.weight"] = ("BF16", [64, 64])
        for name, shape in (("gate", [128, 64]), ("up", [128, 64]), ("down", [64, 128])):
            shapes[at + f"mlp.{name}_proj.weight"] = ("BF16", shape)
        shapes[at + "input_layernorm.weight"] = ("BF16", [64])
        shapes[at + "post_attention_layernorm.weight"] = ("BF16", [64])
    shapes["model.norm.weight"] = ("BF16", [64])
    return shapes


def directory(folder: Path, config: dict[str, object], files: dict[str, bytes]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def loaded(model: Model, parallel: Parallel) -> int:
    rows = weight_rows(model, parallel)
    assert rows is not None
    return total(rows)


@pytest.mark.parametrize("tp", [1, 2, 4])
def test_headers_and_configuration_agree(tp: int, tmp_path: Path) -> None:
    by_header = import_model(str(directory(tmp_path / "a", SMALL, {"model.safetensors": header(small_shapes())})))
    by_config = import_model(str(directory(tmp_path / "b", SMALL, {})))
    assert loaded(by_header, Parallel(tp=tp)) == loaded(by_config, Parallel(tp=tp))
    assert dict(by_header.source)["weights"] == "headers of 1 safetensors files"


def kimi_shapes() -> Shapes:
    """Kimi-K2.5 INT4 with the experts of a layer as one tensor, so that the test stays quick."""
    hidden, heads, inner, experts = 7168, 64, 2048, 384
    shapes: Shapes = {
        "language_model.model.embed_tokens.weight": ("BF16", [163840, hidden]),
        "language_model.lm_head.weight": ("BF16", [163840, hidden]),
        "language_model.model.norm.weight": ("BF16", [hidden]),
        "vision_tower.patch_embed.proj.weight": ("BF16", [1152, 3 * 14 * 14]),
        "vision_tower.patch_embed.pos_emb.weight": ("BF16", [64, 64, 1152]),
        "mm_projector.proj.0.weight": ("BF16", [4608, 4608]),
        "mm_projector.proj.2.weight": ("BF16", [hidden, 4608]),
    }
    for block in range(27):
        at = f"vision_tower.encoder.blocks.{block}."
        shapes[at + "wqkv.weight"] = ("BF16", [3 * 1152, 1152])
        shapes[at + "wo.weight"] = ("BF16", [1152, 1152])
        shapes[at + "mlp.fc0.weight"] = ("BF16", [4304, 1152])
        shapes[at + "mlp.fc1.weight"] = ("BF16", [1152, 4304])
    for layer in range(61):
        at = f"language_model.model.layers.{layer}."
        attention = {
            "q_a_proj": [1536, hidden], "kv_a_proj_with_mqa": [576, hidden], "q_b_proj": [heads * 192, 1536],
            "kv_b_proj": [heads * 256, 512], "o_proj": [hidden, heads * 128],
        }  # fmt: skip
        shapes.update({f"{at}self_attn.{name}.weight": ("BF16", shape) for name, shape in attention.items()})
        if layer == 0:
            shapes.update({f"{at}mlp.{name}_proj.weight": ("BF16", [18432, hidden]) for name in ("gate", "up", "down")})
            continue
        for name in ("gate", "up", "down"):
            shapes[f"{at}mlp.experts.{name}_proj.weight_packed"] = ("I32", [experts, inner, hidden // 8])
            shapes[f"{at}mlp.experts.{name}_proj.weight_scale"] = ("BF16", [experts, inner, hidden // 32])
            shapes[f"{at}mlp.shared_experts.{name}_proj.weight"] = ("BF16", [inner, hidden])
        shapes[at + "mlp.gate.weight"] = ("BF16", [experts, hidden])
        shapes[at + "mlp.gate.e_score_correction_bias"] = ("F32", [experts])
    return shapes


def test_kimi_from_headers_is_kimi_from_its_configuration(tmp_path: Path) -> None:
    import tomli

    import preflight.profiles.find

    source = Path(preflight.profiles.find.__file__).parent / "models" / "kimi-k2.5-int4.toml"
    config = tomli.loads(source.read_text())["config"]
    folder = directory(tmp_path / "kimi", config, {"model.safetensors": header(kimi_shapes())})
    assert loaded(import_model(str(folder)), Parallel(tp=8)) / GIB == pytest.approx(71.713, abs=0.01)
    (folder / "model.safetensors").unlink()
    assert loaded(import_model(str(folder)), Parallel(tp=8)) / GIB == pytest.approx(71.713, abs=0.001)


def test_a_thousand_shards_answer_in_a_second(tmp_path: Path) -> None:
    shards, weight_map = {}, {}
    for shard in range(1000):
        name = f"model-{shard:05}-of-01000.safetensors"
        tensors: Shapes = {
            f"model.layers.{shard % 2}.mlp.experts.{shard}.{part}.weight{kind}": ("BF16", [16, 16])
            for part in ("gate_proj", "up_proj", "down_proj")
            for kind in ("", "_scale", "_packed")
        }
        shards[name] = header(tensors)
        weight_map.update(dict.fromkeys(tensors, name))
    index = json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}).encode()
    folder = directory(tmp_path / "many", SMALL, {**shards, "model.safetensors.index.json": index})
    before, started = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    model = import_model(str(folder))
    assert time.process_time() - started < 1.0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200_000  # KiB
    assert loaded(model, Parallel()) == 1000 * 9 * 512


HOSTILE = {
    "truncated": (b"\x10\x00", "ends before its header"),
    "longer than the file": (struct.pack("<Q", 1000) + b"{}", "states a header of 1000 bytes in a file of 10"),
    "2^63": (struct.pack("<Q", 1 << 63) + b"{}", "states a header of 9223372036854775808 bytes"),
    "not JSON": (struct.pack("<Q", 4) + b"nope", "is not JSON"),
    "a list": (struct.pack("<Q", 2) + b"[]", "is not a table"),
    "deep": (struct.pack("<Q", 200_000) + b"[" * 200_000, "nested too deeply"),
    "overlapping": (
        (lambda text: struct.pack("<Q", len(text)) + text)(
            b'{"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]},'
            b' "b": {"dtype": "U8", "shape": [4], "data_offsets": [2, 6]}}'
        ),
        "overlaps that of a",
    ),
    "wrong size": (
        (lambda text: struct.pack("<Q", len(text)) + text)(b'{"a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 9]}}'),
        "contradicts itself",
    ),
    "negative": (
        (lambda text: struct.pack("<Q", len(text)) + text)(b'{"a": {"dtype": "U8", "shape": [-4], "data_offsets": [0, 4]}}'),
        "contradicts itself",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_header_gives_one_clear_error(case: str, tmp_path: Path) -> None:
    data, says = HOSTILE[case]
    folder = directory(tmp_path / "bad", SMALL, {"model.safetensors": data})
    with pytest.raises(BadModel, match=says):
        import_model(str(folder))
    found = find_model("./bad", tmp_path)
    assert isinstance(found, Broken)
    assert says in found.message


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "is not JSON"),
        ("[]", "does not hold a JSON object"),
        ('{"a": ' * 100_000, "nested too deeply"),
        ("\udcff", "is not JSON"),
    ],
)
def test_a_hostile_configuration_gives_one_clear_error(text: str, says: str, tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    (folder / "config.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadModel, match=says):
        import_model(str(folder))


def test_a_loop_of_links_gives_one_clear_error(tmp_path: Path) -> None:
    folder = directory(tmp_path / "bad", SMALL, {})
    os.symlink(folder / "model.safetensors", folder / "model.safetensors")
    with pytest.raises(BadModel, match="cannot be read"):
        import_model(str(folder))
    os.symlink(tmp_path / "loop", tmp_path / "loop")
    assert isinstance(find_model("./loop", tmp_path), Broken)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd"])
def test_an_index_may_not_leave_its_directory(name: str, tmp_path: Path) -> None:
    index = json.dumps({"weight_map": {"a": name}}).encode()
    folder = directory(tmp_path / "bad", SMALL, {"model.safetensors.index.json": index})
    with pytest.raises(BadModel, match="outside its directory"):
        import_model(str(folder))


def test_absurd_figures_stay_unknown(tmp_path: Path) -> None:
    absurd = {**SMALL, "num_hidden_layers": 1 << 40, "hidden_size": "wide", "quantization_config": {"quant_method": "?"}}
    model = import_model(str(directory(tmp_path / "odd", absurd, {})))
    assert model.components is None
    assert model.missing


def test_an_unknown_architecture_keeps_its_cache_and_names_what_is_missing(tmp_path: Path) -> None:
    config = {**SMALL, "architectures": ["NewForCausalLM"], "model_type": "new"}
    del config["intermediate_size"]
    model = import_model(str(directory(tmp_path / "new", config, {})))
    assert model.attention is not None
    assert (model.components, model.missing) == (None, ("intermediate_size",))


def test_pointers_in_place_of_shards_leave_the_arithmetic(tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    model = import_model(str(directory(tmp_path / "lfs", SMALL, {"model.safetensors": pointer})))
    assert dict(model.source)["weights"].startswith("arithmetic")


def test_an_index_whose_total_contradicts_the_arithmetic_makes_the_weights_unknown(tmp_path: Path) -> None:
    index = json.dumps({"metadata": {"total_size": 10**9}, "weight_map": {"a": "model-1.safetensors"}}).encode()
    model = import_model(str(directory(tmp_path / "x", SMALL, {"model.safetensors.index.json": index})))
    assert model.components is None
    assert "the index counts 0.9 GiB" in model.missing[0]


def gguf(entries: dict[str, object], tensors: list[tuple[str, list[int], int]]) -> bytes:
    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries))
    for key, value in entries.items():
        out += text(key)
        if isinstance(value, str):
            out += struct.pack("<I", 8) + text(value)
        elif isinstance(value, list):
            out += struct.pack("<IIQ", 9, 8, len(value)) + b"".join(text(entry) for entry in value)
        else:
            out += struct.pack("<II", 4, value)
    for name, shape, kind in tensors:
        out += text(name) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, 0)
    return out


def test_a_gguf_header_gives_geometry_and_exact_bytes(tmp_path: Path) -> None:
    entries: dict[str, object] = {
        "general.architecture": "llama", "llama.block_count": 2, "llama.embedding_length": 64,
        "llama.feed_forward_length": 128, "llama.attention.head_count": 4, "llama.attention.head_count_kv": 2,
        "llama.context_length": 512, "tokenizer.ggml.tokens": [f"t{number}" for number in range(5120)],
    }  # fmt: skip
    tensors = [("token_embd.weight", [64, 5120], 1), ("output.weight", [64, 5120], 14)]
    tensors += [(f"blk.{layer}.attn_k.weight", [64, 32], 12) for layer in range(2)]
    tensors += [(f"blk.{layer}.ffn_down.weight", [256, 64], 12) for layer in range(2)]
    (tmp_path / "m.gguf").write_bytes(gguf(entries, tensors))
    found = find_model("./m.gguf", tmp_path)
    assert isinstance(found, Model), found
    assert (found.layers, found.kv_heads, found.head_dim, found.vocab_size) == (2, 2, 16, 5120)
    rows = weight_rows(found, Parallel())
    assert rows is not None
    by_name = {row.name: row.bytes_expected for row in rows}
    assert by_name["embedding"] == 64 * 5120 * 2
    assert by_name["lm_head"] == 64 * 5120 // 256 * 210
    assert by_name["attention k, v"] == 2 * (64 * 32 // 256 * 144)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"GGUF", "where the file ends"),
        (b"nope" * 10, "does not start as a GGUF file"),
        (b"GGUF" + struct.pack("<IQQ", 3, 1 << 63, 0), "states 9223372036854775808 tensors"),
        (b"GGUF" + struct.pack("<IQQQ", 3, 0, 1, 1 << 63) + b"x" * 40, "where the file ends"),
        (b"GGUF" + struct.pack("<IQQ", 9, 0, 0), "GGUF version 9"),
        (gguf({"general.architecture": "clip"}, []), "is no language model"),
    ],
)
def test_a_hostile_gguf_gives_one_clear_error(data: bytes, says: str, tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(data)
    found = find_model("./m.gguf", tmp_path)
    assert isinstance(found, Broken)
    assert says in found.message


def test_the_local_hub_cache_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshot = tmp_path / "hub" / "models--acme--tiny" / "snapshots" / "abc"
    directory(snapshot, SMALL, {})
    refs = tmp_path / "hub" / "models--acme--tiny" / "refs"
    refs.mkdir()
    (refs / "main").write_text("abc")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    found = find_model("acme/tiny")
    assert isinstance(found, Model)
    assert found.layers == 2
