"""pydantic-ai: UsageLimits of requests (request_limit) and of calls (tool_calls_limit)."""

from common import Case, Returned, serve
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits


async def run(case: Case) -> Returned:
    provider = OpenAIProvider(base_url=f"{case.base_url}/v1", api_key="scripted")
    agent = Agent(OpenAIChatModel("scripted", provider=provider), tools=[case.look])
    limits = UsageLimits(**case.limit_as(case.api))
    if not case.stream:
        result = await agent.run("Look.", usage_limits=limits)
        return Returned(str(result.output), calls_of(result.all_messages()))
    async with agent.run_stream("Look.", usage_limits=limits) as streamed:
        text = await streamed.get_output()
        return Returned(str(text), calls_of(streamed.all_messages()))


def calls_of(messages: list[ModelMessage]) -> list[str]:
    responses = [message for message in messages if message.kind == "response"]
    return [call.args_as_dict()["n"] for call in responses[-1].tool_calls] if responses else []


serve("pydantic-ai-slim", run)
