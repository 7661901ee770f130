"""What a run would cost, counted before it is paid for.

The real runner drives the real jobs over the real store, with an engine that answers what the store lacks with a
placeholder. So a call is counted where the run would pay for it, after all sharing. A prompt without a placeholder is
the one that the model would be given, and its tokens are exact; one with a placeholder holds a reply yet to come, which
is counted at its expected length.
"""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pandas as pd

from nsh.conditions import CONDITIONS
from nsh.engines import Call, Completion
from nsh.errors import ParameterError
from nsh.jobs import Job
from nsh.overview import calls as possible_calls
from nsh.runner import Outcome, run
from nsh.scale.lengths import Lengths, label_of
from nsh.scale.stages import read_shares_by_text
from nsh.store import Store

TO_WORD, TO_HEX = (
    str.maketrans(*way) for way in (("0123456789abcdef", "abcdefghijklmnop"), ("abcdefghijklmnop", "0123456789abcdef"))
)
PENDING = re.compile(r"Pending([a-p]{8})(?:\nAnswer: [A-J])?")
COUNTS = ["answers", "found", "calls", "awaiting", "more", "prompt_tokens", "exact_tokens", "read_tokens"]
COUNTS += ["new_tokens", "most_tokens"]
ROUNDS = 40  # calls of a condition, one after another, after which it is taken to ask for ever
Count = Callable[[tuple[tuple[str, str], ...]], int]


class PlanningEngine:
    """Generates nothing: notes each call and answers with a placeholder, which is a letter too where one is asked for.

    Parameters
    ----------
    identity : mapping
        That of the engine that the run would use.
    count : callable
        From the turns of a call to its tokens.

    Examples
    --------
    >>> engine = PlanningEngine({"model": "m"}, lambda messages: 7)
    >>> [reply.text for _, reply in engine.generate([Call((("user", "Which?"),), 16, "AB")])]
    ['Pendingaaaaaaaa\\nAnswer: A']
    >>> engine.noted[0]["tokens"], engine.noted[0]["awaited"]
    (7, [])
    """

    def __init__(self, identity: Mapping[str, Any], count: Count):
        self.identity = {"model": f"counting for {identity['model']}"}  # what the progress bar shows
        self.noted: list[dict[str, Any]] = []
        self._identity, self._count, self._round = dict(identity), count, 0

    def identity_of(self, call: Call) -> dict[str, Any]:
        """The identity that the store knows the call's completion by."""
        return self._identity

    def generate(self, calls: Sequence[Call]) -> Iterator[tuple[int, Completion]]:
        """Note calls and give placeholders, whose words hold no digit that could pass for a value.

        Noted are a call's round, its prompt's tokens without the replies to come, the share of it that is read for this
        call where what prompts share is read once, and the numbers of the calls whose replies are awaited.

        Raises
        ------
        ParameterError
            If conditions go on asking for more than `ROUNDS` calls.
        """
        self._round += 1
        if self._round > ROUNDS:
            raise ParameterError(f"a condition asks for more than {ROUNDS} calls where its replies are placeholders")
        shares = read_shares_by_text(calls)
        for index, call in enumerate(calls):
            awaited = [int(w.translate(TO_HEX), 16) for _, text in call.messages for w in PENDING.findall(text)]
            known = tuple((role, PENDING.sub("", text)) for role, text in call.messages) if awaited else call.messages
            word = "Pending" + f"{len(self.noted):08x}".translate(TO_WORD)
            stamp = {"noted": len(self.noted)}
            row = {"round": self._round, "stage": label_of(call), "most_tokens": call.max_new_tokens}
            row |= {"tokens": self._count(known), "read_share": shares[index], "awaited": awaited}
            self.noted.append(row)
            yield index, Completion(word + f"\nAnswer: {call.letters[:1]}" * bool(call.letters), stamp=stamp)


class ReadOnlyStore:
    """A store that is looked up and never written; what is put into it stays in memory.

    Examples
    --------
    >>> import tempfile
    >>> store = ReadOnlyStore(Store(folder := tempfile.mkdtemp()))
    >>> store.put("0" * 64, Completion("B"), {"model": "m"})
    >>> [completion.text for _, completion in store.find(["0" * 64])], len(Store(folder))
    (['B'], 0)
    """

    def __init__(self, store: Store):
        self._store, self._put = store, {}

    def find(self, keys: Collection[str]) -> Iterator[tuple[str, Completion]]:
        """Each of the keys that was put or is kept, with its completion."""
        yield from ((key, self._put[key]) for key in keys if key in self._put)
        yield from self._store.find([key for key in keys if key not in self._put])

    def put(self, key: str, completion: Completion, identity: Mapping[str, Any]) -> None:
        """Keep a completion in memory."""
        self._put[key] = completion


