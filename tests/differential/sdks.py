"""The SDKs that are measured: how each is installed, what it speaks, and which of its interfaces have a limit."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from installing import java, node, python
from running import Program
from servers import Answers, OpenAIChat, Server, gemini

CUT = 40
GENAI_APIS = ("models", "models-async", "chats", "chats-async")


@dataclass(frozen=True)
class Sdk:
    """One SDK in one version. ``cut`` is above the SDK's default where that is above 40."""

    name: str
    install: Callable[[], Program]
    server: Callable[[Answers], Server]
    apis: tuple[str, ...]
    streams: bool = True
    cut: int = CUT
    without_default: tuple[str, ...] = ()


def _python(name: str, runner: str) -> Callable[[], Program]:
    return partial(python, name, runner)


_LIMITERS = ("model_calls-end", "model_calls-error", "tool_calls-continue", "tool_calls-end", "tool_calls-error")

SDKS = (
    Sdk("google-genai", _python("google-genai", "run_google_genai.py"), gemini, GENAI_APIS),
    Sdk("google-genai-2.23", _python("google-genai-2.23", "run_google_genai.py"), gemini, GENAI_APIS),
    Sdk("openai-agents", _python("openai-agents", "run_openai_agents.py"), OpenAIChat, ("run",)),
    Sdk(
        "pydantic-ai",
        _python("pydantic-ai", "run_pydantic_ai.py"),
        OpenAIChat,
        ("request_limit", "tool_calls_limit"),
        cut=60,
        without_default=("tool_calls_limit",),
    ),
    Sdk(
        "langchain",
        _python("langchain", "run_langchain.py"),
        OpenAIChat,
        (*_LIMITERS, "recursion_limit", "react_agent"),
        without_default=_LIMITERS,
    ),
    Sdk("smolagents", _python("smolagents", "run_smolagents.py"), OpenAIChat, ("max_steps",)),
    Sdk("google-adk", _python("google-adk", "run_google_adk.py"), gemini, ("max_llm_calls",)),
    Sdk("js-genai", partial(node, "run_js_genai.mjs"), gemini, ("models", "chats")),
    Sdk("js-genai-2.32", partial(node, "run_js_genai_2.mjs"), gemini, ("models", "chats")),
    Sdk("firebase", partial(node, "run_firebase.mjs"), gemini, ("chat",)),
    Sdk("vercel-ai", partial(node, "run_vercel_ai.mjs"), OpenAIChat, ("generateText", "ToolLoopAgent")),
    Sdk("java-genai", partial(java, "2.3.0"), gemini, GENAI_APIS),
    Sdk("java-genai-1.70", partial(java, "1.70.0"), gemini, GENAI_APIS),
)
