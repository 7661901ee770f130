"""Batched decoding with a cache against the plainest loop: one prompt, no cache, no padding, arg max of the logits."""

import pytest
from tiny_model import save_tiny_model

torch = pytest.importorskip("torch")

from transformers import AutoModelForCausalLM  # noqa: E402

from nsh.decoding import greedy  # noqa: E402

PROMPTS = [[0, *range(5, 5 + 7 * n)] for n in (1, 2, 3, 5, 8, 9, 13, 20)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = save_tiny_model(tmp_path_factory.mktemp("tiny"))
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()


def plainest(model, prompt: list[int], steps: int) -> list[int]:
    """Greedy by definition."""
    ids = list(prompt)
    with torch.inference_mode():
        for _ in range(steps):
            ids.append(int(model(input_ids=torch.tensor([ids])).logits[0, -1].argmax()))
    return ids[len(prompt) :]


def test_a_padded_batch_equals_the_plainest_loop(model):
    new = dict(greedy(model, PROMPTS, lambda place, new: len(new) == 12))
    assert new == {place: plainest(model, prompt, 12) for place, prompt in enumerate(PROMPTS)}


def test_rows_that_leave_early_do_not_disturb_the_others(model):
    lengths = [3, 9, 1, 12, 6, 2, 9, 4]
    arrived = list(greedy(model, PROMPTS, lambda place, new: len(new) == lengths[place]))
    assert [len(new) for _, new in arrived] == sorted(lengths)  # each arrives as soon as it is finished
    assert dict(arrived) == {place: plainest(model, PROMPTS[place], n) for place, n in enumerate(lengths)}


def test_only_the_last_position_is_scored(model):
    widths = []
    hook = model.register_forward_pre_hook(lambda *got: widths.append(got[2]["logits_to_keep"]), with_kwargs=True)
    list(greedy(model, PROMPTS[:2], lambda place, new: len(new) == 2))
    hook.remove()
    assert widths == [1, 1]
