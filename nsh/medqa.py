"""Which cases come from the public test split of MedQA (`voices` Appendix A, §6)."""

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from nsh import case_fields
from nsh.case_files import read_file
from nsh.cases import Case
from nsh.retellings import fold


def medqa_split(cases: Sequence[Case], test_file: str | Path) -> pd.Series:
    """Find each case's vignette in MedQA's test split.

    Parameters
    ----------
    cases : sequence of Case
    test_file : str or pathlib.Path
        The 1,273 test questions of MedQA-USMLE, one object a line, from the data set GBaker/MedQA-USMLE-4-options on
        the Hugging Face hub (its test file) or the original distribution, github.com/jind11/MedQA; both unchecked.
        Its `question` holds the vignette; where the options follow it, they begin on a new line with "A) " and are
        cut off.

    Returns
    -------
    pandas.Series
        Indexed by case: "test" where the original vignette equals one of the file in its letters and digits
        (`nsh.retellings.fold`), "train" where it does not, missing for a case without an original vignette.

    Raises
    ------
    MissingDataError
        If there is no such file.
    DataError
        If a line cannot be read or has no `question`.

    References
    ----------
    ``voices`` Appendix A: 861 training and 139 test items, matched by their text.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> file = Path(mkdtemp(), "test.jsonl")
    >>> _ = file.write_text('{"question": "Knee pain. Why?\\\\nA) Gout\\\\nB) Lyme"}')
    >>> case = Case("1", "Why?", {"A": "Gout", "B": "Lyme"}, "A", {"clinical": "Pain."}, original="Knee pain.  Why?")
    >>> medqa_split([case], file).to_dict()
    {'1': 'test'}
    """
    questions = [
        case_fields.text("question", row.get("question"), where)
        for where, row in read_file(case_fields.data_file(test_file))
    ]
    test = {fold(question.partition("\nA) ")[0]) for question in questions}
    splits = {
        case.id: None if case.original is None else "test" if fold(case.original) in test else "train" for case in cases
    }
    return pd.Series(splits, dtype=object, name="split")
