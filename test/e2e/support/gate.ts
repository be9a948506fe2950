import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy in front of the simulator that holds requests back while it is closed. */
export class Gate {
  /** Requests that came, held back or not. */
  count = 0;
  #isClosed = false;
  #held: (() => void)[] = [];
  readonly #server: Server;

  private constructor(target: string) {
    this.#server = createServer((req, res) => {
      this.count += 1;
      const pass = (): void => {
        if (res.destroyed) return;
        const onward = request(
          target + req.url,
          { method: req.method, headers: req.headers, agent: false },
          (answer) => {
            res.writeHead(answer.statusCode ?? 502, answer.headers);
            answer.pipe(res);
          },
        );
        onward.on("error", () => res.destroy());
        req.pipe(onward);
      };
      if (this.#isClosed) this.#held.push(pass);
      else pass();
    });
  }

  /** @param target origin of the simulator. */
  static async start(target: string): Promise<Gate> {
    const gate = new Gate(target);
    gate.#server.listen(0, "127.0.0.1");
    await once(gate.#server, "listening");
    return gate;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  shut(): void {
    this.#isClosed = true;
  }

  open(): void {
    this.#isClosed = false;
    const held = this.#held;
    this.#held = [];
    for (const pass of held) pass();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
