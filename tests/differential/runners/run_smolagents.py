"""smolagents: a ToolCallingAgent's max_steps."""

from common import Case, Returned, serve
from smolagents import OpenAIModel, ToolCallingAgent, tool


def run(case: Case) -> Returned:
    @tool
    def look(n: str, i: str) -> str:
        """Look something up.

        Args:
            n: which one
            i: which part
        """
        return case.look(n, i)

    model = OpenAIModel(model_id="scripted", api_base=f"{case.base_url}/v1", api_key="scripted")
    agent = ToolCallingAgent(tools=[look], model=model, stream_outputs=case.stream, verbosity_level=0)
    return Returned(str(agent.run("Look.", **case.limit_as("max_steps"))))


serve("smolagents", run)
