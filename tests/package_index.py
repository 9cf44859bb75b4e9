"""The tree that a wheel for the package index is made of: `make dist REPOSITORY=https://..`.

README's links are relative, which is right wherever the checkout is, and wrong on the package
index. Here they lead to the repository, at the tag of the release, and pyproject.toml says where
that is. The tree is of what is committed.
"""

import argparse
import io
import re
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_LINK = re.compile(
    r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?P<path>[^():#\s]+)(?P<anchor>#[^)\s]*)?\)"
)


def with_absolute_links(page: str, repository: str, tag: str) -> str:
    """A page at the top of the repository, with links that hold anywhere."""

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link["image"] else "tree" if link["path"].endswith("/") else "blob"
        place = f"{repository}/{kind}/{tag}/{link['path'].rstrip('/')}{link['anchor'] or ''}"
        return f"{link['image']}[{link['text']}]({place})"

    return _LINK.sub(absolute, page)


def with_addresses(project: str, repository: str, tag: str) -> str:
    """A pyproject.toml that names the project's addresses."""
    addresses = {
        "Repository": repository,
        "Documentation": f"{repository}/blob/{tag}/docs/index.md",
        "Changelog": f"{repository}/blob/{tag}/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }
    lines = [f'{name} = "{address}"' for name, address in addresses.items()]
    table = "\n".join(["[project.urls]", *lines])
    return project.replace("[project.scripts]", f"{table}\n\n[project.scripts]", 1)


def make_tree(repository: str, target: Path) -> None:
    """Write the tree of what is committed to a new folder."""
    archive = subprocess.run(
        ["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as tree:
        tree.extractall(target, filter="data")
    project, readme = target / "pyproject.toml", target / "README.md"
    text = project.read_text(encoding="utf-8")
    tag = "v" + tomllib.loads(text)["project"]["version"]
    project.write_text(with_addresses(text, repository, tag), encoding="utf-8")
    page = readme.read_text(encoding="utf-8")
    readme.write_text(with_absolute_links(page, repository, tag), encoding="utf-8")


def main() -> int:
    """Make the tree that the arguments name."""
    parser = argparse.ArgumentParser(description="the tree that a wheel is made of")
    parser.add_argument("repository", help="https://host/owner/name")
    parser.add_argument("target", type=Path)
    arguments = parser.parse_args()
    make_tree(arguments.repository.rstrip("/"), arguments.target)
    return 0


if __name__ == "__main__":
    sys.exit(main())
