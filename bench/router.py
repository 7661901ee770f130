"""Precision and recall of the tool router against its released logs, per tool, with every kind of difference.

NSH_RELEASED_DIR=... python bench/router.py
"""

import sys

import pandas as pd
from router_audit import router_against_logs

from nsh.pull import released_dir


def main() -> None:
    """Print one table."""
    with pd.option_context("display.width", 250, "display.max_columns", None, "display.max_colwidth", 90):
        table = router_against_logs(released_dir("require"))
        sys.stdout.write(f"{table.to_string(index=False, float_format='{:.3f}'.format)}\n")


if __name__ == "__main__":
    main()
