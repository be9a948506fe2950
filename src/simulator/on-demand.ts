import type { DialectName } from "../kit/index.ts";

/** A simulator, as far as its addresses go. */
interface Started {
  readonly origin: string;
  close(): Promise<void>;
}

/** A simulator that starts when the first address of it is asked for. */
export class SimulatorOnDemand {
  readonly #start: () => Promise<Started>;
  #simulator: Promise<Started> | null = null;

  constructor(start: () => Promise<Started>) {
    this.#start = start;
  }

  /**
   * The base URL at which the official SDK of a dialect meets `script`: OpenAI's has the version in it, the others' do not.
   * @throws the listening error; the next call tries again.
   */
  async baseUrl(script: string, dialect: DialectName): Promise<string> {
    try {
      const { origin } = await (this.#simulator ??= this.#start());
      return dialect === "openai" ? scriptedUrl(origin, script) : scriptedOrigin(origin, script);
    } catch (error) {
      this.#simulator = null;
      throw error;
    }
  }

  /** Ends the simulator, if it has started. */
  async close(): Promise<void> {
    await (await this.#simulator)?.close();
  }
}

/** The address at which every request meets `script`: a query such as `?first_byte=300ms`, or `-`. */
export function scriptedOrigin(origin: string, script: string): string {
  return `${origin}/sim/${encodeURIComponent(script.replace(/^\?/, "") || "-")}`;
}

/** The same as a base URL in OpenAI's style. */
export function scriptedUrl(origin: string, script: string): string {
  return `${scriptedOrigin(origin, script)}/v1`;
}
