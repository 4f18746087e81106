"""Recommended settings form a valid configuration, with warnings about unsuitable corpora."""

import shutil
import zipfile
from pathlib import Path

import pytest

from nmt.config.config import Config
from nmt.config.yaml_files import load_config, override_config
from nmt.errors import UserError
from nmt.reports.recipes import recommend, recommend_fine_tuning
from nmt.runs.folder import RunFolder
from nmt.training.fine_tuning import config_from


def corpus(path: Path, pairs: int, words: int) -> Path:
    lines = (f"{'a ' * (words - 1)}a{i}\t{'b ' * (words - 1)}b{i}\n" for i in range(pairs))
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(autouse=True)
def _two_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.reports.recipes.threads", lambda: 2)


def config_for(file: Path, minutes: float, device: str = "cpu") -> Config:
    path = file.with_suffix(".yaml")
    path.write_text(recommend(file, minutes, device).yaml, encoding="utf-8")
    config = load_config(path)
    assert config.data.path == file
    assert config.training.max_minutes == minutes
    return config


def layers(config: Config) -> int:
    return config.model.d_model * config.model.encoder_layers


def test_more_pairs_get_a_larger_model_if_there_is_time(tmp_path: Path) -> None:
    files = [corpus(tmp_path / f"my: {pairs}.tsv", pairs, 6) for pairs in (5_000, 20_000, 150_000)]
    few, more, most = (config_for(file, 2_000) for file in files)
    assert layers(few) < layers(more) < layers(most)
    assert (few.model.dropout, more.model.dropout, most.model.dropout) == (0.3, 0.3, 0.2)
    assert layers(config_for(files[2], 30)) == layers(more)
    assert layers(config_for(files[2], 5)) == layers(few)
    assert layers(config_for(files[2], 30, "cuda")) == layers(most)


def test_lengths_are_those_of_all_pairs(tmp_path: Path) -> None:
    file = corpus(tmp_path / "a.tsv", 980, 12)
    with file.open("a") as lines:
        lines.write("a b\tc\n" * 1000 + "a\tb c d\n" + ("a " * 29 + "a\tb\n") * 19)
    config = config_for(file, 10)
    assert "2,000 pairs, 99% with at most 12 words, the longest with 30" in file.with_suffix(
        ".yaml"
    ).read_text("utf-8")
    assert config.data.max_words == 22


def test_too_little_time_gives_low_dropout_and_a_warning(tmp_path: Path) -> None:
    file = corpus(tmp_path / "pairs.tsv", 20_000, 6)
    assert [config_for(file, minutes).model.dropout for minutes in (30, 5)] == [0.3, 0.1]
    corpus(file, 50_000, 30)
    recipe = recommend(file, 1, "cpu")
    assert "# For 1 minute of training on 2 processors, about 0.3 epochs" in recipe.yaml
    assert any("raise --minutes" in warning for warning in recipe.warnings)
    assert recommend(file, 1, "cuda").warnings == []
    assert "about 180 epochs" in recommend(file, 1_000, "cpu").yaml


def test_short_sentences_and_few_pairs_give_warnings_and_very_few_are_refused(
    tmp_path: Path,
) -> None:
    short = recommend(corpus(tmp_path / "a.tsv", 200, 5), 30, "cpu").warnings
    assert any("longest sentence: 5 words;" in warning for warning in short)
    assert any("only 200 pairs" in warning for warning in short)
    assert recommend(corpus(tmp_path / "b.tsv", 10_000, 6), 30, "cpu").warnings == []
    with pytest.raises(UserError, match="too few pairs to learn from: 3;"):
        recommend(corpus(tmp_path / "a.tsv", 3, 5), 30, "cpu")


def test_a_line_break_in_the_name_of_a_corpus_does_not_end_the_comment(tmp_path: Path) -> None:
    config_for(corpus(tmp_path / "a\nb.tsv", 1000, 5), 1)


def test_settings_for_fine_tuning_keep_what_the_run_has(
    tmp_path: Path, trained_run: RunFolder
) -> None:
    file, path = corpus(tmp_path / "pairs.tsv", 300, 6), tmp_path / "mine.yaml"
    recipe = recommend_fine_tuning(file, 10, "cpu", trained_run)
    path.write_text(recipe.yaml, encoding="utf-8")
    given = load_config(path)
    assert given.decoding == trained_run.config.decoding
    assert given.data.path == file
    config = config_from(trained_run, "best", given, [])
    assert config.training.learning_rate == given.training.learning_rate == 3e-4
    assert given.training.warmup_updates < 100
    assert recipe.warnings == []


