import { randomUUID } from "node:crypto";
import { connect, createServer, type AddressInfo, type Server } from "node:net";
import { once } from "node:events";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TestGateway } from "../../support/in-process.ts";
import { expectOneCharge, type Stage, startStage } from "./stage.ts";

/**
 * The clients send no key of their own accord: OpenAI's has a field for the header's name, which is unset, and sends the
 * same key with each retry once it is set; Anthropic's takes headers.
 * https://github.com/openai/openai-node/blob/master/src/client.ts (idempotencyHeader)
 */
class KeyedOpenAI extends OpenAI {
  protected override idempotencyHeader = "Idempotency-Key";
}

/** A connection in between that breaks when the answer comes, once. */
class Breaking {
  readonly #server: Server;
  /** Answers that were lost on the way. */
  lost = 0;

  private constructor(port: number) {
    this.#server = createServer((socket) => {
      const onward = connect(port, "127.0.0.1");
      socket.pipe(onward);
      onward.on("data", (chunk) => {
        if (this.lost > 0) return void socket.write(chunk);
        this.lost += 1;
        socket.resetAndDestroy();
      });
      for (const one of [socket, onward]) one.on("error", () => onward.destroy());
      onward.on("close", () => socket.destroy());
    });
  }

  static async start({ url }: TestGateway): Promise<Breaking> {
    const breaking = new Breaking(Number(new URL(url).port));
    breaking.#server.listen(0, "127.0.0.1");
    await once(breaking.#server, "listening");
    return breaking;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.close();
  }
}

let stage: Stage;
beforeAll(async () => {
  stage = await startStage(1, null);
});
afterAll(() => stage.close());

const user = [{ role: "user" as const, content: "Hello there" }];
const openai = (url: string, apiKey: string) => new KeyedOpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 2 });

const CALLS: Readonly<Record<string, (url: string, key: string) => Promise<unknown>>> = {
  "openai, chat": (url, key) => openai(url, key).chat.completions.create({ model: "route/one", messages: user }),
  "openai, responses": (url, key) =>
    openai(url, key).responses.create({ model: "route/one", input: "Hello there", store: false }),
  "openai, embeddings": (url, key) => openai(url, key).embeddings.create({ model: "route/embed", input: "a word" }),
  "openai, with a header": (url, apiKey) =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey }).chat.completions.create(
      { model: "route/one", messages: user },
      { headers: { "Idempotency-Key": randomUUID() } },
    ),
  "anthropic, with a header": (baseURL, apiKey) =>
    new Anthropic({ baseURL, apiKey }).messages.create(
      { model: "route/one", max_tokens: 64, messages: user },
      { headers: { "Idempotency-Key": randomUUID() } },
    ),
};

describe.concurrent("an SDK whose answer is lost on the way tries again, and is charged once", () => {
  test.each(Object.keys(CALLS))("%s", async (name) => {
    const [gateway] = stage.gateways;
    const account = await gateway.user();
    const breaking = await Breaking.start(gateway);
    const answer = await CALLS[name]!(breaking.url, account.key);
    expect(answer).toMatchObject({ model: expect.stringContaining("route/") as string });
    expect(breaking.lost).toBe(1);
    expectOneCharge(await gateway.books(account), 1);
    breaking.close();
  });
});
