"""openai-agents: Runner.run and Runner.run_streamed."""

import json

from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool, set_tracing_disabled
from common import Case, Returned, serve
from openai import AsyncOpenAI

set_tracing_disabled(True)


async def run(case: Case) -> Returned:
    client = AsyncOpenAI(base_url=f"{case.base_url}/v1", api_key="scripted", max_retries=0)
    model = OpenAIChatCompletionsModel("scripted", client)
    agent = Agent(name="looker", model=model, tools=[function_tool(case.look)])
    if not case.stream:
        result = await Runner.run(agent, "Look.", **case.limit_as("max_turns"))
    else:
        result = Runner.run_streamed(agent, "Look.", **case.limit_as("max_turns"))
        async for _ in result.stream_events():
            pass
    last = result.raw_responses[-1].output if result.raw_responses else ()
    calls = [json.loads(item.arguments)["n"] for item in last if item.type == "function_call"]
    return Returned(str(result.final_output), calls)


serve("openai-agents", run)