def test_with_time_for_many_epochs_the_peak_of_fine_tuning_is_lower(
    tmp_path: Path, trained_run: RunFolder
) -> None:
    file = corpus(tmp_path / "pairs.tsv", 50_000, 30)
    for minutes, device, peak in (
        (1, "cpu", "0.001"),
        (100, "cpu", "0.0003"),
        (1, "cuda", "0.0003"),
    ):
        recipe = recommend_fine_tuning(file, minutes, device, trained_run)
        assert f"learning_rate: {peak} " in recipe.yaml


def test_fine_tuning_a_large_model_on_a_cpu_takes_less_memory(
    tmp_path: Path, trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def settings(pairs: int, device: str) -> tuple[int | None, int, tuple[str, ...]]:
        path, file = tmp_path / "mine.yaml", corpus(tmp_path / f"{pairs}.tsv", pairs, 6)
        path.write_text(recommend_fine_tuning(file, 10, device, trained_run).yaml, encoding="utf-8")
        training = load_config(path).training
        return training.batch_tokens, training.accumulate, training.freeze

    assert settings(20_000, "cpu") == (4096, 1, ())
    monkeypatch.setattr("nmt.reports.recipes.count_stored", lambda _: 74_000_000)
    assert settings(20_000, "cpu") == (1024, 4, ("embeddings",))
    assert settings(300, "cpu") == (1024, 1, ("embeddings",))
    assert settings(20_000, "cuda") == (4096, 1, ())


def test_labels_are_smoothed_as_in_the_run(tmp_path: Path, trained_run: RunFolder) -> None:
    run = RunFolder(Path(shutil.copytree(trained_run.path, tmp_path / "run")))
    run.write_config(override_config(run.config, ["training.label_smoothing=0.2"], "run"))
    recipe = recommend_fine_tuning(corpus(tmp_path / "pairs.tsv", 300, 6), 10, "cpu", run)
    assert "label_smoothing: 0.2" in recipe.yaml


def test_too_many_pairs_for_the_time_give_a_warning(tmp_path: Path, trained_run: RunFolder) -> None:
    file = corpus(tmp_path / "pairs.tsv", 50_000, 30)
    assert recommend_fine_tuning(file, 1, "cpu", trained_run).warnings
    assert not recommend_fine_tuning(file, 1, "cuda", trained_run).warnings


def test_the_corpus_may_have_any_format(tmp_path: Path) -> None:
    rows = [(f"{'a ' * 5}a{i}", f"{'b ' * 5}b{i}") for i in range(200)]
    for side, name in enumerate(("par.en", "par.de")):
        (tmp_path / name).write_text("".join(f"{row[side]}\n" for row in rows))
    variants = '<tuv xml:lang="en"><seg>{}</seg></tuv><tuv xml:lang="de"><seg>{}</seg></tuv>'
    units = "".join(f"<tu>{variants.format(*row)}</tu>" for row in rows)
    (tmp_path / "memory.tmx").write_text(f'<tmx version="1.4"><body>{units}</body></tmx>')
    (tmp_path / "memories").mkdir()
    shutil.copy(tmp_path / "memory.tmx", tmp_path / "memories")
    with zipfile.ZipFile(tmp_path / "en-de.zip", "w") as archive:
        for name in ("par.en", "par.de"):
            archive.write(tmp_path / name, name)
    quote = "<sense><cit type='trans'><quote>{}</quote></cit></sense>"
    entry = f"<entry><form><orth>{{}}</orth></form>{quote}</entry>"
    words = "".join(entry.format(*row) for row in rows)
    (tmp_path / "eng-deu.tei").write_text(f"<TEI><text><body>{words}</body></text></TEI>")
    for name, source in (
        *(("par.en", "parallel"), ("par.de", "parallel"), ("memory.tmx", "tmx")),
        *(("memories", "tmx"), ("en-de.zip", "opus"), ("eng-deu.tei", "freedict")),
    ):
        config = config_for(tmp_path / name, 10)
        assert config.data.source == source
        assert "200 pairs" in (tmp_path / name).with_suffix(".yaml").read_text("utf-8")
