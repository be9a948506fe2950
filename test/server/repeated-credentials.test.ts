import { connect } from "node:net";
import { text as textOf } from "node:stream/consumers";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ADMIN_TOKEN } from "../e2e/support/gateway-config.ts";
import { TestGateway } from "../e2e/support/in-process.ts";
import { ENDPOINTS } from "../../src/server/endpoints.ts";

let gateway: TestGateway;
let key: string;
beforeAll(async () => {
  gateway = await TestGateway.start();
  ({ key } = await gateway.user());
});
afterAll(() => gateway.close());

/** The whole answer to a head that is sent as it is written. */
async function answerTo(url: string, line: string, headers: readonly string[]): Promise<string> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const head = [`${line} HTTP/1.1`, "Host: localhost", "Connection: close", "Content-Length: 0", ...headers];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  return textOf(socket);
}

const DOUBLED = [
  ["authorization", "Bearer <key>", "Bearer <other>"],
  ["authorization", "Bearer <key>", "Bearer <key>"],
  ["x-api-key", "<other>", "<key>"],
  ["x-goog-api-key", "<key>", "<key>"],
] as const;

test("two headers of one kind of credentials are refused at every path, whichever of them is good", async () => {
  for (const { method, path } of ENDPOINTS) {
    for (const [name, ...values] of DOUBLED) {
      const headers = values.map((value, index) => {
        const written = index === 0 ? name : name.toUpperCase();
        return `${written}: ${value.replace("<key>", key).replace("<other>", `rk_${"0".repeat(64)}`)}`;
      });
      const answer = await answerTo(gateway.url, `${method} ${path.replaceAll(/\{\w+\}/g, "x")}`, headers);
      expect([path, answer.split("\r\n", 1)[0]]).toEqual([path, "HTTP/1.1 400 Bad Request"]);
      expect(answer.toLowerCase()).toContain("x-error-code: invalid_request");
      expect(answer).toContain(`has more than one ${name} header: send one`);
      expect(answer).not.toContain(key);
    }
  }
});

test("the admin listener takes one token", async () => {
  const headers = [`Authorization: Bearer ${ADMIN_TOKEN}`, "Authorization: Bearer other"];
  const answer = await answerTo(gateway.adminUrl, "GET /admin/users", headers);
  expect(answer).toContain("has more than one authorization header: send one");
  expect(await answerTo(gateway.adminUrl, "GET /admin/users", headers.slice(0, 1))).toContain("HTTP/1.1 200");
});

test("different ones may stand beside each other: X-API-Key decides", async () => {
  const both = [`Authorization: Bearer rk_${"0".repeat(64)}`, `X-API-Key: ${key}`];
  expect(await answerTo(gateway.url, "GET /v1/pricing", both)).toContain("HTTP/1.1 200");
});
