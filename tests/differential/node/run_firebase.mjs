// @firebase/ai, of the firebase package: a chat whose declarations have functions to call.
import { getAI, getGenerativeModel, GoogleAIBackend } from "firebase/ai";
import { deleteApp, initializeApp } from "firebase/app";

import { serve } from "./common.mjs";

const options = { apiKey: "scripted", projectId: "scripted", appId: "scripted" };

async function run({ limit, stream, base_url, look }) {
  const app = initializeApp(options);
  const declaration = {
    name: "look",
    description: "Look something up.",
    parameters: { type: "object", properties: { n: { type: "string" }, i: { type: "string" } } },
    functionReference: look,
  };
  const tools = [{ functionDeclarations: [declaration] }];
  const limits = limit === null ? {} : { maxSequentialFunctionCalls: limit };
  const ai = getAI(app, { backend: new GoogleAIBackend() });
  const model = getGenerativeModel(ai, { model: "scripted", tools }, { baseUrl: base_url, ...limits });
  try {
    const response = await send(model.startChat(), stream);
    return { text: response.text(), calls: (response.functionCalls() ?? []).map((call) => call.args.n) };
  } finally {
    await deleteApp(app);
  }
}

async function send(chat, stream) {
  if (!stream) return (await chat.sendMessage("Look.")).response;
  const answer = await chat.sendMessageStream("Look.");
  for await (const _ of answer.stream);
  return answer.response;
}

await serve("@firebase/ai", run);
