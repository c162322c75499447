"""What Inspect finds through the entry point: models under `carrara/…`, and every test as a task.

from carrara.inspect_tasks import latent_list
inspect_ai.eval(latent_list(length="4k", complexity=5), model="openai/gpt-4o")
"""

from carrara.models.provider import carrara
from carrara.runs.inspect_tasks import all_tasks

__all__ = ["carrara", *(_tasks := all_tasks())]
globals().update(_tasks)
