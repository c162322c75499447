"""Fill in the parts of the package's metadata that depend on where the repository is published.

The build backend calls this hook. Its one setting is `repository` in `pyproject.toml`. While it is empty, the
package has no links and its README stays as it is.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

CHECKOUT = Path(__file__).parents[1]


class Hook(MetadataHookInterface):
    """Set `urls` and `readme`, which `pyproject.toml` declares as dynamic."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        repository = str(self.config["repository"]).rstrip("/")
        text = (CHECKOUT / "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute_links(text, repository)}
        metadata["urls"] = project_urls(repository)


def project_urls(repository: str) -> dict[str, str]:
    """Return the links that a package index shows beside the package."""
    if not repository:
        return {}
    return {
        "Repository": repository,
        "Documentation": f"{repository}/tree/HEAD/docs",
        "Changelog": f"{repository}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }


def absolute_links(text: str, repository: str) -> str:
    """Make relative links and images of a Markdown text absolute, because a package index has no other files."""
    if not repository:
        return text

    def absolute(link: re.Match[str]) -> str:
        kind = "raw" if link["image"] else "blob"
        return f"{link['image']}[{link['text']}]({repository}/{kind}/HEAD/{link['target']})"

    return re.sub(r"(?P<image>!?)\[(?P<text>[^\]]*)\]\((?!\w+:|#)(?P<target>[^)]+)\)", absolute, text)
