package turnkeeper;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.genai.Client;
import com.google.genai.types.AutomaticFunctionCallingConfig;
import com.google.genai.types.FunctionCall;
import com.google.genai.types.GenerateContentConfig;
import com.google.genai.types.GenerateContentResponse;
import com.google.genai.types.HttpOptions;
import com.google.genai.types.Part;
import com.google.genai.types.Tool;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.logging.Level;
import java.util.logging.Logger;

/** Reads a case a line, runs it with google-genai, and writes what came of it a line. */
public final class Measured {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final List<int[]> ran = new ArrayList<>();

  private Measured() {}

  /** The function that is called. */
  public static synchronized String look(String n, String i) {
    ran.add(new int[] {Integer.parseInt(n), Integer.parseInt(i)});
    return "found " + n + "." + i;
  }

  public static void main(String[] args) throws Exception {
    PrintStream out = System.out;
    System.setOut(new PrintStream(OutputStream.nullOutputStream()));
    Logger.getLogger("").setLevel(Level.OFF);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
      out.flush();
    }
    System.exit(0);
  }

  private static ObjectNode answer(JsonNode asked) {
    ran.clear();
    ObjectNode told = JSON.createObjectNode();
    told.put("version", Client.class.getPackage().getImplementationVersion());
    try {
      List<GenerateContentResponse> responses = run(asked);
      told.put("text", text(responses));
      told.set("calls", JSON.valueToTree(calls(responses)));
      told.putNull("error");
    } catch (Exception error) {
      Throwable cause = error instanceof CompletionException ? error.getCause() : error;
      told.put("error", cause.getClass().getSimpleName());
      told.put("message", String.valueOf(cause.getMessage()));
    }
    told.set("ran", JSON.valueToTree(ran));
    return told;
  }

  private static List<GenerateContentResponse> run(JsonNode asked) throws Exception {
    HttpOptions http = HttpOptions.builder().baseUrl(asked.get("base_url").asText()).build();
    try (Client client = Client.builder().apiKey("scripted").httpOptions(http).build()) {
      return send(client, asked.get("api").asText(), asked.get("stream").asBoolean(), config(asked));
    }
  }

  private static GenerateContentConfig config(JsonNode asked) throws Exception {
    AutomaticFunctionCallingConfig.Builder calling = AutomaticFunctionCallingConfig.builder();
    if (!asked.get("limit").isNull()) {
      calling.maximumRemoteCalls(asked.get("limit").asInt());
    }
    Tool tool =
        Tool.builder().functions(Measured.class.getMethod("look", String.class, String.class)).build();
    return GenerateContentConfig.builder().tools(tool).automaticFunctionCalling(calling.build()).build();
  }

  private static List<GenerateContentResponse> send(
      Client client, String api, boolean stream, GenerateContentConfig config) {
    List<GenerateContentResponse> got = new ArrayList<>();
    switch (api + (stream ? " stream" : "")) {
      case "models" -> got.add(client.models.generateContent("scripted", "Look.", config));
      case "models stream" ->
          client.models.generateContentStream("scripted", "Look.", config).forEach(got::add);
      case "models-async" ->
          got.add(client.async.models.generateContent("scripted", "Look.", config).join());
      case "models-async stream" ->
          client.async.models.generateContentStream("scripted", "Look.", config).join().forEach(got::add);
      case "chats" -> got.add(client.chats.create("scripted", config).sendMessage("Look."));
      case "chats stream" ->
          client.chats.create("scripted", config).sendMessageStream("Look.").forEach(got::add);
      case "chats-async" ->
          got.add(client.async.chats.create("scripted", config).sendMessage("Look.").join());
      case "chats-async stream" ->
          client.async.chats.create("scripted", config).sendMessageStream("Look.").join().forEach(got::add);
      default -> throw new IllegalArgumentException(api);
    }
    return got;
  }

  private static List<Part> parts(GenerateContentResponse response) {
    return response == null || response.parts() == null ? List.of() : response.parts();
  }

  private static String text(List<GenerateContentResponse> responses) {
    String last = "";
    for (GenerateContentResponse response : responses) {
      for (Part part : parts(response)) {
        last = part.text().orElse(last);
      }
    }
    return last;
  }

  private static List<Integer> calls(List<GenerateContentResponse> responses) {
    List<Integer> numbers = new ArrayList<>();
    for (GenerateContentResponse response : responses) {
      for (Part part : parts(response)) {
        part.functionCall()
            .flatMap(FunctionCall::args)
            .ifPresent(args -> numbers.add(Integer.valueOf(String.valueOf(args.get("n")))));
      }
    }
    return numbers;
  }
}
