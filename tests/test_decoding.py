"""Batched decoding with a cache against the plainest loop: one prompt, no cache, no padding, arg max of the logits."""

import pytest
from tiny_model import save_tiny_model

torch = pytest.importorskip("torch")

from transformers import AutoModelForCausalLM  # noqa: E402

from nsh.decoding import greedy, joinable, read  # noqa: E402

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


@pytest.mark.parametrize("sizes", [[8], [1] * 8, [3, 5], [4, 1, 3]])
def test_padded_and_joined_batches_equal_the_plainest_loop(model, sizes):
    rows = iter(PROMPTS)
    batches = [[next(rows) for _ in range(size)] for size in sizes]
    new = dict(greedy(model, batches, lambda place, new: len(new) == 12))
    assert new == {place: plainest(model, prompt, 12) for place, prompt in enumerate(PROMPTS)}


@pytest.mark.parametrize("shared", [1, 5, 8])
def test_a_start_that_is_read_once_changes_nothing(model, shared):
    start = read(model, [PROMPTS[0][:shared]])
    rest = [prompt[shared:] for prompt in PROMPTS[1:]]
    for _ in range(2):  # the start is not used up
        new = dict(greedy(model, [rest[:3], rest[3:]], lambda place, new: len(new) == 12, start))
        assert new == {place: plainest(model, prompt, 12) for place, prompt in enumerate(PROMPTS[1:])}


def test_rows_that_leave_early_do_not_disturb_the_others(model):
    lengths = [3, 9, 1, 12, 6, 2, 9, 4]
    arrived = list(greedy(model, [PROMPTS[:4], PROMPTS[4:]], lambda place, new: len(new) == lengths[place]))
    assert [len(new) for _, new in arrived] == sorted(lengths)  # each arrives as soon as it is finished
    assert dict(arrived) == {place: plainest(model, PROMPTS[place], n) for place, n in enumerate(lengths)}


def test_only_the_last_position_is_scored(model):
    widths = []
    hook = model.register_forward_pre_hook(lambda *got: widths.append(got[2]["logits_to_keep"]), with_kwargs=True)
    list(greedy(model, [PROMPTS[:2]], lambda place, new: len(new) == 2))
    hook.remove()
    assert widths == [1, 1]


def test_models_that_see_only_a_window_are_not_joined(model):
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    assert joinable(model)
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_attention_heads": 2, "num_key_value_heads": 1}
    config = Gemma3TextConfig(vocab_size=320, num_hidden_layers=6, head_dim=16, sliding_window=8, **sizes)
    windowed = Gemma3ForCausalLM(config).eval()
    assert not joinable(windowed)
    new = dict(greedy(windowed, [PROMPTS], lambda place, new: len(new) == 12))  # longer than the window
    assert new == {place: plainest(windowed, prompt, 12) for place, prompt in enumerate(PROMPTS)}


def test_a_held_row_gets_the_token_that_is_taken_for_it_and_the_others_are_as_before(model):
    class Least:
        def next(self, scores):
            return int(scores.argmin())

    least = list(PROMPTS[4])
    for _ in range(12):
        with torch.inference_mode():
            least.append(int(model(input_ids=torch.tensor([least])).logits[0, -1].argmin()))
    held = [Least() if place == 4 else None for place in range(8)]
    ends = {0: 3, 4: 12}  # a row before the held one leaves early
    new = dict(greedy(model, [PROMPTS[:3], PROMPTS[3:]], lambda place, new: len(new) == ends.get(place, 8), held=held))
    assert new.pop(4) == least[-12:]
    assert new == {place: plainest(model, PROMPTS[place], ends.get(place, 8)) for place in new}
