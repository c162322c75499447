"""What Inspect finds through the entry point: models under `carrara/…`, and every test as a task."""

from carrara.engine.makers import all_tasks
from carrara.models.provider import carrara

__all__ = ["carrara", *(tasks := all_tasks())]
globals().update(tasks)
