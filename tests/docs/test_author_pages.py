"""The pages for authors work: their files are written, their commands run, the outputs compared."""

import pytest

from tests.docs.author_page import Page, assert_output, run


def _follow(name, tmp_path, **variables):
    page = Page(f"docs/{name}.md")
    folder, site = tmp_path / "project", tmp_path / "site"
    folder.mkdir()
    page.write(folder)
    assert page.commands
    for command in page.commands:
        assert_output(command, run(command.line, folder, site, **variables))


def test_add_a_function(tmp_path):
    _follow("add-a-function", tmp_path)


def test_add_a_link(tmp_path):
    _follow("add-a-link", tmp_path)


def test_add_a_distribution(tmp_path):
    _follow("add-a-distribution", tmp_path)


def test_add_a_plugin(tmp_path):
    _follow("add-a-plugin", tmp_path)


@pytest.mark.slow
def test_add_a_backend(tmp_path):
    # Of the suite a third: float16 is where array types differ most. (tests/conformance runs all of
    # it on another backend.)
    _follow("add-a-backend", tmp_path, PYTEST_ADDOPTS="-k 'contract or float16'")


def test_add_a_kernel(tmp_path):
    _follow("add-a-kernel", tmp_path)


def test_add_an_optimizer(tmp_path):
    _follow("add-an-optimizer", tmp_path)


def test_add_an_extension(tmp_path):
    _follow("add-an-extension", tmp_path)


def test_add_a_dataset(tmp_path):
    _follow("add-a-dataset", tmp_path)
