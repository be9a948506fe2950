import { Agent, type IncomingMessage, request } from "node:http";
import { StringDecoder } from "node:string_decoder";
import { isJson } from "../../src/kit/index.ts";
import type { Ending } from "./evidence.ts";
import type { RequestPlan } from "./plan.ts";

/** Milliseconds after which an exchange hangs: longer than everything that the configuration allows. */
const PATIENCE = 60_000;

/** What one request came to. */
export interface Observed {
  readonly ending: Ending;
  readonly status: number;
  readonly code: string;
  readonly fault: string;
  /** Head and body as they came. */
  readonly text: string;
}

export function createAgent(): Agent {
  return new Agent({ keepAlive: true, maxSockets: Infinity });
}

/** The words of a prompt: more than four bytes each. */
export function promptOf({ words }: RequestPlan): string {
  return "prompt ".repeat(words).trim();
}

/** Sends one request of the plan and looks at all that comes back. Never rejects. */
export function send(origin: string, key: string, plan: RequestPlan, agent: Agent): Promise<Observed> {
  const body = JSON.stringify({
    model: plan.model,
    stream: plan.stream,
    max_tokens: plan.maxTokens,
    messages: [{ role: "user", content: promptOf(plan) }],
  });
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    "x-request-id": plan.id,
  };
  return new Promise((resolve) => {
    let response: IncomingMessage | null = null;
    let left = false;
    let text = "";
    const sent = request(`${origin}/v1/chat/completions`, { method: "POST", headers, agent });
    const leave = (): void => {
      left = true;
      sent.destroy();
    };
    const timers: NodeJS.Timeout[] = [setTimeout(() => over("hangs"), PATIENCE)];
    const over = (end: "ended" | "broken" | "unreached" | "hangs"): void => {
      for (const timer of timers) clearTimeout(timer);
      const status = response?.statusCode ?? 0;
      const code = String(response?.headers["x-error-code"] ?? "");
      const head = response?.rawHeaders.join("\n") ?? "";
      if (end === "hangs") sent.destroy();
      resolve({ ...judge(end, left, status, text, plan), status, code, text: `${head}\n${text}` });
    };
    sent.on("error", (error: NodeJS.ErrnoException) => over(error.code === "ECONNREFUSED" ? "unreached" : "broken"));
    sent.on("response", (incoming) => {
      response = incoming;
      const decoder = new StringDecoder("utf8");
      incoming.on("data", (bytes: Buffer) => {
        if (text === "" && plan.leaves?.after === "first bytes") timers.push(setTimeout(leave, plan.leaves.wait));
        text += decoder.write(bytes);
      });
      incoming.on("error", () => over("broken"));
      incoming.on("end", () => over("ended"));
      incoming.on("close", () => over("broken"));
    });
    sent.end(body);
    if (plan.leaves?.after === "sending") timers.push(setTimeout(leave, plan.leaves.wait));
  });
}

function wrong(fault: string) {
  return { ending: "wrong" as const, fault };
}

type End = "ended" | "broken" | "unreached" | "hangs";

function judge(
  end: End,
  left: boolean,
  status: number,
  text: string,
  plan: RequestPlan,
): { readonly ending: Ending; readonly fault: string } {
  if (end === "hangs") return wrong("no end within a minute");
  if (end !== "ended") return { ending: left ? "left" : end, fault: "" };
  if (status !== 200) return { ending: "refused", fault: text.slice(0, 100) };
  const { ending, content } = plan.stream ? readStream(text) : readAnswer(text);
  if (ending === "wrong") return wrong(`not an answer: ${text.slice(-200)}`);
  // One that was stopped may have brought nothing yet.
  const itsOwn = content.startsWith(`${plan.id} `) || (ending !== "whole" && content === "");
  return itsOwn ? { ending, fault: "" } : wrong(`the answer to another request: ${content.slice(0, 100)}`);
}

function readAnswer(text: string): { readonly ending: Ending; readonly content: string } {
  try {
    const body = JSON.parse(text) as { choices: { message: { content: string } }[] };
    return { ending: "whole", content: body.choices[0]!.message.content };
  } catch {
    return { ending: "wrong", content: "" };
  }
}

/** A stream ends with `[DONE]`, whatever became of it. */
function readStream(text: string): { readonly ending: Ending; readonly content: string } {
  let content = "";
  let [finished, failed, done] = [false, false, false];
  for (const event of text.split("\n\n")) {
    if (!event.startsWith("data: ")) continue;
    const data = event.slice("data: ".length);
    if (data === "[DONE]") {
      done = true;
      continue;
    }
    const chunk: unknown = JSON.parse(data);
    if (!isJson(chunk)) continue;
    if (chunk["error"] !== undefined) failed = true;
    const [choice] = (chunk["choices"] ?? []) as { delta?: { content?: string }; finish_reason?: string | null }[];
    content += choice?.delta?.content ?? "";
    if (choice?.finish_reason) finished = true;
  }
  if (!done) return { ending: "wrong", content };
  if (failed) return { ending: "failed", content };
  return { ending: finished ? "whole" : "stopped", content };
}
