"""Tables and datasets, read by the library `datasets` itself, without a network."""

import gzip
import hashlib
import json
import logging
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from nmt.config.data import DataConfig
from nmt.config.yaml_files import parse_config
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.sources.corpus import Corpus
from nmt.corpus.sources.readers import Split
from nmt.corpus.sources.registry import list_corpora, open_corpus
from nmt.corpus.sources.tables import split_names, table_files
from nmt.errors import UserError
from tests.pretend_hub import nmt_with_hub, pretend_hub

datasets = pytest.importorskip("datasets")

PAIRS = [(f"I see {i} trees.", f"Ich sehe {i} Bäume.") for i in range(2500)]
NESTED = [{"translation": {"de": german, "en": english}} for english, german in PAIRS]
FLAT = [{"id": i, "de": german, "en": english} for i, (english, german) in enumerate(PAIRS)]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def opened(source: str, path: Path, **fields: Any) -> Corpus:
    return open_corpus(DataConfig(source=source, path=path, **fields))  # type: ignore[arg-type]


def read(path: Path, **fields: Any) -> list[tuple[str, str]]:
    return list(opened("table", path, **fields).pairs("train"))


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    table = datasets.Dataset.from_list(rows)
    match path.suffix:
        case ".parquet":
            table.to_parquet(path)
        case ".csv":
            table.to_csv(path, index=False)
        case ".tsv":
            table.to_csv(path, sep="\t", index=False)
        case ".json":
            path.write_text(json.dumps(rows), "utf-8")
        case ".jsonl":
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        case ".gz":
            path.write_bytes(gzip.compress(write(path.with_suffix(""), rows).read_bytes()))
            path.with_suffix("").unlink()
        case _:
            table.save_to_disk(path)
    return path


@pytest.mark.parametrize("ending", ["parquet", "csv", "tsv", "jsonl", "jsonl.gz", "json", "folder"])
def test_every_format_is_read_in_either_direction(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"table.{ending}", FLAT)
    assert read(path) == PAIRS
    german = opened("table", path, source_language="de", target_language="en")
    assert next(german.pairs("train")) == PAIRS[0][::-1]


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "folder"])
def test_a_field_may_contain_both_languages(tmp_path: Path, ending: str) -> None:
    path = write(tmp_path / f"table.{ending}", NESTED)
    assert read(path) == PAIRS
    named = opened("table", path, columns=["translation.de", "translation.en"])
    assert next(named.pairs("train")) == PAIRS[0][::-1]


def test_columns_are_found_or_named(tmp_path: Path) -> None:
    assert read(write(tmp_path / "a.parquet", [{"src": "go", "tgt": "geh"}])) == [("go", "geh")]
    path = write(tmp_path / "b.parquet", [{"premise": "go", "other": "geh"}])
    assert read(path, columns=["premise", "other"]) == [("go", "geh")]
    nested = write(tmp_path / "c.jsonl", NESTED[:1])
    for table, fields, named in (
        (path, {}, r"premise, other; .*data\.columns="),
        (path, {"columns": ["text", "other"]}, "text among premise, other"),
        (nested, {"source_language": "fr"}, r"translation\.de, translation\.en;"),
        (nested, {"columns": ["translation.en", "a.ger"]}, r"a\.ger among translation\.de"),
    ):
        with pytest.raises(UserError, match=named):
            read(table, **fields)


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("English", "German"),
        ("Englisch", "Deutsch"),
        ("eng", "deu"),
        ("EN", "DE"),
        ("Source", "Target"),
        ("text_en", "text_de"),
        ("en", "text_deu"),
    ],
)
def test_columns_may_have_other_usual_names(tmp_path: Path, source: str, target: str) -> None:
    row = {"id": 1, target: "geh", source: "go", "text_fr": "va"}
    assert read(write(tmp_path / "a.jsonl", [row])) == [("go", "geh")]
    nested = {"translation": {target: "geh", source: "go"}}
    assert read(write(tmp_path / "b.jsonl", [nested])) == [("go", "geh")]


