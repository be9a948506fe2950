import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readResponses } from "../../../../src/dialects/responses/client/request.ts";
import { responsesFormat } from "../../../../src/dialects/responses/client/format.ts";
import { type Call, GatewayError, type Json, streamBroken } from "../../../../src/kit/index.ts";
import { BILL, chunks, completion, EXTRAS, words } from "./support.ts";

/** What the model answers to a call; several deltas are one message, in pieces. */
export interface Play {
  readonly deltas: readonly Json[];
  readonly finish?: string;
  readonly ending?: "killed" | "failure";
}

export interface Stage {
  readonly origin: string;
  /** The canonical bodies that came, in order. */
  readonly calls: readonly Call[];
  close(): Promise<void>;
}

/** A server that speaks the format and nothing else: what SDKs meet, without a gateway around it. */
export async function stage(play: (call: Call, turn: number) => Play): Promise<Stage> {
  const calls: Call[] = [];
  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      try {
        const call = readResponses(JSON.parse(Buffer.concat(parts).toString()) as Json);
        const format = responsesFormat(call);
        const { deltas, finish = "stop", ending } = play(call, calls.push(call) - 1);
        if (!call.stream) {
          res.setHeader("content-type", format.contentType);
          return res.end(format.answer(completion(merged(deltas), finish), EXTRAS));
        }
        res.setHeader("content-type", "text/event-stream");
        res.write(format.stream.heartbeat);
        for (const event of chunks(deltas, ending === undefined ? finish : null)) res.write(format.stream.event(event));
        if (ending === "killed") return res.end(format.stream.killed(BILL));
        return res.end(
          ending === "failure" ? format.stream.failure(streamBroken("it broke")) : format.stream.done(BILL),
        );
      } catch (error) {
        res.statusCode = error instanceof GatewayError ? error.status : 500;
        return res.end(error instanceof Error ? error.message : "");
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    calls,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Texts of the same name put together; lists one after the other. */
function merged(deltas: readonly Json[]): Json {
  const message: Record<string, unknown> = {};
  for (const [name, value] of deltas.flatMap((delta) => Object.entries(delta))) {
    const before = message[name];
    message[name] = Array.isArray(value)
      ? [...((before as unknown[] | undefined) ?? []), ...(value as unknown[])]
      : words(before) + words(value);
  }
  return message;
}
