"""Launch files: which they are, how flags become words, what is reported and left out."""

from preflight.launch import LaunchSite, Reading
from preflight.readers.launch_file import read
from preflight.text import Document, Place

GIB = 2**30


def reading(text: str, path: str = "launch.toml") -> Reading:
    return read(Document(path, text))


def one(text: str) -> LaunchSite:
    result = reading(text)
    assert result.problems == ()
    (site,) = result.sites
    return site


def argv(site: LaunchSite) -> list[str | None]:
    return [token.value for token in site.argv]


def src(place: Place) -> str:
    return place.document.text[place.span.start : place.span.end]


def problems(text: str) -> list[tuple[str, str]]:
    return [(problem.code, src(problem.finding.at)) for problem in reading(text).problems]


def test_a_file_is_a_launch_file_by_name_or_by_its_engine() -> None:
    assert len(reading('engine = "sglang"', "a/prod.launch.toml").sites) == 1
    assert len(reading('engine = "vllm"', "prod.toml").sites) == 1
    assert len(reading('[[launch]]\nengine = "vllm"', "prod.toml").sites) == 1
    for other in (
        'engine = "v8"',
        "[package]\nname = 'launch'",
        'x = "',
        '[tool]\nengine = "sglang"',
        "launch = 1\n",
        "a = 1\na = 2",
    ):
        assert reading(other, "Cargo.toml") == Reading(())


def test_flags_become_the_words_of_a_command_line() -> None:
    site = one(
        'engine = "sglang"\n[flags]\ntp_size = 8\nmem-fraction-static = 0.550\nmodel-path = "a b"\ntrust-remote-code = true\n'
        "disable-radix-cache = false\ncuda-graph-bs = [1, 0x10, 1_000]\nserved-model-name = ['x', \"y\"]\n"
        'json = { a = 1, "b" = [true, "é"] }\n'
    )
    assert argv(site) == [
        *("--tp-size", "8", "--mem-fraction-static", "0.550", "--model-path", "a b", "--trust-remote-code"),
        *("--cuda-graph-bs", "1", "16", "1000", "--served-model-name", "x", "y", "--json", '{"a": 1, "b": [true, "é"]}'),
    ]
    assert [src(token.place) for token in site.argv[:4]] == ["tp_size", "8", "mem-fraction-static", "0.550"]
    assert src(site.argv[5].place) == '"a b"'
    assert src(site.head) == "engine"


def test_flags_may_be_inline_dotted_quoted_or_under_their_own_header() -> None:
    for text in (
        'engine = "vllm"\nflags = { tp = 2, "x_y" = [1] }',
        'engine = "vllm"\nflags.tp = 2\nflags."x_y" = [1]',
        'engine = "vllm"\n"flags".tp = 2\n[flags.x_y]\n',
    ):
        assert argv(one(text))[:3] == ["--tp", "2", "--x-y"]


def test_sub_tables_of_flags_are_json() -> None:
    assert argv(one('engine = "vllm"\n[flags.override]\na.b = 1\n')) == ["--override", '{"a": {"b": 1}}']


def test_launches_take_the_top_level_key_by_key() -> None:
    result = reading(
        'engine = "sglang"\nengine-version = "0.5.9"\n[hardware]\nprofile = "8x-h200"\ncount = 8\n[flags]\ntp-size = 8\nx = 1\n'
        '[env]\nA = "1"\n[[launch]]\nname = "small"\nhardware = { count = 4 }\nflags = { tp_size = 4 }\nenv = { B = 2 }\n'
        '[[launch]]\nengine = "vllm"\n[launch.flags]\ny = true\n'
    )
    small, other = result.sites
    assert result.problems == ()
    assert (small.name, small.engine, other.engine) == ("small", "sglang", "vllm")
    assert (argv(small), argv(other)) == (["--x", "1", "--tp-size", "4"], ["--tp-size", "8", "--x", "1", "--y"])
    assert {name: found.value for name, found in small.hardware.items()} == {"profile": "8x-h200", "count": 4}
    assert src(small.hardware["count"].place) == "4"
    assert (src(small.head), src(other.head)) == ("[[launch]]", "engine")
    assert [(one.name, one.token.value) for one in small.env] == [("A", "1"), ("B", "2")]
    assert small.version is not None
    assert small.version.value == "0.5.9"
    assert small.extent is not None
    assert src(small.extent).startswith('[[launch]]\nname = "small"')
    assert src(small.extent).endswith("env = { B = 2 }")
    assert small.argv[1].replace("2") is None, "a default of several launches is not changed for one of them"
    assert small.argv[3].replace("2") is not None


