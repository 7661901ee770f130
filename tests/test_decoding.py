"""Batched decoding with a cache against the plainest loop: one prompt, no cache, no padding, arg max of the logits."""

import pytest
from tiny_model import save_tiny_model

torch = pytest.importorskip("torch")

from transformers import AutoModelForCausalLM  # noqa: E402
from transformers.cache_utils import DynamicLayer  # noqa: E402

from nsh.decoding import greedy, joinable, read, read_branches  # noqa: E402
from nsh.scale import wide  # noqa: E402
from nsh.scale.growing import ROOM, GrowingLayer  # noqa: E402
from nsh.scale.wide import widen  # noqa: E402

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
        new = dict(greedy(model, [rest[:3], rest[3:]], lambda place, new: len(new) == 12, [(start, ())] * 2))
        assert new == {place: plainest(model, prompt, 12) for place, prompt in enumerate(PROMPTS[1:])}


def test_batches_with_starts_of_their_own_are_continued_together(model):
    starts = [(read(model, [PROMPTS[0][:6]]), ()), (None, ()), (read(model, [PROMPTS[0][:3]]), ())]
    batches = [[p[6:] for p in PROMPTS[5:]], PROMPTS[:2], [p[3:] for p in PROMPTS[2:5]]]
    new = dict(greedy(model, batches, lambda place, new: len(new) == 12, iter(starts)))
    assert list(new.values()) == [plainest(model, prompt, 12) for prompt in [*PROMPTS[5:], *PROMPTS[:2], *PROMPTS[2:5]]]


@pytest.mark.parametrize("opening", [0, 4])
def test_branches_of_a_batch_are_read_once_each_and_change_nothing(model, opening):
    told, asked = [PROMPTS[n][opening:] for n in (3, 3, 3, 5, 2, 2)], [[40, 41], [42], [43] * 9, [40], [42, 43], [44]]
    start = read(model, [PROMPTS[0][:opening]]) if opening else None
    passes = []
    hook = model.register_forward_pre_hook(lambda *got: passes.append(got[2]["input_ids"].shape), with_kwargs=True)
    begun = read_branches(model, told, start)
    new = dict(greedy(model, [asked], lambda place, new: len(new) == 12, [begun]))
    hook.remove()
    assert passes[:3] == [(3, len(told[3])), (6, 9), (6, 1)]  # the three that differ, the rests of all, a step
    whole = [[*PROMPTS[0][:opening], *one, *other] for one, other in zip(told, asked, strict=True)]
    assert new == {place: plainest(model, prompt, 12) for place, prompt in enumerate(whole)}


def test_without_branches_the_start_is_what_goes_on(model):
    start = read(model, [PROMPTS[0][:4]])
    assert read_branches(model, [[], []], start) == (start, [0, 0])
    assert read_branches(model, [[], []]) == (None, [0, 0])


def test_rows_that_leave_early_do_not_disturb_the_others(model):
    lengths = [3, 9, 1, 12, 6, 2, 9, 4]
    arrived = list(greedy(model, [PROMPTS[:4], PROMPTS[4:]], lambda place, new: len(new) == lengths[place]))
    assert [len(new) for _, new in arrived] == sorted(lengths)  # each arrives as soon as it is finished
    assert dict(arrived) == {place: plainest(model, PROMPTS[place], n) for place, n in enumerate(lengths)}


def test_rows_leave_and_stay_right_after_the_cache_has_grown(model):
    lengths = {0: ROOM + 2, 1: 2 * ROOM + 9, 2: ROOM + 5, 3: ROOM + 12}
    new = dict(greedy(model, [PROMPTS[:4]], lambda place, new: len(new) == lengths[place]))
    assert new == {place: plainest(model, PROMPTS[place], n) for place, n in lengths.items()}


def test_only_the_last_position_is_scored(model):
    widths = []
    hook = model.register_forward_pre_hook(lambda *got: widths.append(got[2]["logits_to_keep"]), with_kwargs=True)
    list(greedy(model, [PROMPTS[:2]], lambda place, new: len(new) == 2))
    hook.remove()
    assert widths == [1, 1]


