import { ask, eventsOf, textOf } from "./configuration.ts";
import { type Account, type GatewayProcess } from "./process.ts";

export interface Seen {
  readonly requestId: string;
  readonly stream: boolean;
  /** The answer came whole: its JSON was read, or `[DONE]` was. */
  readonly complete: boolean;
  readonly status: number;
  /** Why it is not complete or not as asked; empty when all is well. */
  readonly fault: string;
}

export interface Load {
  readonly seen: readonly Seen[];
  /** Starts no more requests; resolves when the running ones have ended. */
  stop(): Promise<void>;
}

/** Keeps `lanes` requests under way, every second one a stream, and looks at every answer. */
export function startLoad(gateway: GatewayProcess, { key }: Account, lanes: number, sim: object): Load {
  const seen: Seen[] = [];
  const stopping = new AbortController();
  let count = 0;
  const lane = async (stream: boolean): Promise<void> => {
    while (!stopping.signal.aborted) {
      const requestId = `load-${gateway.child.pid}-${++count}`;
      const one = await request(gateway, key, requestId, stream, sim);
      seen.push(one);
      // Nobody there any more: the others will notice as well.
      if (one.status === 0) return;
    }
  };
  const all = Promise.all(Array.from({ length: lanes }, (_, index) => lane(index % 2 === 1)));
  return {
    seen,
    async stop() {
      stopping.abort();
      await all;
    },
  };
}

async function request(
  gateway: GatewayProcess,
  key: string,
  requestId: string,
  stream: boolean,
  sim: object,
): Promise<Seen> {
  let status = 0;
  let text = "";
  try {
    const response = await gateway.chat(key, ask(requestId, { stream, sim }), { requestId });
    ({ status } = response);
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) text += decoder.decode(bytes, { stream: true });
  } catch (error) {
    const complete = stream && text.endsWith("data: [DONE]\n\n");
    return { requestId, stream, complete, status, fault: String(error) };
  }
  const fault = status === 200 ? faultOf(text, requestId, stream) : `status ${status}: ${text}`;
  return { requestId, stream, complete: status === 200 && (!stream || text.includes("data: [DONE]")), status, fault };
}

function faultOf(text: string, requestId: string, stream: boolean): string {
  const events = eventsOf(text);
  if (stream && events.at(-1) !== "[DONE]") return `no ending: ${text.slice(-200)}`;
  if (stream && events.some((event) => event.startsWith('{"error"'))) return `an error event: ${events.at(-2)}`;
  const answer = stream ? textOf(events) : contentOf(text);
  return answer.includes(`You said: ${requestId}`) ? "" : `not the answer: ${answer}`;
}

function contentOf(text: string): string {
  return (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? "";
}
