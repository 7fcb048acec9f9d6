// @google/genai: models and chats, with a callable tool.
const declaration = {
  name: "look",
  description: "Look something up.",
  parametersJsonSchema: { type: "object", properties: { n: { type: "string" }, i: { type: "string" } } },
};

const callable = (look) => ({
  tool: async () => ({ functionDeclarations: [declaration] }),
  callTool: async (calls) =>
    calls.map((call) => ({ functionResponse: { id: call.id, name: call.name, response: look(call.args) } })),
});

/** Run one case with one version of the SDK. */
export const runner = ({ GoogleGenAI }) => async ({ api, limit, stream, base_url, look }) => {
  const client = new GoogleGenAI({ apiKey: "scripted", httpOptions: { baseUrl: base_url } });
  const automaticFunctionCalling = limit === null ? {} : { maximumRemoteCalls: limit };
  const config = { tools: [callable(look)], automaticFunctionCalling };
  let answer;
  if (api === "chats") {
    const chat = client.chats.create({ model: "scripted", config });
    answer = await chat[stream ? "sendMessageStream" : "sendMessage"]({ message: "Look." });
  } else {
    const send = stream ? "generateContentStream" : "generateContent";
    answer = await client.models[send]({ model: "scripted", contents: "Look.", config });
  }
  const responses = [];
  for await (const response of stream ? answer : [answer]) responses.push(response);
  const parts = responses.map((response) => response.candidates?.[0]?.content?.parts ?? []);
  const texts = parts.map((some) => some.map((part) => part.text ?? "").join("")).filter(Boolean);
  const calls = parts.flat().flatMap((part) => (part.functionCall ? [part.functionCall.args.n] : []));
  return { text: texts.at(-1), calls };
};
