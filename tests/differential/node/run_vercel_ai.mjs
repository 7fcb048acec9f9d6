// ai (Vercel): generateText and streamText with a step count, and ToolLoopAgent.
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, streamText, tool, ToolLoopAgent } from "ai";

import { serve } from "./common.mjs";

async function run({ api, limit, stream, base_url, look }) {
  const model = createOpenAI({ baseURL: `${base_url}/v1`, apiKey: "scripted" }).chat("scripted");
  const inputSchema = jsonSchema({ type: "object", properties: { n: { type: "string" }, i: { type: "string" } } });
  const tools = { look: tool({ description: "Look something up.", inputSchema, execute: async (input) => look(input) }) };
  const settings = { model, tools, ...(limit === null ? {} : { stopWhen: isStepCount(limit) }) };
  const asked = { prompt: "Look." };
  let result;
  if (api === "ToolLoopAgent") {
    const agent = new ToolLoopAgent(settings);
    result = await (stream ? agent.stream(asked) : agent.generate(asked));
  } else {
    result = await (stream ? streamText : generateText)({ ...settings, ...asked });
  }
  if (stream) await result.consumeStream();
  const [text, calls] = [await result.text, await result.toolCalls];
  return { text, calls: calls.map((call) => call.input.n) };
}

await serve("ai", run);
