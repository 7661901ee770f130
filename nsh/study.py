"""A study: the cases, models and condition that a page's parameters ask for, and the records they come to."""

import hashlib
import os
from collections.abc import Mapping
from contextlib import closing
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from nsh.case_files import QUESTIONS
from nsh.cases import Case, case_hash, load_cases
from nsh.engines import Engine, ScriptedEngine, StoreEngine
from nsh.errors import ParameterError, without_tokens
from nsh.jobs import JUDGED, Job, Settings, jobs, own_files
from nsh.models import ModelSpec, known, resolve
from nsh.place import medqa_test, packaged_generations, store_folder
from nsh.pull import released_dir
from nsh.real import real_b1
from nsh.records import from_outcomes, records_frame
from nsh.released import released_files
from nsh.runner import Outcome, Tally, run
from nsh.store import Store


class Study:
    """What a page computes on.

    Parameters
    ----------
    slug : str
        The page.
    values : mapping
        Checked parameters by name, as `nsh.params.for_page` gives them.

    Attributes
    ----------
    tally : Tally
        Calls generated and reused so far.
    stamps : tuple of str
        Engine, device and versions that made the records, each once.
    """

    def __init__(self, slug: str, values: Mapping[str, Any]):
        self.slug = slug
        self.values = dict(values)
        self.tally = Tally()
        self.stamps: tuple[str, ...] = ()
        self.shard = slice(None)  # the share of the cases that is run (`nsh.scale.shards`)

    @cached_property
    def cases(self) -> list[Case]:
        """The cases, validated; none where the page takes no cases.

        Raises
        ------
        ParameterError
            If the parameter `reference` names a voice that they do not have, or as `load_cases` does.
        """
        if "source" not in self.values:
            return []
        cases = load_cases(self.values["source"], self.values["n_cases"], self.values.get("case"))
        if self.values["reference"] not in (None, *cases[0].narratives):
            voices = ", ".join(cases[0].narratives)
            raise ParameterError(f"reference = {self.values['reference']!r}: the cases have the voices {voices}")
        return cases

    @property
    def runs_models(self) -> bool:
        """Whether the page computes on answers, and not on the cases alone."""
        return "models" in self.values

    @cached_property
    def models(self) -> list[ModelSpec]:
        """The models to run; none where the page runs no model."""
        return [resolve(model) for model in self.values.get("models", [])]

    @property
    def conditions(self) -> list[str]:
        """The conditions of the run: one, or as many as the page compares; the judges' audit where it names none."""
        return self.values["conditions"] if "conditions" in self.values else [self.values.get("condition", JUDGED)]

    @property
    def jobs(self) -> list[Job]:
        """Every voice of every case, or of the first few where the run is shortened, under the conditions."""
        taken = ((name, self.cases[: self.first(name)][self.shard]) for name in self.conditions)
        return [job for name, cases in taken for job in jobs(cases, name, self.settings)]

    @cached_property
    def settings(self) -> Settings:
        """What the run does in another way than the papers."""
        return Settings(**{name: self.values[name] for name in Settings.__slots__ if name in self.values})

    def first(self, condition: str) -> int | None:
        """How many of the cases a condition takes: None for all, as `direct` always does."""
        most = self.values.get("shortened_cases")
        return most if most and most < len(self.cases) and condition != "direct" else None

    def shortened(self, condition: str) -> str:
        """How many cases a condition takes, in words; empty if all."""
        return f"shortened: {self.first(condition)} of {len(self.cases)} cases" if self.first(condition) else ""

    @cached_property
    def chance(self) -> float:
        """Expected accuracy (a proportion) of picking an option blindly: the mean of 1 / number of options."""
        return sum(1 / len(case.options) for case in self.cases) / len(self.cases)

    @cached_property
    def reference(self) -> str:
        """The unmarked voice of the study's cases: the parameter, else clinical, else the first."""
        voices = list(self.cases[0].narratives)
        return self.values["reference"] or ("clinical" if "clinical" in voices else voices[0])

    @property
    def statistics(self) -> dict[str, Any]:
        """Reference voice, resamples and seed, as the statistics of the study's own records take them."""
        return {"reference": self.reference, **{name: self.values[name] for name in ("resamples", "seed")}}

    def engine(self, model: ModelSpec) -> Engine:
        """The engine of a model; the `store` engine where $NSH_ENGINE says so, which never generates."""
        if model.id.startswith("scripted"):
            return ScriptedEngine(model.id)
        if os.environ.get("NSH_ENGINE") == "store":
            return StoreEngine(model.identity(self.values["dtype"], self.values.get("quantization")))
        from nsh.scale.engine_choice import engine_of

        return engine_of(model, self.values)

    @cached_property
    def records(self) -> pd.DataFrame:
        """Records of the study's own run, generating what the store lacks; one model in memory at a time.

        Raises
        ------
        EngineError
            If a model cannot be loaded or a prompt does not fit.
        MissingDataError
            If a generation is missing and $NSH_ENGINE is `store`.
        """
        frames = [records_frame([])]
        for model in self.models:
            outcomes, tally = self._run(model)
            self.tally += tally
            self.stamps = tuple(sorted({*self.stamps, *map(_stamp, outcomes)}))
            for name in self.conditions:
                own = [outcome for outcome in outcomes if outcome.job.name == name.rpartition(":")[2]]
                frames.append(from_outcomes(own, model.name, self.shortened(name)))
        return pd.concat(frames, ignore_index=True)

    def outcomes(self, model: ModelSpec) -> list[Outcome]:
        """What lies behind the records of one model: its jobs with every call's completion; errors as of `records`."""
        return self._run(model)[0]

    def _run(self, model: ModelSpec) -> tuple[list[Outcome], Tally]:
        """Run the study's jobs with a model, generating what the store lacks."""
        with closing(Store(store_folder(), packaged_generations())) as store:
            return run(self.jobs, self.engine(model), store)

    @property
    def released(self) -> Path | None:
        """The folder of the released files, or None where they are not on this machine or not wanted."""
        return released_dir(self.values["released"])

    @cached_property
    def real(self) -> pd.DataFrame:
        """B1 of the seven released models (`nsh.real`)."""
        return real_b1(self.values["released"], self.released)

    @cached_property
    def real_cases(self) -> list[Case]:
        """The papers' 1,000 cases, or none where they are not on this machine."""
        folder = self.released
        return load_cases(folder) if folder and (folder / QUESTIONS).is_file() else []

    @cached_property
    def sizes(self) -> dict[str, float]:
        """Billions of parameters of the papers' models and the study's own, where known."""
        return {spec.name: spec.parameters for spec in (*known().values(), *self.models) if spec.parameters is not None}

    @cached_property
    def data_hash(self) -> str:
        """SHA-256 of all that the page computes on and the package does not hold: cases, answers, released files."""
        digest = hashlib.sha256(case_hash(self.cases).encode())
        if "released" in self.values:
            for path in [*released_files(self.released), medqa_test()]:
                digest.update(path.read_bytes() if path else b"none")
        for file in filter(None, map(self.values.get, ("ratings", "judgements"))):
            digest.update(Path(file).read_bytes())
        if self.runs_models:
            for name in self.conditions:
                for file in own_files(name):
                    digest.update(file.read_bytes())
            rows = "\n".join(map(repr, self.records.itertuples(index=False, name=None)))
            digest.update(rows.encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    @property
    def real_source(self) -> str:
        """Where the records of the papers' models come from, in words."""
        names = {"released": "released per-question answers", "patterns": "packaged pattern counts"}
        return names[self.real["source"].iloc[0]]


def _stamp(outcome: Outcome) -> str:
    """Engine, device and versions that made an answer."""
    stamp = outcome.completions[-1].stamp if outcome.completions else {}  # an answer may take no call
    return without_tokens(", ".join(str(stamp[name]) for name in ("engine", "device", "versions") if stamp.get(name)))
