"""Sizes of the models of ``benchmarks models``, for both libraries. Standard library only."""

#: Name -> options of ``config.json``. Llama is as large as GPT-2 small, with few heads of keys.
DECODERS = {
    "GPT-2": {
        "model_type": "gpt2",
        "bos_token_id": None,
        "eos_token_id": None,
    },
    "Llama": {
        "model_type": "llama",
        "vocab_size": 32000,
        "hidden_size": 576,
        "intermediate_size": 1536,
        "num_hidden_layers": 30,
        "num_attention_heads": 9,
        "num_key_value_heads": 3,
        "max_position_embeddings": 2048,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": None,
    },
}

#: Name of the row -> options, shape of the input.
ENCODERS = {
    "BERT-base, 1 x 128": ({"model_type": "bert"}, (1, 128)),
    "ViT-base, 1 image": ({"model_type": "vit"}, (1, 3, 224, 224)),
}

#: Tokens before those that are timed, and how many are timed.
KNOWN, NEW = 32, 8
#: Tokens of the prompt whose reading is timed.
PROMPT = 256

#: Name of the row -> batch, channels, size of the images, kernel, stride.
DEPTHWISE = {
    "depthwise 3 x 3": (8, 96, 28, 3, 1),
    "depthwise 7 x 7": (8, 96, 28, 7, 1),
    "depthwise 5 x 5, stride 2": (8, 144, 28, 5, 2),
}


def decoding(name, weights="", is_captured=False, is_mapped=True):
    """Returns the name of the row of a decoder.

    Its weights are mapped from the file or in memory of the process, and may be packed; its step
    may be captured.
    """
    words = [name, "" if is_mapped else "in memory", weights, "captured" if is_captured else ""]
    return f"{' '.join([word for word in words if word])}, {NEW} tokens"


def reading(name):
    """Returns the name of the row of a decoder that reads a prompt."""
    return f"{name}, prompt of {PROMPT}"


def memory(name, weights):
    """Returns the name of the row that reads as much memory as the decoder has weights."""
    return f"{name}, read its {weights} weights {NEW} times"


#: Bytes of a number. Of bfloat16 12 bits are kept: exponents are relative to a row.
WIDTHS = {"float32": 4, "bfloat16": 1.5, "int8": 1}

LOADING = "GPT-2, load a file"
