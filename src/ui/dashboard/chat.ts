import { signal } from "@preact/signals";
import type { ApiKey, LedgerEntry } from "../shared/api.ts";
import { Problem, problemOf, readEvents } from "../shared/http.ts";
import { api, bearer } from "./session.ts";

export interface Message {
  readonly role: "system" | "user" | "assistant";
  readonly content: string;
}

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly Message[];
  readonly temperature?: number;
  readonly max_tokens?: number;
}

/** The part of the answer received so far. */
export interface Progress {
  readonly text: string;
  readonly reasoning: string;
  readonly firstMs: number | null;
}

export interface Ending extends Progress {
  readonly requestId: string | null;
  readonly durationMs: number;
  readonly stopped: boolean;
  readonly error: string | null;
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string | null };
  }[];
  readonly error?: { readonly message?: string };
}

/** Revocation of the key of the last playground. */
const revocation = signal<Promise<void>>(Promise.resolve());

/** Waits until the key of a playground that was just left is revoked. */
export async function currentKeys(signal: AbortSignal): Promise<readonly ApiKey[]> {
  await revocation.value.catch(() => null);
  return api.keys(signal);
}

/** The playground's own key: for an hour, in memory, revoked when the playground is left. */
export class PlaygroundKey {
  #made: Promise<{ readonly id: string; readonly key: string }> | null = null;

  /** @throws Problem when it cannot be made; the next call tries anew */
  async secret(): Promise<string> {
    this.#made ??= api.createKey({ name: "Playground", expires_in: 3600, tags: { source: "playground" } });
    try {
      return (await this.#made).key;
    } catch (error) {
      this.#made = null;
      throw error;
    }
  }

  /** After a 401: it was revoked elsewhere, or its hour is over. */
  forget(): void {
    this.#made = null;
  }

  /** Goes on when the page is left in this very moment. */
  revoke(): Promise<void> {
    const made = this.#made;
    this.#made = null;
    revocation.value = made === null ? Promise.resolve() : this.#revoke(made);
    return revocation.value;
  }

  async #revoke(made: Promise<{ readonly id: string }>): Promise<void> {
    const { id } = await made;
    await fetch(`/v1/user/key/${encodeURIComponent(id)}`, { method: "DELETE", headers: bearer(), keepalive: true });
  }
}

/** One streamed chat. An abort of `signal` ends it, and is no error. @throws Problem when it does not begin */
export async function streamChat(
  request: ChatRequest,
  key: string,
  signal: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Ending> {
  const startedAt = performance.now();
  let progress: Progress = { text: "", reasoning: "", firstMs: null };
  let requestId: string | null = null;
  const ending = (stopped: boolean, error: string | null): Ending => ({
    ...progress,
    requestId,
    durationMs: performance.now() - startedAt,
    stopped,
    error,
  });
  try {
    const response = await fetch("/v1/chat/completions", {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
      body: JSON.stringify({ ...request, stream: true, stream_options: { include_usage: true } }),
      signal,
    });
    if (!response.ok || response.body === null) throw await problemOf(response);
    requestId = response.headers.get("x-request-id");
    for await (const data of readEvents(response.body)) {
      if (data === "[DONE]") break;
      const chunk = JSON.parse(data) as Chunk;
      if (chunk.error !== undefined) return ending(false, chunk.error.message ?? "The response was cut off.");
      const delta = chunk.choices?.[0]?.delta;
      const [text, reasoning] = [delta?.content ?? "", delta?.reasoning_content ?? ""];
      if (text === "" && reasoning === "") continue;
      progress = {
        text: progress.text + text,
        reasoning: progress.reasoning + reasoning,
        firstMs: progress.firstMs ?? performance.now() - startedAt,
      };
      onProgress(progress);
    }
    return ending(false, null);
  } catch (error) {
    if (signal.aborted) return ending(true, null);
    if (error instanceof Problem) throw error;
    return ending(false, "The connection was lost.");
  }
}

const LEDGER_DELAYS_MS = [150, 350, 700, 1500, 3000];

/** Ledger entry of a request. It appears shortly after the answer ends; null if it does not appear in time. */
export async function ledgerEntryOf(requestId: string): Promise<LedgerEntry | null> {
  for (const delayMs of LEDGER_DELAYS_MS) {
    await new Promise((resolve) => {
      setTimeout(resolve, delayMs);
    });
    const { data } = await api.ledger({ request_id: requestId, limit: 1 });
    if (data[0] !== undefined) return data[0];
  }
  return null;
}
