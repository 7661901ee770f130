"""A tiny random Llama with a byte-level tokenizer, built offline: the text is nonsense, the code path real."""

from pathlib import Path

TEXTS = [
    "A 52-year-old man has had a fever and a cough since Monday.",
    "Which of the following is the correct option?",
    "Options: A: gout B: Lyme disease C: influenza D: sarcoidosis. Answer: B.",
]
CHATML = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}</s>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
LLAMA = "{{ bos_token }}" + CHATML
GEMMA = (
    "{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}" + CHATML
)


def tiny_tokenizer(template: str | None = LLAMA, adds_start: bool = True):
    """A tokenizer whose start token is `<s>` and whose padding is its end token `</s>`."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    special = ["<s>", "</s>", "<|im_start|>"]
    trainer = trainers.BpeTrainer(
        vocab_size=320, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    core.train_from_iterator(TEXTS, trainer)
    if adds_start:
        core.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=core, bos_token="<s>", eos_token="</s>", pad_token="</s>")
    tokenizer.chat_template = template
    return tokenizer


def save_tiny_model(folder: Path, template: str | None = LLAMA, context: int = 512, **generation) -> str:
    """Write model and tokenizer into a folder and return its path; `generation` goes into generation_config.json."""
    import torch
    from transformers import GenerationConfig, LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=320,
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=context,
        initializer_range=0.4,
        bos_token_id=0,
        eos_token_id=1,
    )
    model = LlamaForCausalLM(config)
    model.generation_config = GenerationConfig(eos_token_id=1, bos_token_id=0, **generation)
    model.save_pretrained(folder)
    tiny_tokenizer(template).save_pretrained(folder)
    return str(folder)