def count_calls(
    jobs: Iterable[Job], identity: Mapping[str, Any], store: Store, count: Count, lengths: Lengths
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count what a run of jobs would have to generate; nothing is generated and nothing written.

    Parameters
    ----------
    jobs : iterable of Job
    identity : mapping
        That of the engine of the run.
    store : Store
        What is in it is not paid for again.
    count : callable
        From the turns of a call to its tokens.
    lengths : Lengths
        How long replies have been; those that the store holds for these jobs are added.

    Returns
    -------
    lines : pandas.DataFrame
        A row per condition: `answers`; `found`, calls in the store; `calls` to be made, of which `awaiting` have
        prompts with replies to come, and how many `more` may follow besides at most (a letter asked for once more, a
        corrected rewrite, a call that is not shared after all; nan where that is not known); `prompt_tokens`, of which
        `exact_tokens` are of prompts known whole; `read_tokens`, about as many as are read where what prompts begin
        with alike is read once; `new_tokens` expected and `most_tokens`, those calls included. A
        call that conditions share counts for the first. Exact but for calls `awaiting`: of these, two with replies that
        are alike become one.
    calls : pandas.DataFrame
        A row per call to be made: `round` of the run, `stage`, `condition`, `tokens` of its prompt that are known,
        `prompt_tokens`, `read_tokens`, `new_tokens`, and `most_tokens`, its budget.

    Raises
    ------
    ParameterError
        If a condition of one's own cannot take the placeholder of a reply, or asks on and on.

    Examples
    --------
    >>> import tempfile
    >>> from nsh import Case
    >>> from nsh.jobs import jobs
    >>> case = Case("1", "Which?", {"A": "Gout", "B": "Lyme"}, "B", {"clinical": "..."})
    >>> words = lambda messages: sum(len(text.split()) for _, text in messages)
    >>> lines, _ = count_calls(jobs([case], "rewrite"), {"model": "m"}, Store(tempfile.mkdtemp()), words, Lengths())
    >>> lines.loc["rewrite", ["calls", "awaiting"]].tolist()
    [2, 1]
    """
    engine = PlanningEngine(identity, count)
    lines: dict[str, dict[str, float]] = {}
    paid = set()
    try:
        outcomes, _ = run(jobs, engine, ReadOnlyStore(store))
    except ParameterError as error:
        raise ParameterError(f"cannot be planned, since replies are placeholders: {error}") from error
    for outcome in outcomes:
        line = lines.setdefault(outcome.job.name, dict.fromkeys(COUNTS, 0))
        line["answers"] += 1
        more, budgets = _further(outcome)
        line["more"] += more
        line["most_tokens"] += budgets
        for key, stage, completion in zip(outcome.keys, outcome.stages, outcome.completions, strict=True):
            call = engine.noted[completion.stamp["noted"]] if "noted" in completion.stamp else None
            if key in paid:
                unlike = bool(call and call["awaited"] and call["condition"] != outcome.job.name)
                line["more"] += unlike
                line["most_tokens"] += unlike and call["most_tokens"]
            elif call:
                call["condition"] = outcome.job.name
            else:
                line["found"] += 1
                lengths.add_found(stage, completion)
            paid.add(key)
    for call in engine.noted:
        call["new_tokens"] = lengths.expected(call["stage"], call["most_tokens"])
    for call in engine.noted:
        replies = sum(engine.noted[number]["new_tokens"] for number in call["awaited"])
        call["prompt_tokens"] = call["tokens"] + replies
        call["read_tokens"] = call["tokens"] * call["read_share"] + replies
        told = {"calls": 1, "awaiting": bool(call["awaited"]), "exact_tokens": 0 if call["awaited"] else call["tokens"]}
        for name, value in (call | told).items():
            if name in COUNTS:
                lines[call["condition"]][name] += value
    return pd.DataFrame.from_dict(lines, orient="index", columns=COUNTS), pd.DataFrame(engine.noted)


def _further(outcome: Outcome) -> tuple[float, float]:
    """How many calls may follow besides those that an outcome was driven through, and their budgets; nan where that is
    not known."""
    function = outcome.job.function
    if not any("noted" in completion.stamp for completion in outcome.completions):
        return 0, 0
    if function not in CONDITIONS.values():
        return float("nan"), float("nan")
    possible = possible_calls(function)
    others = [outcome.job.settings.apply(call).max_new_tokens for call in possible if call.stage not in outcome.stages]
    more = len(possible) - len(outcome.stages)
    return more, sum(sorted(others, reverse=True)[:more])
