import { expect, test } from "vitest";
import { type Answer, eventually, shown } from "../support/http.ts";
import { signInGateway } from "../support/sign-in.ts";

const EMAIL = "ada@example.com";
const SENT = [202, undefined, "application/json", '{"message":"Verification code sent"}'] as const;
const HOUR = 3_600_000;

/** Headers of a client behind the proxy. */
const from = (ip: string) => ({ "x-forwarded-for": ip });

/** 429 with the whole seconds until the window ends, twice. */
function expectThrottled({ status, headers, text }: Answer, seconds: number): void {
  expect([status, headers["content-type"], headers["x-error-code"]]).toEqual([429, "application/json", undefined]);
  expect(text).toBe(JSON.stringify({ message: "Too many requests", retry_after: seconds }));
  expect(headers["retry-after"]).toBe(String(seconds));
}

test("five codes an hour for an address and client", async () => {
  const { gateway, mailbox, login } = await signInGateway();
  gateway.clock.stop();
  for (let count = 0; count < 5; count += 1) {
    const email = count % 2 === 0 ? EMAIL : "ADA@example.com";
    expect(shown(await login({ email }, from("192.0.2.99")))).toEqual(SENT);
  }
  const seconds = gateway.clock.secondsLeft("hour");
  expectThrottled(await login({ email: EMAIL }, from("192.0.2.99")), seconds);
  gateway.clock.advance(90_000);
  expectThrottled(await login({ email: EMAIL }, from("192.0.2.99")), seconds - 90);
  expect(shown(await login({ email: "bob@example.com" }, from("192.0.2.99")))).toEqual(SENT);
  gateway.clock.advance(HOUR);
  expect(shown(await login({ email: EMAIL }, from("192.0.2.99")))).toEqual(SENT);
  await eventually(() => mailbox.codesOf(EMAIL).length === 6);
});

test("twenty codes an hour for an address, from wherever they are asked for", async () => {
  const { gateway, mailbox, login } = await signInGateway();
  gateway.clock.stop();
  for (let count = 0; count < 20; count += 1) {
    expect(shown(await login({ email: EMAIL }, from(`192.0.2.${count % 4}`)))).toEqual(SENT);
  }
  expectThrottled(await login({ email: EMAIL }, from("192.0.2.99")), gateway.clock.secondsLeft("hour"));
  await eventually(() => mailbox.codesOf(EMAIL).length === 20);
});

test("whoever else asks for codes of an address and guesses, its owner's code works, and so does the next one", async () => {
  const { gateway, mailbox, login, verify } = await signInGateway();
  gateway.clock.stop();
  const stranger = from("203.0.113.9");
  const code = await mailbox.ask(gateway.url, EMAIL);
  for (let count = 0; count < 5; count += 1) {
    expect((await login({ email: EMAIL }, stranger)).status).toBe(202);
    const guess = String((Number(code) + 1 + count) % 1_000_000).padStart(6, "0");
    await verify({ email: EMAIL, code: guess }, stranger);
  }
  expect((await login({ email: EMAIL }, stranger)).status).toBe(429);
  expect((await verify({ email: EMAIL, code })).status).toBe(200);
  await eventually(() => mailbox.codesOf(EMAIL).length === 6);
  const next = await mailbox.ask(gateway.url, EMAIL);
  expect((await verify({ email: EMAIL, code: next })).status).toBe(200);
});

test.each([
  ["an address", () => "198.51.100.7", "198.51.100.8"],
  ["a network of IPv6", (count: number) => `2001:db8:1:2::${count + 1}`, "2001:db8:1:3::1"],
])("20 codes an hour for %s, whoever they are for; a code that is refused counts for nobody", async (...row) => {
  const [, client, other] = row;
  const { gateway, mailbox, login } = await signInGateway();
  gateway.clock.stop();
  for (let count = 0; count < 20; count += 1) {
    expect(shown(await login({ email: `user${count}@example.com` }, from(client(count))))).toEqual(SENT);
  }
  for (let count = 0; count < 7; count += 1) {
    expectThrottled(await login({ email: EMAIL }, from(client(count))), gateway.clock.secondsLeft("hour"));
  }
  for (let count = 0; count < 5; count += 1) expect(shown(await login({ email: EMAIL }, from(other)))).toEqual(SENT);
  await eventually(() => mailbox.mails.length === 25);
});

test("50 tries an hour for a client", async () => {
  const { gateway, mailbox, verify } = await signInGateway();
  gateway.clock.stop();
  const code = await mailbox.ask(gateway.url, EMAIL);
  const body = { email: "nobody@example.com", code };
  const answers = await Promise.all(Array.from({ length: 60 }, () => verify(body)));
  expect(answers.filter(({ status }) => status === 401)).toHaveLength(50);
  for (const answer of answers.filter(({ status }) => status !== 401)) {
    expectThrottled(answer, gateway.clock.secondsLeft("hour"));
  }
  expect((await verify({ email: EMAIL, code }, from("192.0.2.1"))).status).toBe(200);
});
