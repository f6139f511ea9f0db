"""The compiled catalogue is what its sources say."""

from pathlib import Path

from preflight.model.codec import pack, pack_layers, unpack, unpack_layers
from preflight.model.types import Model
from preflight.profiles.compile import compiled_files
from preflight.profiles.find import COMPILED, find_model, list_models


def test_the_compiled_catalogue_is_fresh() -> None:
    """If this fails: python -m preflight.profiles.compile"""
    folder = Path(COMPILED)
    here = {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.json")}
    assert here == compiled_files()


def test_models_survive_packing() -> None:
    for name in list_models():
        model = find_model(name)
        assert isinstance(model, Model)
        assert unpack(pack(model)) == model


def test_every_figure_has_a_source() -> None:
    for name in list_models():
        model = find_model(name)
        assert isinstance(model, Model)
        assert model.source


def test_layer_runs() -> None:
    for layers in ((), (0,), (0, 1, 2), (3, 7, 11), (0, 2, 5), tuple(range(3, 61)), (0, 1, 2, 4, 8, 12, 16)):
        assert unpack_layers(pack_layers(layers)) == layers
    assert pack_layers(tuple(range(61))) == "0-60"
