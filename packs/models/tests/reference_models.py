"""Small models, made of names and shapes only, so that both libraries have the same without a file.

This module needs NumPy only: the environment with transformers imports it, too.
"""

import zlib

import numpy as np

VOCABULARY = 67

_LLAMA = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "max_position_embeddings": 128,
    "bos_token_id": None,
    "eos_token_id": None,
    "pad_token_id": None,
}


def _rope(**values):
    return {**_LLAMA, "rope_parameters": {"rope_theta": 10000.0, **values}}


#: Name of the case -> class in transformers, options of ``config.json``.
CAUSAL = {
    "gpt2": (
        "GPT2LMHeadModel",
        {
            "model_type": "gpt2",
            "vocab_size": VOCABULARY,
            "n_positions": 96,
            "n_embd": 32,
            "n_layer": 2,
            "n_head": 4,
            "resid_pdrop": 0.0,
            "attn_pdrop": 0.0,
            "embd_pdrop": 0.0,
            "bos_token_id": None,
            "eos_token_id": None,
        },
    ),
    "llama": ("LlamaForCausalLM", {"model_type": "llama", **_LLAMA}),
    "llama tied, biases": (
        "LlamaForCausalLM",
        {
            "model_type": "llama",
            **_LLAMA,
            "tie_word_embeddings": True,
            "attention_bias": True,
            "mlp_bias": True,
        },
    ),
    "llama linear": (
        "LlamaForCausalLM",
        {"model_type": "llama", **_rope(rope_type="linear", factor=2.0)},
    ),
    "llama dynamic": (
        "LlamaForCausalLM",
        {"model_type": "llama", **_rope(rope_type="dynamic", factor=2.0)},
    ),
    "llama llama3": (
        "LlamaForCausalLM",
        {
            "model_type": "llama",
            **_rope(
                rope_type="llama3",
                factor=8.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_position_embeddings=16,
            ),
        },
    ),
    "llama yarn": (
        "LlamaForCausalLM",
        {
            "model_type": "llama",
            **_rope(rope_type="yarn", factor=8.0, original_max_position_embeddings=16),
        },
    ),
    "mistral": ("MistralForCausalLM", {"model_type": "mistral", **_LLAMA, "sliding_window": 7}),
    "qwen2": ("Qwen2ForCausalLM", {"model_type": "qwen2", **_LLAMA}),
    "qwen2 window": (
        "Qwen2ForCausalLM",
        {
            "model_type": "qwen2",
            **_LLAMA,
            "use_sliding_window": True,
            "sliding_window": 5,
            "max_window_layers": 1,
        },
    ),
    "qwen3": ("Qwen3ForCausalLM", {"model_type": "qwen3", **_LLAMA}),
    "gemma": ("GemmaForCausalLM", {"model_type": "gemma", **_LLAMA}),
    "gemma2": (
        "Gemma2ForCausalLM",
        {
            "model_type": "gemma2",
            **_LLAMA,
            "sliding_window": 6,
            "query_pre_attn_scalar": 16,
            "attn_logit_softcapping": 5.0,
            "final_logit_softcapping": 9.0,
        },
    ),
}

_BERT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "max_position_embeddings": 40,
    "hidden_dropout_prob": 0.0,
    "attention_probs_dropout_prob": 0.0,
}
_DISTIL = {
    "vocab_size": VOCABULARY,
    "dim": 32,
    "n_layers": 2,
    "n_heads": 4,
    "hidden_dim": 48,
    "max_position_embeddings": 40,
    "dropout": 0.0,
    "attention_dropout": 0.0,
}

ENCODERS = {
    "bert": ("BertForMaskedLM", {"model_type": "bert", **_BERT}),
    "bert without head": ("BertModel", {"model_type": "bert", **_BERT}),
    "roberta": ("RobertaForMaskedLM", {"model_type": "roberta", **_BERT}),
    "distilbert": ("DistilBertForMaskedLM", {"model_type": "distilbert", **_DISTIL}),
}

