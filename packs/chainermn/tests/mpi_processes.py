"""Finds the processes that a process has started."""

from pathlib import Path


def descendants(process):
    """Returns the numbers of the processes that a process has started, and those that they have."""
    children = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                # The second field, a name in parentheses, may contain spaces.
                parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it has ended
            children.setdefault(parent, []).append(int(folder.name))
    found, following = [], [process]
    while following:
        own = children.get(following.pop(), [])
        found += own
        following += own
    return found
