import { expect, test } from "vitest";
import { isLoopback } from "../../src/kit/index.ts";

test.each(["localhost", "127.0.0.1", "127.255.0.9", "::1", "[::1]"])("%s is this machine", (host) => {
  expect(isLoopback(host)).toBe(true);
});

test.each([
  "",
  "127",
  "127.0.0.256",
  "127.0.0.01",
  "127.0.0.1.example.com",
  "127.example.com",
  "128.0.0.1",
  "localhost.example",
  "::2",
])("%j is not", (host) => {
  expect(isLoopback(host)).toBe(false);
});
