"""The figures of the book: tidy frames in, one matplotlib figure out; `Drawing(figure)` shows it as SVG.

Every figure fits a text column of 700 pixels, carries no title (the page captions it), names the unit on its axes,
draws published values as hollow markers, prints a `note` below itself, and leaves the values that it draws as its
text alternative. Frames hold proportions; accuracies are drawn as proportions, differences in percentage points.
"""

from nsh.drawing import Drawing
from nsh.gap_figures import accuracy_penalty, nag_intervals, size_scatter
from nsh.voice_figures import kappa_dots, retelling_lengths, voice_accuracy

__all__ = [
    "Drawing",
    "accuracy_penalty",
    "kappa_dots",
    "nag_intervals",
    "retelling_lengths",
    "size_scatter",
    "voice_accuracy",
]
