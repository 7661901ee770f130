"""The study of a page that retells cases instead of having them answered: one that takes the parameter `registers`."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from nsh.declared import Page
from nsh.jobs import Job
from nsh.making.retold import Retold, retelling_jobs, retold
from nsh.making.voices import register
from nsh.study import Study


def study_of(page: Page, values: Mapping[str, Any]) -> Study:
    """The study of a page, with checked values."""
    return (RetellingStudy if "registers" in page.parameters else Study)(page.slug, values)


class RetellingStudy(Study):
    """Cases retold in the registers of a page, by its models, through the same store."""

    @property
    def conditions(self) -> list[str]:
        """The one task, as records and provenance name it."""
        return ["retell"]

    @property
    def jobs(self) -> list[Job]:
        """The first cases in every register."""
        voices = [register(name) for name in self.values["registers"]]
        cases = self.cases[: self.values["retold_cases"]]
        return retelling_jobs(cases, voices, self.values["attempts"], self.settings)

    @cached_property
    def retold(self) -> dict[str, Retold]:
        """What each model made of them."""
        return {model.name: retold(self.outcomes(model)) for model in self.models}
