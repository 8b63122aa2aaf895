"""What the README shows works."""

import re

from tests.docs.author_page import ROOT, Page, run


def test_sample_runs_and_learns(tmp_path):
    text = Page("README.md").text
    (sample,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(sample.strip().splitlines()) <= 25
    (tmp_path / "sample.py").write_text(sample)
    output = run("python sample.py", tmp_path)
    (accuracy,) = re.findall(r"accuracy ([\d.]+)", output)
    assert float(accuracy) > 0.9
    assert (tmp_path / "model.npz").exists()


def test_links_lead_somewhere():
    pages = [f"docs/{path.name}" for path in ROOT.glob("docs/*.md")]
    for name in ["README.md", "CONTRIBUTING.md", *pages]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)(?:#[^)]*)?\)", Page(name).text):
            # The reference and the pages of tutorials are written when the site is built.
            written = target.startswith("reference/") or (
                target.startswith("tutorials/")
                and (ROOT / "docs" / target).with_suffix(".ipynb").exists()
            )
            exists = written or ((ROOT / name).parent / target).exists()
            assert exists, f"{name} links to {target}"


def test_commands_are_targets_of_the_makefile():
    makefile = (ROOT / "Makefile").read_text()
    commands = set(re.findall(r"`?make ([a-z]+)", Page("README.md").text))
    assert {"demo", "test"} <= commands
    for command in commands:
        assert re.search(rf"^{command}:", makefile, re.MULTILINE), f"make {command}"
