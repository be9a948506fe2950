import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Served } from "./evidence.ts";
import type { Attempt, RequestPlan } from "./plan.ts";

const MODEL = "upstream-model";

interface Truth extends Served {
  whole: boolean;
  begun: boolean;
  usage: Served["usage"];
  characters: number;
}

/** One attempt under way: does what the plan says, and keeps the truth of it. */
export class PlayedAttempt {
  readonly truth: Truth;
  readonly #response: ServerResponse;
  readonly #plan: RequestPlan;
  readonly #attempt: Attempt;
  readonly #authorization: string;
  #over: () => void = () => undefined;

  constructor(response: ServerResponse, plan: RequestPlan, attempt: Attempt, authorization: string) {
    this.#response = response;
    this.#plan = plan;
    this.#attempt = attempt;
    this.#authorization = authorization;
    this.truth = { fault: attempt.fault, whole: false, begun: false, usage: null, characters: 0 };
  }

  /** Called before the last bytes are written: nobody can know sooner that it is over. */
  onEnd(over: () => void): void {
    this.#over = over;
  }

  async play(): Promise<void> {
    const { wait, fault } = this.#attempt;
    if (wait > 0) await sleep(wait);
    if (this.#response.destroyed) return;
    switch (fault) {
      case "status_500":
      case "status_503":
      case "status_429":
      case "status_401":
      case "status_400":
        return this.#refuse(Number(fault.slice("status_".length)));
      case "reset_before_head":
        return this.#reset();
      case "silence":
        // Until the gateway has enough.
        return void (await once(this.#response, "close"));
      default:
        return this.#plan.stream ? this.#stream() : this.#answer();
    }
  }

  #refuse(status: number): void {
    // As careless as some providers are.
    const error = { message: `refused ${this.#authorization}`, type: "error", code: null };
    this.#response.writeHead(status, { "content-type": "application/json" });
    this.#end(JSON.stringify({ error }));
  }

  async #answer(): Promise<void> {
    const { fault, usage } = this.#attempt;
    const content = `${this.#plan.id} ${"word ".repeat(this.#attempt.chunks)}`;
    const body = {
      id: `up-${this.#plan.id}`,
      object: "chat.completion",
      created: 1_700_000_000,
      model: MODEL,
      choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
      ...(fault !== "no_usage" && { usage: wire(usage) }),
    };
    const text = fault === "error_first" ? JSON.stringify({ error: { message: "overloaded" } }) : JSON.stringify(body);
    const half = text.slice(0, text.length >> 1);
    this.#response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
    switch (fault) {
      case "malformed":
        return this.#end(`${half}${"!".repeat(text.length - half.length)}`);
      case "reset_after_head":
      case "cut":
        this.#response.write(half);
        await sleep(1);
        return this.#reset();
      case "stall":
        this.#response.write(half);
        return void (await once(this.#response, "close"));
      default:
        this.truth.begun = true;
        this.truth.characters = content.length;
        this.#claim(fault !== "error_first");
        return this.#end(text);
    }
  }

  async #stream(): Promise<void> {
    const { fault, chunks, gap } = this.#attempt;
    this.#response.writeHead(200, { "content-type": "text/event-stream" });
    if (fault === "error_first") return this.#end(`data: ${JSON.stringify({ error: { message: "overloaded" } })}\n\n`);
    if (fault === "reset_after_head") {
      this.#response.flushHeaders();
      await sleep(1);
      return this.#reset();
    }
    const half = chunks >> 1;
    for (let index = 0; index < chunks; index++) {
      if (this.#response.destroyed) return;
      if (index === half && fault === "cut") return this.#reset();
      if (index === half && fault === "stall") return void (await once(this.#response, "close"));
      if (index === half && fault === "malformed") return this.#end("data: {not json\n\n");
      const content = index === 0 ? `${this.#plan.id} ` : "word ";
      this.truth.begun = true;
      this.truth.characters += content.length;
      this.#response.write(this.#chunk({ delta: { content }, finish_reason: null }));
      if (gap > 0) await sleep(gap);
    }
    if (this.#response.destroyed) return;
    this.#claim(true);
    const count = fault === "no_usage" ? "" : this.#chunk(null);
    this.#end(`${this.#chunk({ delta: {}, finish_reason: "stop" })}${count}data: [DONE]\n\n`);
  }

  /** @param choice null: the count. */
  #chunk(choice: object | null): string {
    const head = { id: `up-${this.#plan.id}`, object: "chat.completion.chunk", created: 1_700_000_000, model: MODEL };
    const chunk =
      choice === null
        ? { ...head, choices: [], usage: wire(this.#attempt.usage) }
        : { ...head, choices: [{ index: 0, ...choice }] };
    return `data: ${JSON.stringify(chunk)}\n\n`;
  }

  #claim(whole: boolean): void {
    this.truth.whole = whole;
    if (whole && this.#attempt.fault !== "no_usage") this.truth.usage = this.#attempt.usage;
  }

  #end(text: string): void {
    this.#over();
    this.#response.end(text);
  }

  #reset(): void {
    this.#over();
    this.#response.socket?.resetAndDestroy();
  }
}

function wire({ prompt, cached, completion }: Attempt["usage"]): object {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached },
  };
}