def test_a_model_that_codes_longer_rows_in_another_way_says_the_same_alone_and_beside_one(tmp_path):
    """Positions up to 128 by short factors, all of a longer batch by long ones (Phi-3's longrope)."""
    from tiny_model import tiny_tokenizer
    from transformers import Phi3Config, Phi3ForCausalLM

    from nsh.engines import Call
    from nsh.errors import EngineError
    from nsh.models import resolve
    from nsh.transformers_engine import TransformersEngine

    torch.manual_seed(0)
    factors = {"short_factor": [1.0] * 8, "long_factor": [4.0] * 8, "original_max_position_embeddings": 128}
    sizes = {"hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    sizes |= {"vocab_size": 320, "max_position_embeddings": 2048, "initializer_range": 0.4}
    sizes |= {"bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1, "original_max_position_embeddings": 128}
    Phi3ForCausalLM(
        Phi3Config(**sizes, rope_parameters={"rope_type": "longrope", "rope_theta": 1e4} | factors)
    ).eval().save_pretrained(tmp_path)
    tiny_tokenizer().save_pretrained(tmp_path)
    calls = [Call((("user", "fever " * words),), 9, stage="a") for words in (1, 3, 90, 4, 100)]
    whole = {
        index: reply.text for index, reply in TransformersEngine(resolve(str(tmp_path)), "float32").generate(calls)
    }
    for index, call in enumerate(calls):
        engine = TransformersEngine(resolve(str(tmp_path)), "float32")
        assert dict(engine.generate([call]))[0].text == whole[index]
    engine = TransformersEngine(resolve(str(tmp_path)), "float32")
    length = len(engine.row(0, calls[0]))
    with pytest.raises(EngineError, match="may pass token 128"):
        list(engine.generate([Call(calls[0].messages, 129 - length)]))
    assert list(engine.generate([Call(calls[0].messages, 128 - length)])) and len(engine.row(0, calls[2])) > 128


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


def test_a_layer_grows_as_the_library_s_own_and_copies_only_the_rows_that_move():
    def step(layer, places, rows):
        new = torch.randn(rows, 2, places, 4, generator=generator)
        return layer.update(new, -new)

    generator = torch.Generator().manual_seed(0)
    parts = [DynamicLayer(), DynamicLayer()]
    for part, (places, rows) in zip(parts, [(5, 3), (3, 2)], strict=True):
        step(part, places, rows)
    plain = DynamicLayer()
    plain.update(*(torch.cat([getattr(parts[0], n), torch.nn.functional.pad(getattr(parts[1], n), (0, 0, 2, 0))])
                   for n in ("keys", "values")))  # fmt: skip
    layer = GrowingLayer(parts, width=5)
    assert [part.keys for part in parts] == [None, None]
    for kept, steps in [(None, 2 * ROOM + 1), ([4, 1, 2], 3), ([0], ROOM)]:
        if kept:
            for one in (layer, plain):
                one.batch_select_indices(torch.tensor(kept))
        state = generator.get_state()
        for one in (plain, layer):
            generator.set_state(state)
            for _ in range(steps):
                keys, values = step(one, 1, len(kept or range(5)))
        assert torch.equal(keys, plain.keys) and torch.equal(values, plain.values)
        assert layer.get_seq_length() == plain.get_seq_length() == keys.shape[2]
    held = layer.whole[0].data_ptr()
    step(layer, 1, 1)
    assert layer.whole[0].data_ptr() == held  # written in place


def test_products_in_float32_are_those_of_bfloat16_numbers_rounded_once(model, monkeypatch):
    halved = AutoModelForCausalLM.from_config(model.config, dtype=torch.bfloat16)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    assert not widen(halved) and not widen(model)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    assert widen(halved) and not widen(model)  # float32 is left alone
    monkeypatch.setattr(wide, "PART", 200)  # weights in several parts
    layer = torch.nn.Linear(64, 30).bfloat16()
    x = torch.randn(2, 3, 64).bfloat16()
    exact = x.double() @ layer.weight.double().T + layer.bias.double()
    assert torch.allclose(wide.product(layer, x).double(), exact, rtol=2**-8, atol=1e-5)  # 8 bits of a number
    out = halved(torch.tensor([PROMPTS[3]])).logits
    assert out.dtype == torch.bfloat16 and halved.lm_head.weight.dtype == torch.bfloat16


@pytest.mark.skipif(
    not (wide.has_bfloat16() and torch.backends.mkldnn.is_available()),
    reason="this CPU or this PyTorch has no bfloat16",
)
def test_weights_that_are_laid_out_once_give_the_same_numbers_to_the_bit(model, monkeypatch):
    halved = AutoModelForCausalLM.from_config(model.config, dtype=torch.bfloat16)
    prompt = torch.tensor([PROMPTS[3]])
    monkeypatch.setattr(wide, "machine_bytes", lambda: 1000)  # no room for copies
    assert not widen(halved) and "forward" not in vars(halved.lm_head)
    plain = halved(prompt).logits
    monkeypatch.undo()
    assert not widen(halved) and "forward" in vars(halved.lm_head)
    assert torch.equal(halved(prompt).logits, plain)
    for outputs in (192, 49_152):
        layer, laid = (torch.nn.Linear(576, outputs).bfloat16().requires_grad_(False) for _ in range(2))
        laid.load_state_dict(layer.state_dict())
        wide.lay_out([laid])
        for rows in (1, 12, 300):
            x = torch.randn(rows, 2, 576).bfloat16()
            assert "forward" in vars(laid) and torch.equal(laid(x), layer(x))


@pytest.mark.parametrize("error", [AttributeError, MemoryError, RuntimeError])
def test_weights_that_cannot_be_laid_out_stay_as_they_are(monkeypatch, error):
    def refuse(weight, rows):
        raise error("no")

    monkeypatch.setattr(torch.ops.mkldnn, "_reorder_linear_weight", refuse)
    layer = torch.nn.Linear(2, 2)
    wide.lay_out([layer])
    assert "forward" not in vars(layer)