#: Heads for other tasks. Texts are padded on the right, with the token 1.
HEADS = {
    "bert classes": ("BertForSequenceClassification", {"model_type": "bert", **_BERT}),
    "bert tokens": ("BertForTokenClassification", {"model_type": "bert", **_BERT}),
    "bert answers": ("BertForQuestionAnswering", {"model_type": "bert", **_BERT}),
    "roberta classes": ("RobertaForSequenceClassification", {"model_type": "roberta", **_BERT}),
    "roberta tokens": ("RobertaForTokenClassification", {"model_type": "roberta", **_BERT}),
    "distilbert classes": (
        "DistilBertForSequenceClassification",
        {"model_type": "distilbert", **_DISTIL, "seq_classif_dropout": 0.0},
    ),
    "distilbert answers": (
        "DistilBertForQuestionAnswering",
        {"model_type": "distilbert", **_DISTIL, "qa_dropout": 0.0},
    ),
    "gpt2 classes": ("GPT2ForSequenceClassification", {**CAUSAL["gpt2"][1], "pad_token_id": 1}),
    "gpt2 tokens": ("GPT2ForTokenClassification", CAUSAL["gpt2"][1]),
    "llama classes": ("LlamaForSequenceClassification", {**CAUSAL["llama"][1], "pad_token_id": 1}),
    "qwen2 tokens": ("Qwen2ForTokenClassification", CAUSAL["qwen2"][1]),
    "gemma2 classes": (
        "Gemma2ForSequenceClassification",
        {**CAUSAL["gemma2"][1], "pad_token_id": 1},
    ),
}
_T5 = {
    "vocab_size": VOCABULARY,
    "d_model": 32,
    "d_kv": 8,
    "d_ff": 48,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 4,
    "relative_attention_num_buckets": 8,
    "relative_attention_max_distance": 16,
    "dropout_rate": 0.0,
    "eos_token_id": None,
    "pad_token_id": 0,
    "decoder_start_token_id": 0,
}
SEQUENCES = {
    "t5": ("T5ForConditionalGeneration", {"model_type": "t5", **_T5}),
    "t5 v1.1": (
        "T5ForConditionalGeneration",
        {
            "model_type": "t5",
            **_T5,
            "feed_forward_proj": "gated-gelu",
            "tie_word_embeddings": False,
        },
    ),
}

_VISION = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "image_size": 16,
    "patch_size": 4,
    "num_labels": 5,
}
IMAGES = {
    "vit": ("ViTForImageClassification", {"model_type": "vit", **_VISION, "intermediate_size": 48}),
    "vit without head": ("ViTModel", {"model_type": "vit", **_VISION, "intermediate_size": 48}),
    "dinov2": ("Dinov2ForImageClassification", {"model_type": "dinov2", **_VISION}),
    "dinov2 without head": ("Dinov2Model", {"model_type": "dinov2", **_VISION}),
    "convnext": (
        "ConvNextForImageClassification",
        {
            "model_type": "convnext",
            "hidden_sizes": [8, 12],
            "depths": [1, 2],
            "num_stages": 2,
            "patch_size": 2,
            "num_labels": 5,
        },
    ),
    "resnet": (
        "ResNetForImageClassification",
        {
            "model_type": "resnet",
            "embedding_size": 8,
            "hidden_sizes": [16, 24],
            "depths": [1, 2],
            "num_labels": 5,
        },
    ),
    "resnet basic": (
        "ResNetForImageClassification",
        {
            "model_type": "resnet",
            "embedding_size": 8,
            "hidden_sizes": [8, 12],
            "depths": [2, 1],
            "layer_type": "basic",
            "num_labels": 5,
        },
    ),
}

#: Networks that timm or torchvision makes: the class is the function that makes them.
NAMED = {
    "timm resnet18": ("timm", {"architecture": "resnet18", "num_classes": 7}),
    "timm resnet50": ("timm", {"architecture": "resnet50", "num_classes": 7}),
    "timm efficientnet": ("timm", {"architecture": "efficientnet_b0", "num_classes": 7}),
    "timm tf_efficientnet": ("timm", {"architecture": "tf_efficientnet_b0", "num_classes": 7}),
    "timm mobilenetv3": ("timm", {"architecture": "mobilenetv3_small_100", "num_classes": 7}),
    "timm tf_mobilenetv3 large": (
        "timm",
        {"architecture": "tf_mobilenetv3_large_100", "num_classes": 7},
    ),
    "timm mobilenetv3 without head": (
        "timm",
        {"architecture": "mobilenetv3_small_050", "num_classes": 0},
    ),
    "timm convnext": ("timm", {"architecture": "convnext_tiny", "num_classes": 7}),
    "torchvision resnet18": (
        "torchvision",
        {"model_type": "torchvision/resnet18", "num_classes": 7},
    ),
    "torchvision efficientnet": (
        "torchvision",
        {"model_type": "torchvision/efficientnet_b0", "num_classes": 7},
    ),
    "torchvision mobilenetv3": (
        "torchvision",
        {"model_type": "torchvision/mobilenet_v3_small", "num_classes": 7},
    ),
    "torchvision mobilenetv3 large": (
        "torchvision",
        {"model_type": "torchvision/mobilenet_v3_large", "num_classes": 7},
    ),
    "torchvision convnext": (
        "torchvision",
        {"model_type": "torchvision/convnext_tiny", "num_classes": 7},
    ),
}

