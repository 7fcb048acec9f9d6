"""Guards a ``google.genai.Client``.

    guarded = google_genai.guard(genai.Client(), TurnKeeper(), agent="weather")
    guarded.models.generate_content(model=..., contents=..., config=..., request_id=...)

The request id names one prompt and its loop. An automatic loop is one call, so a fresh id is made when none is
given. A manual loop is several calls: give each the same id, or only the turns in its contents are counted.
"""

from turnkeeper_client.google_genai.guarded import AsyncGuardedModels, GuardedClient, GuardedModels, guard

__all__ = ["AsyncGuardedModels", "GuardedClient", "GuardedModels", "guard"]
