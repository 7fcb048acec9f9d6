"""google-adk: RunConfig.max_llm_calls."""

from common import Case, Returned, serve
from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.models.google_llm import Gemini
from google.adk.runners import InMemoryRunner
from google.genai import types


async def run(case: Case) -> Returned:
    agent = LlmAgent(name="looker", model=Gemini(model="gemini-scripted", base_url=case.base_url), tools=[case.look])
    runner = InMemoryRunner(agent=agent, app_name="looking")
    session = await runner.session_service.create_session(app_name="looking", user_id="user")
    mode = StreamingMode.SSE if case.stream else StreamingMode.NONE
    config = RunConfig(streaming_mode=mode, **case.limit_as("max_llm_calls"))
    message = types.Content(role="user", parts=[types.Part(text="Look.")])
    returned = Returned(calls=[])
    async for event in runner.run_async(user_id="user", session_id=session.id, new_message=message, run_config=config):
        parts = (event.content and event.content.parts) or ()
        returned.text = "".join(part.text or "" for part in parts)
        returned.calls += [part.function_call.args["n"] for part in parts if part.function_call]
    return returned


serve("google-adk", run)
