"""smolagents: a ToolCallingAgent's max_steps."""

from common import Case, Returned, serve
from smolagents import OpenAIModel, ToolCallingAgent, tool


def run(case: Case) -> Returned:
    model = OpenAIModel(model_id="scripted", api_base=f"{case.base_url}/v1", api_key="scripted")
    limit = case.limit_as("max_steps")
    agent = ToolCallingAgent(
        tools=[tool(case.look)], model=model, stream_outputs=case.stream, verbosity_level=0, **limit
    )
    return Returned(str(agent.run("Look.")))


serve("smolagents", run)
