"""Trains a small GPT on a text, continues the text, fine-tunes on another one, and exports.

python train_gpt.py --out result/gpt
python train_gpt.py --tune other.txt --onnx

The tokens are letters. The folder has the files of Hugging Face's layout, which transformers reads
as well; with --onnx it has a model of ONNX, too (it needs onnx-chainer). With --tune the small
matrices of LoRA are trained on the other text, on weights of 8 bits, and saved as an adapter.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import chainer
import chainer.functions as F
from chainer import training
from chainer.training import extensions

try:
    import chainer_models as cm
except ImportError:
    command = chainer.utils.install_command("chainer[models]")
    sys.exit(f"this example needs chainer-models: {command}")

TEXT = Path(__file__).parent.parent / "characters" / "the_house_that_jack_built.txt"


class Letters:
    """Letters of a text as tokens."""

    def __init__(self, text):
        self.letters = sorted(set(text))

    def encode(self, text):
        numbers = {letter: i for i, letter in enumerate(self.letters)}
        return np.array([numbers[letter] for letter in text], np.int32)

    def decode(self, ids):
        return "".join(self.letters[i] for i in ids)


class Loss(chainer.Chain):
    """Cross entropy of the next letter."""

    def __init__(self, model):
        super().__init__()
        with self.init_scope():
            self.model = model

    def forward(self, ids):
        logits = self.model(ids[:, :-1])
        loss = F.softmax_cross_entropy(
            F.reshape(logits, (-1, logits.shape[-1])), ids[:, 1:].reshape(-1)
        )
        chainer.report({"loss": loss}, self)
        return loss


def train(model, ids, iterations, length, out, alpha):
    """Trains the parameters of a model that are not frozen."""
    samples = [ids[i : i + length + 1] for i in range(len(ids) - length)]
    iterator = chainer.iterators.SerialIterator(samples, 16)
    optimizer = chainer.optimizers.AdamW(alpha, pytorch_style=True).setup(Loss(model))
    updater = training.StandardUpdater(iterator, optimizer)
    trainer = training.Trainer(updater, (iterations, "iteration"), out=str(out))
    trainer.extend(extensions.LogReport(trigger=(min(50, iterations), "iteration")))
    trainer.extend(extensions.PrintReport(["iteration", "main/loss", "elapsed_time"]))
    trainer.run()
    return trainer.observation["main/loss"]


def continued(model, letters, text, length):
    """Returns a text with the letters that the model adds, up to the length of the samples."""
    # Later positions were never trained.
    ids = cm.generate(model, letters.encode(text)[None], max_new_tokens=length - len(text))
    return letters.decode(ids[0])


def main(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--text", type=Path, default=TEXT)
    parser.add_argument("--tune", type=Path, help="text for LoRA, of the same letters")
    parser.add_argument("--out", type=Path, default=Path("result/gpt"))
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--length", type=int, default=48, help="letters of a sample")
    parser.add_argument("--onnx", action="store_true", help="write a model of ONNX, too")
    options = parser.parse_args(arguments)
    chainer.utils.seed(0)

    text = options.text.read_text(encoding="utf-8")
    letters = Letters(text)
    config = {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "vocab_size": len(letters.letters),
        "n_positions": 128,
        "n_embd": 64,
        "n_layer": 2,
        "n_head": 4,
        # The text has no marks of beginning and end.
        "bos_token_id": None,
        "eos_token_id": None,
    }
    model = cm.from_config(config, initialize=True)
    train(model, letters.encode(text), options.iterations, options.length, options.out, 3e-3)
    cm.save_pretrained(model, options.out)

    model = cm.load_pretrained(options.out)
    print(continued(model, letters, text[:12], options.length))
    if options.onnx:
        import onnx_chainer

        with chainer.using_config("train", False):
            onnx_chainer.export(
                model, letters.encode(text[:12])[None], str(options.out / "model.onnx")
            )
        print(f"written: {options.out / 'model.onnx'}")
    if options.tune is not None:
        other = options.tune.read_text(encoding="utf-8")
        unknown = sorted(set(other) - set(letters.letters))
        if unknown:
            parser.error(f"--tune: the model does not know the letters {''.join(unknown)!r}")
        model = cm.load_pretrained(options.out, weights="int8")
        cm.add_lora(model, "/attn/", rank=8)
        train(model, letters.encode(other), options.iterations, options.length, options.out, 1e-2)
        cm.save_adapter(model, options.out / "adapter")
        print(continued(model, letters, other[:12], options.length))


if __name__ == "__main__":
    main()