def test_columns_with_ambiguous_names_must_be_selected(tmp_path: Path) -> None:
    texts = {"text_en": "go", "text_de": "geh"}
    about = write(tmp_path / "a.jsonl", [{"source": "a website", **texts}])
    assert read(about) == [("go", "geh")]
    path = write(tmp_path / "b.jsonl", [{"title_en": "going", **texts}])
    with pytest.raises(UserError, match="title_en, text_en, text_de;"):
        read(path)
    assert read(path, columns=list(texts)) == [("go", "geh")]
    english = {"source_language": "en", "target_language": "en"}
    path = write(tmp_path / "c.csv", [{"en": "Commence!", "simple": "Start!"}])
    with pytest.raises(UserError, match=r"en, simple; .*data\.columns="):
        read(path, **english)
    path = write(tmp_path / "d.csv", [{"source": "Commence!", "target": "Start!", "en": "x"}])
    assert read(path, **english) == [("Commence!", "Start!")]


def test_columns_are_found_in_the_first_rows(tmp_path: Path) -> None:
    empty = [{"translation": None}] * 1000
    path = write(tmp_path / "a.jsonl", [*NESTED[:1000], *empty, *NESTED[1000:]])
    assert read(path) == [*PAIRS[:1000], *([("", "")] * 1000), *PAIRS[1000:]]


def test_rows_without_text_are_counted_as_dropped(tmp_path: Path) -> None:
    rows = [*FLAT[:300], {"id": 300, "en": "go", "de": None}, {"id": 301, "en": "", "de": "geh"}]
    for name in ("a.parquet", "a.csv", "a.jsonl"):
        path = write(tmp_path / name, rows)
        assert read(path)[300:] == [("go", ""), ("", "geh")]
    nested = write(tmp_path / "b.jsonl", [{"translation": None}, *NESTED[:2]])
    assert read(nested) == [("", ""), *PAIRS[:2]]
    data = {"source": "table", "path": str(path), "validation_size": 20, "test_size": 20}
    tree = {"data": data, "tokenizer": {"vocabulary_size": 100, "byte_fallback": False}}
    report = prepare(parse_config(tree, "test"), tmp_path / "prepared").report
    assert report["read"] == 302
    assert report["dropped"] == {"empty side": 2}


def test_a_folder_may_contain_splits(tmp_path: Path) -> None:
    for name, number in (("train-0", 0), ("train-1", 1), ("dev", 2), ("test", 3)):
        write(tmp_path / "corpus" / f"{name}.parquet", FLAT[number : number + 1])
    (tmp_path / "corpus" / "README.md").write_text("about")
    corpus = opened("table", tmp_path / "corpus")
    assert {split: list(corpus.pairs(split)) for split in corpus.files} == {
        "train": PAIRS[:2],
        "validation": PAIRS[2:3],
        "test": PAIRS[3:4],
    }


def test_names_identify_splits() -> None:
    splits: dict[Split, str] = {
        "validation": "newsdev2019 ValidSet validate",
        "test": "devtest newstest2014 testEnDe ENTest WMTTest2014 tst2013 heldout tests.csv",
        "train": "latest-contest more",
    }
    expected = {name: split for split, names in splits.items() for name in names.split()}
    assert split_names(expected, "x") == expected


