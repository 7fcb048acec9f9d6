"""langchain's create_agent with its limiting middleware, and langgraph's recursion limit."""

from common import Case, Returned, serve
from langchain.agents import create_agent
from langchain.agents.middleware import ModelCallLimitMiddleware, ToolCallLimitMiddleware
from langchain_openai import ChatOpenAI
from langgraph.prebuilt import create_react_agent

LIMITERS = {"model_calls": ModelCallLimitMiddleware, "tool_calls": ToolCallLimitMiddleware}


def run(case: Case) -> Returned:
    model = ChatOpenAI(model="scripted", base_url=f"{case.base_url}/v1", api_key="scripted", max_retries=0)
    what, _, behaviour = case.api.partition("-")
    config = {}
    if what == "react_agent":
        agent = create_react_agent(model, [case.look])
        config = case.limit_as("recursion_limit")
    elif what == "recursion_limit":
        agent = create_agent(model, [case.look])
        config = case.limit_as("recursion_limit")
    else:
        limiter = LIMITERS[what](run_limit=case.limit, exit_behavior=behaviour)
        agent = create_agent(model, [case.look], middleware=[limiter])
    asked = {"messages": [("user", "Look.")]}
    if case.stream:  # in mode "messages" the model is streamed too
        told = agent.stream(asked, config, stream_mode=["values", "messages"])
        last = [state for mode, state in told if mode == "values"][-1]["messages"][-1]
    else:
        last = agent.invoke(asked, config)["messages"][-1]
    return Returned(str(last.content), [call["args"]["n"] for call in getattr(last, "tool_calls", ())])


serve("langchain", run)
