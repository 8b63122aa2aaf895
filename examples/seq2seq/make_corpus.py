#!/usr/bin/env python3
"""Write a small parallel corpus: the numbers 0 to 9999 in English and in French words.

The rules are real and not word for word: 91 is "ninety one", but "quatre vingt onze" (four twenty
eleven). Leaves train.en, train.fr, valid.en, valid.fr, vocab.en and vocab.fr in a directory.
"""

import argparse
import os
import random

ENGLISH = (  # noqa: SIM905
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
ENGLISH_TENS = "- - twenty thirty forty fifty sixty seventy eighty ninety".split()  # noqa: SIM905
FRENCH = (  # noqa: SIM905
    "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
).split()
FRENCH_TENS = ["-", "dix", "vingt", "trente", "quarante", "cinquante", "soixante"]


def english(n):
    """Returns the words of a number below 10,000."""
    if n < 20:
        return [ENGLISH[n]]
    if n < 100:
        return [ENGLISH_TENS[n // 10]] + (english(n % 10) if n % 10 else [])
    size, name = (1000, "thousand") if n >= 1000 else (100, "hundred")
    rest = n % size
    joint = ["and"] if 0 < rest < 100 else []
    return [*english(n // size), name, *joint, *(english(rest) if rest else [])]


def french(n):
    """Returns the words of a number below 10,000."""
    if n < 17:
        return [FRENCH[n]]
    if n < 20:
        return ["dix", FRENCH[n - 10]]
    if n < 70:
        tens, ones = divmod(n, 10)
        return [FRENCH_TENS[tens], *(["et"] if ones == 1 else []), *(french(ones) if ones else [])]
    if n < 80:
        # 70 to 79 are sixty and ten to nineteen.
        return ["soixante", *(["et"] if n == 71 else []), *french(n - 60)]
    if n < 100:
        # 80 to 99 are four times twenty, and one to nineteen.
        return ["quatre", "vingts"] if n == 80 else ["quatre", "vingt", *french(n - 80)]
    if n < 1000:
        hundreds, rest = divmod(n, 100)
        name = "cents" if hundreds > 1 and not rest else "cent"
        count = french(hundreds) if hundreds > 1 else []
        return [*count, name, *(french(rest) if rest else [])]
    thousands, rest = divmod(n, 1000)
    count = french(thousands) if thousands > 1 else []
    return [*count, "mille", *(french(rest) if rest else [])]


def write(path, sentences):
    """Writes a sentence a line."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(" ".join(words) + "\n" for words in sentences)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.ArgumentDefaultsHelpFormatter
    )
    parser.add_argument("--out", "-o", default="corpus", help="directory to write to")
    parser.add_argument("--size", "-n", type=int, default=10000, help="numbers to write, from 0")
    parser.add_argument("--valid", type=float, default=0.1, help="part held out for validation")
    parser.add_argument("--seed", type=int, default=0, help="seed of the split")
    args = parser.parse_args()
    if not 10 <= args.size <= 10000:
        parser.error(f"--size must be 10 to 10000, not {args.size}")
    if not 0 < args.valid < 1:
        parser.error(f"--valid must be between 0 and 1, not {args.valid}")

    numbers = list(range(args.size))
    random.Random(args.seed).shuffle(numbers)
    n_valid = max(1, int(args.size * args.valid))
    os.makedirs(args.out, exist_ok=True)
    for language, spell in (("en", english), ("fr", french)):
        sentences = [spell(n) for n in numbers]
        write(os.path.join(args.out, f"valid.{language}"), sentences[:n_valid])
        write(os.path.join(args.out, f"train.{language}"), sentences[n_valid:])
        vocabulary = sorted({word for words in sentences for word in words})
        write(os.path.join(args.out, f"vocab.{language}"), [[word] for word in vocabulary])
    print(f"{args.size - n_valid} + {n_valid} pairs of sentences are in {args.out}/")


if __name__ == "__main__":
    main()