def test_quantities_are_bytes_and_lists_are_one_value_per_rank() -> None:
    site = one(
        'engine = "sglang"\n[hardware]\nmemory = "97887 MiB"\nmemory-cuda = "80 GB"\ncompute-capability = 12.0\n'
        'interconnect = "pcie"\n'
        '[observed]\nfree-before-load = ["94.0 GiB", "93.5 GiB"]\nkv-tokens = 159_171\nengine-version = "0.5.10rc0"\n'
        "[expect]\nconcurrent-requests = 4\n"
    )
    assert site.hardware["memory"].value == 97887 * 2**20
    assert site.hardware["memory-cuda"].value == 80 * 10**9
    assert site.hardware["compute-capability"].value == (12, 0)
    assert site.observed["free-before-load"].value == (94 * GIB, 93 * GIB + GIB // 2)
    assert site.observed["kv-tokens"].value == 159171
    assert site.expect["concurrent-requests"].value == 4


def test_what_is_wrong_is_reported_at_its_place_and_left_out() -> None:
    text = 'engine = "sglang"\n{}\n'
    for line, code, place in (
        ("engin-version = '0.5.9'", "CFG002", "engin-version"),
        ("[harware]\nx = 1", "CFG002", "harware"),
        ("[hardware]\ngpus = 8", "CFG002", "gpus"),
        ('[hardware]\ncount = "8"', "CFG003", '"8"'),
        ("[hardware]\ncount = true", "CFG003", "true"),
        ("[hardware]\ndriver = 580.95", "CFG003", "580.95"),
        ("[hardware]\nprofile = ['a']", "CFG003", "['a']"),
        ("hardware = 'h200'", "CFG003", "'h200'"),
        ("[launch]\nname = 'x'", "CFG003", "[launch]"),
        ("[env]\nA = true", "CFG003", "true"),
        ("[hardware]\ninterconnect = 'nvlnk'", "CFG010", "'nvlnk'"),
        ("engine-version = 0.5", "CFG003", "0.5"),
        ("[hardware]\ncompute-capability = 12", "CFG010", "12"),
        ("[hardware]\nmemory = 96", "UNT005", "96"),
        ("[hardware]\nmemory = '96'", "UNT005", "'96'"),
        ("[hardware]\nmemory = '96 gallons'", "UNT007", "'96 gallons'"),
        ("[hardware]\nmemory = 'lots'", "CFG003", "'lots'"),
        ("[hardware]\nmemory = '-1 GiB'", "UNT006", "'-1 GiB'"),
        ("[hardware]\nmemory = '0 GiB'", "UNT006", "'0 GiB'"),
        ("[hardware]\nmemory = nan", "UNT006", "nan"),
        ("[observed]\nweights = -inf", "UNT006", "-inf"),
        ("[observed]\nkv-tokens = -1", "UNT006", "-1"),
        ("[observed]\nfree-after-load = ['1 GiB', 2]", "UNT005", "2"),
        ("[observed]\nfree-after-load = []", "CFG003", "[]"),
        ("[expect]\nkv-tokens = 0", "UNT006", "0"),
        ("[expect]\ncontext-length = 1e5", "CFG003", "1e5"),
        ("[expect]\ncontext-length = 2024-01-01", "CFG003", "2024-01-01"),
    ):
        assert problems(text.format(line)) == [(code, place)], line
        for site in reading(text.format(line)).sites:
            assert not any((site.hardware, site.observed, site.expect, site.baseline, site.env, site.version)), line


def test_flags_and_environment_names_are_for_the_engine_to_judge() -> None:
    assert problems('engine = "sglang"\n[flags]\nno-such-flag = 1\n[env]\nNO_SUCH = "1"') == []


def test_a_launch_without_a_known_engine_is_an_error_once() -> None:
    assert problems("[flags]\ntp = 1") == [("CFG011", "[flags]")]
    assert problems("") == [("CFG011", "")]
    assert problems('engine = "sglnag"\n[[launch]]\n[[launch]]') == [("CFG010", '"sglnag"')]
    assert problems('[[launch]]\nengine = "vllm"\n[[launch]]\nname = "x"') == [("CFG011", "[[launch]]")]


def test_near_names_are_offered_and_never_safe_to_apply() -> None:
    (problem,) = reading('engine = "sglang"\n[observed]\nfree_before_load = "1 GiB"').problems
    assert problem.finding.message == "free_before_load is not a key of [observed]. Use free-before-load."
    (fix,) = problem.finding.fixes
    assert (fix.applicability, fix.edits[0].text) == ("unsafe", "free-before-load")


def test_other_words_for_a_key_are_known() -> None:
    for line, meant in (("hardware.gpus = 8", "count"), ("version = '0.5.9'", "engine-version"), ("hardware.VRAM = 1", "memory")):
        (problem,) = reading(f'engine = "sglang"\n{line}').problems
        assert problem.finding.message.endswith(f"Use {meant}.")


def test_a_unit_is_never_added_safely() -> None:
    for number, applicability in (("94", "display"), ("97887", "unsafe")):
        (problem,) = reading(f'engine = "sglang"\n[hardware]\nmemory = {number}').problems
        assert [fix.applicability for fix in problem.finding.fixes] == [applicability]


def test_a_syntax_error_of_a_launch_file_is_all_that_is_said() -> None:
    result = reading('engine = "sglang"\n[harware]\nx = \n', "prod.toml")
    assert (result.sites, [problem.code for problem in result.problems]) == ((), ["CFG001"])


def test_comments_give_context_where_the_file_does_not() -> None:
    site = one('engine = "sglang"\nmodel.profile = "mine"\n# preflight: hardware=8x-h200 model=Qwen/Qwen3-8B version=0.5.9\n')
    assert (site.hardware["profile"].value, site.model["profile"].value) == ("8x-h200", "mine")
    assert site.version is not None
    assert (site.version.value, src(site.version.place)) == ("0.5.9", "0.5.9")


def test_a_suppression_covers_what_stands_below_it_or_its_own_statement() -> None:
    text = (
        'engine = "sglang"\n# preflight: ignore[MEM001] known\n[flags]\na = 1 # preflight: ignore[FLG001, MEM002] why\n'
        "b = [\n  1,\n"
        "  2, # preflight: ignore[A001]\n] # preflight: ignore[B001]\n\n# preflight: ignore[C001]\n# more\nc = 2\n"
        "[env]\n# preflight: ignore-file[D001]\n"
    )
    found = {tuple(code.value for code in one.codes): one.covers and src(one.covers) for one in reading(text).suppressions}
    assert found == {
        ("MEM001",): text[text.index("[flags]") : text.index("\n[env]")],
        ("FLG001", "MEM002"): "a = 1",
        ("A001",): "  2, # preflight: ignore[A001]\n",
        ("B001",): text[text.index("b = [") : text.index(" # preflight: ignore[B")],
        ("C001",): "c = 2",
        ("D001",): None,
    }