def test_unrecognized_names_are_skipped_if_another_name_contains_train(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for name in ("trainset-0", "challenge", "extra"):
        write(tmp_path / "corpus" / f"{name}.parquet", FLAT[:1])
    corpus = opened("table", tmp_path / "corpus")
    assert corpus.files == {"train": (tmp_path / "corpus" / "trainset-0.parquet",)}
    [message] = caplog.messages
    assert message.startswith(f"{tmp_path}/corpus: skipping challenge.parquet, extra.parquet: ")
    named = open_corpus(DataConfig(source="table", train_path=tmp_path / "corpus"))
    assert len(named.files["train"]) == 3


def test_given_splits_are_read(tmp_path: Path) -> None:
    train = write(tmp_path / "test-of-mine.parquet", FLAT[:5])
    test = write(tmp_path / "more.jsonl", FLAT[5:7])
    corpus = open_corpus(DataConfig(source="table", train_path=train, test_path=test))
    assert list(corpus.pairs("train")) == PAIRS[:5]
    assert list(corpus.pairs("test")) == PAIRS[5:7]


@pytest.mark.parametrize("field", ["path", "train_path"])
def test_a_held_out_file_in_the_folder_is_not_trained_on(tmp_path: Path, field: str) -> None:
    train = write(tmp_path / "corpus" / "a.csv", FLAT[:5])
    gold = write(tmp_path / "corpus" / "gold.csv", FLAT[5:7])
    paths = {
        field: tmp_path / "corpus",
        "test_path": tmp_path / "corpus" / ".." / "corpus" / "gold.csv",
    }
    corpus = open_corpus(DataConfig.model_validate({"source": "table", **paths}))
    assert corpus.files["train"] == (train,)
    assert list(corpus.pairs("test")) == PAIRS[5:7]
    with pytest.raises(UserError, match=r"gold\.csv: no training file is left"):
        open_corpus(DataConfig(source="table", train_path=gold, test_path=gold))


def test_a_path_is_not_a_pattern(tmp_path: Path) -> None:
    write(tmp_path / "pairs1.csv", FLAT[:1])
    for name in ("pairs[1].csv", "pairs?.csv", "*.csv"):
        path = write(tmp_path / name, FLAT[1:2])
        assert read(path) == PAIRS[1:2]


def test_words_for_missing_values_are_words(tmp_path: Path) -> None:
    rows = [{"en": "None", "de": "Keine"}, {"en": "zero", "de": "null"}, {"en": "", "de": "leer"}]
    for name in ("a.csv", "a.tsv"):
        path = write(tmp_path / name, rows)
        assert read(path) == [tuple(r.values()) for r in rows]


def test_quotes_in_tab_separated_tables_are_text(tmp_path: Path) -> None:
    lines = ['"Go on.\t„Weiter."', '"Stop!"\t"Halt!"', "It was 5' 7\"\tEs war groß"]
    path = tmp_path / "a.tsv"
    path.write_text("\n".join(["en\tde", *lines, ""]), "utf-8")
    assert read(path) == [tuple(x.split("\t")) for x in lines]


def test_numbers_and_truth_values_are_text(tmp_path: Path) -> None:
    """Pandas guesses a type for each block of rows, here for the last row alone."""
    rows = [f"house {i},Haus {i}" for i in range(10_000)]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["en,de", "1985.50,True", *rows, "1984,1984", ""]), "utf-8")
    found = read(path)
    assert (found[0], found[-1]) == (("1985.50", "True"), ("1984", "1984"))