#: Cases of NAMED that take seconds: the tests marked slow have them.
LARGE = (
    "timm resnet50",
    "timm tf_mobilenetv3 large",
    "timm convnext",
    "torchvision mobilenetv3 large",
    "torchvision convnext",
)

CLIP = {
    "clip": (
        "CLIPModel",
        {
            "model_type": "clip",
            "projection_dim": 16,
            "text_config": {
                "vocab_size": VOCABULARY,
                "hidden_size": 32,
                "intermediate_size": 48,
                "num_hidden_layers": 2,
                "num_attention_heads": 4,
                "max_position_embeddings": 20,
                "eos_token_id": 66,
            },
            "vision_config": {
                "hidden_size": 24,
                "intermediate_size": 40,
                "num_hidden_layers": 2,
                "num_attention_heads": 3,
                "image_size": 16,
                "patch_size": 4,
            },
        },
    )
}

SOUNDS = {
    "whisper": (
        "WhisperForConditionalGeneration",
        {
            "model_type": "whisper",
            "vocab_size": VOCABULARY,
            "num_mel_bins": 8,
            "d_model": 32,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 4,
            "decoder_attention_heads": 4,
            "encoder_ffn_dim": 48,
            "decoder_ffn_dim": 48,
            "max_source_positions": 20,
            "max_target_positions": 64,
            "dropout": 0.0,
            "decoder_start_token_id": 1,
            "bos_token_id": None,
            "eos_token_id": None,
            "pad_token_id": 0,
            "suppress_tokens": None,
            "begin_suppress_tokens": None,
        },
    )
}

#: Name of the case -> kind, class in transformers, options of ``config.json``.
CASES = {
    name: (kind, *case)
    for kind, cases in (
        ("causal", CAUSAL),
        ("encoder", ENCODERS),
        ("head", HEADS),
        ("sequence", SEQUENCES),
        ("image", IMAGES),
        ("named", NAMED),
        ("clip", CLIP),
        ("sound", SOUNDS),
    )
    for name, case in cases.items()
}


def weight(name, shape, is_deep=False):
    """Returns the tensor of a name: the same numbers everywhere.

    Weights are large, so that greedy texts do not repeat one token. In a deep network they are as
    large as initializers make them.
    """
    values = np.random.RandomState(zlib.crc32(name.encode())).standard_normal(shape)
    if name.endswith("num_batches_tracked"):
        return np.array(0, np.int64)
    if name.endswith("running_var"):
        values = 0.5 + np.abs(values)
    elif len(shape) == 1:
        values = values * 0.2 + (1.0 if name.endswith("weight") else 0.0)
    elif is_deep:
        values *= (2 / np.prod(shape[1:])) ** 0.5
    else:
        values *= 0.3
    return values.astype(np.float32)


def tokens(batch=2, length=12, vocabulary=VOCABULARY, seed=0):
    """Returns tokens of texts."""
    return np.random.RandomState(seed).randint(3, vocabulary, (batch, length))


def image_size(options):
    """Returns the height and width of the images of a case."""
    is_convolutional = options.get("model_type") in (None, "resnet", "convnext")
    return 64 if is_convolutional or "/" in options["model_type"] else 16


def images(size=16):
    """Returns two images."""
    return np.random.RandomState(3).standard_normal((2, 3, size, size)).astype(np.float32)


def sounds():
    """Returns features of two sounds."""
    return np.random.RandomState(4).standard_normal((2, 8, 40)).astype(np.float32)


def ended_tokens():
    """Returns texts with an end token, which CLIP looks for."""
    ids = tokens(3, 9, VOCABULARY - 1)
    ids[:, -1] = VOCABULARY - 1
    return ids


def padded_tokens():
    """Returns texts that end three tokens earlier, with zeros behind the end token."""
    ids = ended_tokens()
    ids[:, -4], ids[:, -3:] = ids[:, -1], 0
    return ids


def left_padding(batch=2, length=12):
    """Returns a mask: the last text begins three tokens later."""
    mask = np.ones((batch, length), np.int64)
    mask[-1, :3] = 0
    return mask


def right_padding(batch=2, length=12):
    """Returns a mask: the last text ends three tokens earlier."""
    return left_padding(batch, length)[:, ::-1].copy()


def factors(shape):
    """Returns what outputs are multiplied by, before their sum is differentiated."""
    return np.random.RandomState(5).standard_normal(shape).astype(np.float32)


def some(array, count=6):
    """Returns a few elements of an array, the same everywhere."""
    flat = np.ascontiguousarray(array).reshape(-1)
    places = np.random.RandomState(flat.size % 2**31).randint(0, flat.size, count)
    return [float(f"{x:.7g}") for x in flat[places].tolist()]
