"""Texts in boxes that open and close: prompts, replies, files and whole transcripts, each shown literally."""

from collections.abc import Sequence
from html import escape

from nsh.tables import NO_MATH, Block


def boxed(
    parts: Sequence[tuple[str, str, Sequence[tuple[str, str]]]], opened: bool = True, before: str = "", after: str = ""
) -> Block:
    """Show texts in parts that open and close: each a heading, a remark, and texts under their names, all escaped.

    Nothing is left out or shortened. `before` and `after` are lines around the parts.

    Examples
    --------
    >>> "&lt;b&gt;" in boxed([("file", "", [("", "<b>")])]).html
    True
    """
    html, plain = f"<p>{escape(before)}</p>" * bool(before), [before] * bool(before)
    for head, remark, texts in parts:
        html += f'<details class="nsh-call"{" open" * opened}><summary>{escape(head)}</summary>'
        html += f"<p>{escape(remark)}</p>" * bool(remark)
        for name, text in texts:
            html += f'<p class="nsh-turn">{escape(name)}</p>' * bool(name)
            html += f'<pre class="nsh-said" tabindex="0">{escape(text)}</pre>'
        html += "</details>"
        plain += [head, *filter(None, [remark]), *(f"[{name}]\n{text}" if name else text for name, text in texts)]
    html += f"<p><strong>{escape(after)}</strong></p>" * bool(after)
    return Block(f'<div class="nsh-transcript {NO_MATH}">{html}</div>', "\n".join([*plain, *filter(None, [after])]))
