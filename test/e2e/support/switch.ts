import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy in front of the simulator that can be told to fail while the gateway runs. */
export class Switch {
  /** Down: everything is answered with 500. Deaf: nothing is answered at all. */
  mode: "well" | "down" | "deaf" = "well";
  /** Method and path of everything that came. */
  readonly asked: string[] = [];
  readonly #server: Server;

  private constructor(target: string) {
    this.#server = createServer((req, res) => {
      this.asked.push(`${req.method} ${req.url}`);
      if (this.mode === "deaf") return;
      if (this.mode === "down") return void res.writeHead(500, { "content-type": "application/json" }).end("{}");
      const onward = request(target + req.url, { method: req.method, headers: req.headers, agent: false }, (answer) => {
        res.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(res);
      });
      onward.on("error", () => res.destroy());
      req.pipe(onward);
    });
  }

  /** @param target origin of the simulator. */
  static async start(target: string): Promise<Switch> {
    const proxy = new Switch(target);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }
}
