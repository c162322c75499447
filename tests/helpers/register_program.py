"""A program that reads entries with inspect_evals, and submits them again with its own engine.

It runs in the environment of locks/inspect_evals.txt (tests/export/test_submissions.py), which has no Carrara. On
standard input are the folder of the entries, an empty folder, the text of the file with the tasks, and for each entry
the link, the paper's address and the fields that a model would derive. GitHub, arXiv and the model are replaced: each
returns what was given. On standard output is what was read and resolved.
"""

import io
import json
import sys
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any


class Replaced:
    """GitHub, arXiv and a language model, for one submission."""

    def __init__(self, source: str, fields: dict[str, str]) -> None:
        self.source, self.fields = source, fields

    def get_repo(self, name: str) -> "Replaced":
        return self

    def get_contents(self, path: str, ref: str) -> Any:
        return SimpleNamespace(decoded_content=self.source.encode())

    def get_text(self, url: str, params: dict[str, str]) -> str:
        title = self.fields["paper_title"]
        return f'<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>{title}</title></entry></feed>'

    def get_bytes(self, url: str) -> bytes:
        writer, pdf = import_module("pypdf").PdfWriter(), io.BytesIO()
        writer.add_blank_page(72, 72)
        writer.write(pdf)
        return pdf.getvalue()

    def complete(self, prompt: str) -> str:
        answer = {**self.fields, "correspondence": {"matches": True, "rationale": "It is replaced."}}
        return f"```json\n{json.dumps(answer)}\n```"


def main() -> None:
    request = json.load(sys.stdin)
    listing = import_module("inspect_evals.metadata").load_listing(Path(request["folder"]) / "src" / "inspect_evals")
    links, resolver = (import_module(f"register_tooling.{name}") for name in ("source_url", "task_resolver"))
    resolved, checks = {}, {}
    for name, entry in request["entries"].items():
        link = links.parse_source_url(entry["link"])
        assert link.is_permalink
        task = resolver.resolve_task(request["source"], line_anchor=link.line_anchor, file_label=link.task_path)
        resolved[name] = [link.task_path, task.name]
        if entry["arxiv"]:
            replaced = Replaced(request["source"], entry["fields"])
            result = import_module("register_tooling.engine").run_submission(
                entry["arxiv"],
                entry["link"],
                entry["submitter"],
                Path(request["out"]),
                github_client=replaced,
                arxiv_client=replaced,
                llm_client=replaced,
            )
            checks[name] = {check.name: check.passed for check in result.checks}
    entries = {entry.id: entry.model_dump(mode="json") for entry in listing.external_evals}
    print(json.dumps({"entries": entries, "resolved": resolved, "checks": checks}))


if __name__ == "__main__":
    main()