@pytest.mark.parametrize("name", ["a.jsonl.gz", "a.csv.gz"])
def test_a_small_file_with_a_huge_row_is_refused(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.corpus.sources.tables._LONGEST_PACKED", 2**20)
    row = "a" * (2**20 + 1)
    text = json.dumps({"en": row, "de": "b"}) if "jsonl" in name else f"en,de\n{row},b"
    (tmp_path / name).write_bytes(gzip.compress(f"{text}\n".encode()))
    with pytest.raises(UserError, match="is longer than"):
        read(tmp_path / name)


@pytest.mark.parametrize("compress", [bytes, gzip.compress])
def test_a_long_array_on_one_line_is_read(
    tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    rows = [{"en": f"house {i}", "de": f"Haus {i}"} for i in range(30_000)]
    path = tmp_path / ("a.json" if compress is bytes else "a.json.gz")
    path.write_bytes(compress(json.dumps(rows).encode()))
    assert len(read(path)) == 30_000


def test_hidden_files_of_a_folder_are_skipped(tmp_path: Path) -> None:
    for name in ("train.csv", "._train.csv", ".ipynb_checkpoints/train-checkpoint.csv"):
        (tmp_path / "corpus" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "corpus" / name).write_text("en,de\ngo,geh\n")
    assert table_files(tmp_path / "corpus") == (tmp_path / "corpus" / "train.csv",)


def test_only_a_header_names_columns(tmp_path: Path) -> None:
    """Otherwise, pandas takes the first column of rows that have more fields for an index."""
    refused = {
        "licence.tsv": "en\tde\nGo on.\tWeiter.\tCC BY 2.0\n",
        "comma.csv": "en,de\nWell, Tom,Na, Tom\nGo on.,Weiter.\n",
        "end.csv": "en,de\nGo on.,Weiter.,\n",
    }
    accepted = {"index.csv": ",en,de\n0,go,geh\n", "short.csv": "en,de,by\ngo,geh\n"}
    for name, content in (refused | accepted).items():
        (tmp_path / name).write_text(content, "utf-8")
    for name in refused:
        with pytest.raises(UserError, match=f"{name}: .*more fields"):
            read(tmp_path / name)
    for name in accepted:
        assert read(tmp_path / name) == [("go", "geh")]


@pytest.mark.parametrize(
    ("rows", "encoding"),
    [
        ("id;de;en\n1;Tür, zu;door, shut\n", "utf-8"),
        ("id;de;en\n1;Tür, zu;door, shut\n", "cp1252"),
        ('id\t"de, neu"\ten\n', "utf-8"),
        ('"de";"en"\n"Tür, zu";"door, shut"\n', "utf-8-sig"),
        ('de,"a;b",en\n"Tür, zu",x,"door, shut"\n', "cp1252"),
        ("de|en\nTür, zu|door, shut\n", "utf-8"),
        ("sep=;\r\nde;en\r\nTür, zu;door, shut\r\n", "utf-8-sig"),
    ],
)
def test_csv_of_spreadsheets_is_read(rows: str, encoding: str, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_bytes(rows.encode(encoding))
    fields = {"columns": ("en", "de, neu")} if "neu" in rows else {}
    found = list(opened("table", path, **fields).read(path))
    assert found == [("door, shut", "Tür, zu")] * rows.count("zu")


def test_text_with_unquoted_commas_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("en,de\na,b\nyes, sir,ja\n")
    with pytest.raises(UserError, match=r"a\.csv: .* more fields than the header.*quotation marks"):
        list(opened("table", path).read(path))


def test_utf_16_is_refused_with_the_command_that_converts_it(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    for encoding in ("utf-16", "utf-16-le"):
        path.write_bytes("en,de\na,b\n".encode(encoding))
        with pytest.raises(UserError, match="iconv -f UTF-16"):
            list(opened("table", path).read(path))


def test_text_stored_as_bytes_is_decoded(tmp_path: Path) -> None:
    path = write(tmp_path / "a.parquet", [{"en": b"owl", "de": "Käuzchen".encode()}])
    assert read(path) == [("owl", "Käuzchen")]


@pytest.mark.parametrize("ending", ["jsonl", "json", "jsonl.gz"])
@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("null", "line 1 "),
        ("\ufeff\n \nnull", "line 3 "),
        ('{"en": "go", "de": "geh"}\nnull', "line 2 "),
        ('{"en": ' + "[1, " * 30_000, "line 1 "),
        ('[{"en": "go", "de": "geh"},\nnull]', "rows"),
        ("[[1], [2]]", "rows"),
        ("[" * 30_000, "recursion"),
        (" \n", "empty"),
        ("", "empty"),
    ],
)
def test_json_that_would_crash_the_library_is_refused(
    tmp_path: Path, ending: str, content: str, problem: str
) -> None:
    path = tmp_path / f"a.{ending}"
    path.write_bytes((gzip.compress if ending.endswith("gz") else bytes)(content.encode()))
    with pytest.raises(UserError, match=rf"a\.{ending}: .*{problem}"):
        read(path)


def test_rows_may_contain_long_lists(tmp_path: Path) -> None:
    aligned = [{"en": "go", "de": "geh", "alignment": [[i, i] for i in range(2000)]}]
    assert read(write(tmp_path / "a.jsonl", aligned))


@pytest.mark.parametrize("name", ["a.parquet", "a.jsonl", "a.csv", "a.arrow", "none.csv", "a.txt"])
def test_unreadable_files_are_reported_in_one_line(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("datasets"), "propagate", True)
    (tmp_path / name).write_bytes(b"\x00\xff{no table")
    if name.startswith("none"):
        (tmp_path / name).unlink()
    with pytest.raises(UserError, match=name) as caught:
        read(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert ".;" not in str(caught.value)
    assert not caplog.messages  # the library logs some itself


CARD = """---
license: cc-by-4.0
configs:
- config_name: cs-en
  data_files: cs-en/train-*
- config_name: de-en
  data_files:
  - split: train
    path: de-en/train-*
  - split: validation
    path: de-en/validation-*
---
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder with the layout of a Hub dataset."""
    folder = tmp_path / "wmt99"
    czech = [{"translation": {"cs": "a", "en": "b"}}]
    for name, rows in (
        ("de-en/train-00000-of-00002", NESTED[:2000]),
        ("de-en/train-00001-of-00002", NESTED[2000:]),
        ("de-en/validation-00000-of-00001", NESTED[:3]),
        ("cs-en/train-00000-of-00001", czech),
    ):
        write(folder / f"{name}.parquet", rows)
    (folder / "README.md").write_text(CARD)
    return folder


LISTED = "source: hub, path: wmt/wmt14, subset: de-en"
DOWNLOAD = "nmt.corpus.sources.tables._download_from_hub"


def test_a_local_dataset_is_read_as_it_is_now(repository: Path, tmp_path: Path) -> None:
    repository = repository.rename(tmp_path / "me@home")
    corpus = opened("hub", repository, subset="de-en")
    assert list(corpus.pairs("train")) == PAIRS
    assert list(corpus.pairs("validation")) == PAIRS[:3]
    assert set(corpus.files) == {"train", "validation"}
    assert corpus.licence == ""  # and no address
    shutil.rmtree(repository / "cs-en")
    (repository / "README.md").unlink()
    assert len(opened("hub", repository).files["train"]) == 2
    write(repository / "de-en" / "train-2.parquet", NESTED[:1])
    assert len(opened("hub", repository).files["train"]) == 3


def test_a_downloaded_dataset_is_listed_with_its_size(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {"train": (write(tmp_path / "train.parquet", NESTED[:2000]),)}
    monkeypatch.setattr(DOWNLOAD, lambda *_: found)
    size = lambda: {e.fields: e.size for e in list_corpora(("en", "de"))}[LISTED]  # noqa: E731
    assert size() is None
    opened("hub", Path("wmt/wmt14"), subset="de-en")
    assert size() == found["train"][0].stat().st_size
    found["train"][0].unlink()
    assert size() is None


def test_a_downloaded_dataset_stays_the_same_until_it_is_refreshed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [write(tmp_path / f"train-{i}.parquet", NESTED[:1]) for i in range(2)]
    commits = iter(files)
    monkeypatch.setattr(DOWNLOAD, lambda *_: {"train": (next(commits),)})
    data = DataConfig(source="hub", path=Path("wmt/wmt14"))
    for refresh, file in ((False, files[0]), (False, files[0]), (True, files[1])):
        assert open_corpus(data, refresh).files == {"train": (file,)}


def test_a_list_of_files_with_the_splits_of_an_earlier_version_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, test = (write(tmp_path / f"{n}.parquet", NESTED[:1]) for n in ("train", "newstest"))
    digest = hashlib.sha256(repr(("wmt/wmt14", None, None)).encode()).hexdigest()
    listed = tmp_path / "cache" / "nmt" / "hub" / f"{digest[:16]}.json"
    listed.parent.mkdir(parents=True)
    listed.write_text(json.dumps({"train": [str(train), str(test)]}))
    files = {"train": (train,), "test": (test,)}
    monkeypatch.setattr(DOWNLOAD, lambda *_: files)
    assert opened("hub", Path("wmt/wmt14")).files == files


PREPARE = [
    "prepare", "--config", "sample.yaml", "--set", "data.source=hub", "--set", "data.test_size=20",
    "--set", "data.path=wmt/wmt99", "--set", "data.subset=de-en",
]  # fmt: skip


@pytest.fixture
def hub(repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a hub that has the dataset, for programs in the test's folder."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(repository, tmp_path / "hub/datasets/wmt/wmt99")
    with pretend_hub(tmp_path / "hub") as address:
        yield address


@pytest.mark.slow
def test_a_downloaded_dataset_is_stored_once_and_read_offline(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(repository, tmp_path / "hub/datasets/wmt/wmt99")
    with pretend_hub(tmp_path / "hub") as address:
        done = nmt_with_hub(address, tmp_path, *PREPARE)
        assert "pairs read       2,500\n" in done.stdout, done.stderr
        licence = "cc-by-4.0, see https://huggingface.co/datasets/wmt/wmt99"
        assert f"licence          {licence}\n" in done.stdout
    stored = [path for path in (tmp_path / "huggingface").rglob("*") if not path.is_symlink()]
    sizes = [path.stat().st_size for path in stored if path.is_file()]
    downloaded = sum(path.stat().st_size for path in (repository / "de-en").iterdir())
    assert downloaded <= sum(sizes) < 1.2 * downloaded
    again = nmt_with_hub(address, tmp_path, *PREPARE, "--set", "data.seed=2")
    assert again.stdout.splitlines()[:-1] == done.stdout.splitlines()[:-1], again.stderr
    refresh = nmt_with_hub(address, tmp_path, *PREPARE, "--refresh", HF_HUB_OFFLINE="1")
    assert refresh.returncode == 2
    assert "wmt/wmt99" in refresh.stderr


def test_a_full_disk_is_not_mistaken_for_a_network_error(
    hub: str, tmp_path: Path, full_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    with full_disk(5000):
        done = nmt_with_hub(hub, tmp_path, *PREPARE)
    assert done.returncode == 2
    cache = tmp_path / "huggingface" / "hub"
    assert done.stderr.startswith(f"nmt: {cache}: cannot be written (File too large; ")


@pytest.mark.slow
def test_a_strange_licence_is_ignored(hub: str, tmp_path: Path) -> None:
    card = tmp_path / "hub/datasets/wmt/wmt99/README.md"
    card.write_text(CARD.replace("cc-by-4.0", "[1, 2]"))
    done = nmt_with_hub(hub, tmp_path, *PREPARE)
    assert "licence          see https://huggingface.co/datasets/wmt/wmt99\n" in done.stdout


def test_unusable_datasets_are_refused_in_one_line(repository: Path) -> None:
    def refusal(path: Path, subset: str | None = None) -> str:
        with pytest.raises(UserError) as caught:
            opened("hub", path, subset=subset)
        assert "\n" not in str(caught.value)
        return str(caught.value)

    assert "data.subset" in refusal(repository, "fr-en")
    assert "no-one/has-this" in refusal(Path("no-one/has-this"))
    for path in repository.rglob("*.parquet"):
        path.unlink()
    (repository / "README.md").unlink()
    (repository / "train.txt").write_text("go")
    assert "train.txt" in refusal(repository)


def test_a_missing_library_is_reported_with_the_install_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.parquet", FLAT[:1])
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UserError, match=r"pip install 'nmt-trainer\[hub\]'"):
        read(path)
