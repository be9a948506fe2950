import { expect, onTestFinished, test } from "vitest";
import type { Store } from "../../../src/kit/index.ts";
import { openStore } from "../../../src/store/open.ts";
import { openAt } from "../../store/redis/support.ts";
import { unique } from "../../store/support.ts";
import { describeRedis, redisOfSuite } from "../../support/redis.ts";
import { START } from "../support.ts";
import { authSettings, INVALID_CODE, outcome, SECRET, signInBench } from "./support.ts";
import { tokenSettings } from "../support.ts";

const EMAIL = "grace@example.com";
const OWN_IP = "192.0.2.1";
const LIMITED = { code: "TOO_MANY_REQUESTS" };

async function inMemory(): Promise<Store> {
  const store = await openStore("memory:", { serving: true, now: () => START });
  onTestFinished(async () => store.close());
  return store;
}

/** Strangers ask for codes of an address, from so many networks, as often as they are let. */
async function flood({ signIn }: Awaited<ReturnType<typeof signInBench>>, networks: number): Promise<number> {
  let sent = 0;
  for (let turn = 0; turn < 10 * networks; turn++) {
    const ip = `198.51.100.${turn % networks}`;
    if ((await outcome(signIn.requestCode({ email: EMAIL, ip }))) === "session") sent += 1;
  }
  return sent;
}

/** @returns codes that strangers were sent, in all. */
async function signInUnderFlood(store: Store): Promise<number> {
  const bench = await signInBench({}, { store });
  const { signIn, codeOf, viaMail } = bench;
  await viaMail(EMAIL, OWN_IP);
  const device = await signIn.markDevice(undefined, EMAIL);
  const sent = (await flood(bench, 4)) + (await flood(bench, 40));
  await expect(signIn.requestCode({ email: EMAIL, ip: "203.0.113.1" }), "all 20 are used up").rejects.toMatchObject(
    LIMITED,
  );
  // Also from a network whose own share is used up.
  for (const ip of [OWN_IP, "198.51.100.0"]) {
    await signIn.requestCode({ email: EMAIL, ip, device });
    const { body } = await signIn.verifyCode({ email: EMAIL, code: codeOf(EMAIL), ip, device });
    expect(body.user.email).toBe(EMAIL);
  }
  for (let turn = 0; turn < 3; turn++) await signIn.requestCode({ email: EMAIL, ip: OWN_IP, device });
  await expect(signIn.requestCode({ email: EMAIL, ip: OWN_IP, device }), "5 an hour").rejects.toMatchObject(LIMITED);
  return sent;
}

test("strangers cannot use up the codes of a browser that has signed in before", async () => {
  expect(await signInUnderFlood(await inMemory()), "beside the owner's first one").toBe(19);
});

test("without such a browser, four networks leave the owner a code", async () => {
  const bench = await signInBench();
  await flood(bench, 4);
  expect((await bench.viaMail(EMAIL, OWN_IP)).body.user.email).toBe(EMAIL);
});

test("strangers cannot use up the tries of a known browser, nor the code that it has asked for", async () => {
  const { signIn, viaMail, codeOf } = await signInBench();
  await viaMail(EMAIL, OWN_IP);
  const device = await signIn.markDevice(undefined, EMAIL);
  await signIn.requestCode({ email: EMAIL, ip: OWN_IP, device });
  const code = codeOf(EMAIL);
  const wrong = code === "000000" ? "111111" : "000000";
  // Somebody behind the same address.
  for (let turn = 0; turn < 60; turn++) await outcome(signIn.verifyCode({ email: EMAIL, code: wrong, ip: OWN_IP }));
  await expect(signIn.verifyCode({ email: EMAIL, code, ip: OWN_IP })).rejects.toMatchObject(LIMITED);
  expect((await signIn.verifyCode({ email: EMAIL, code, ip: OWN_IP, device })).body.user.email).toBe(EMAIL);
});

test("a device cookie is worth nothing for another address, changed, expired, or of another secret", async () => {
  const { signIn, viaMail, clock, reload } = await signInBench();
  await viaMail(EMAIL, OWN_IP);
  const device = await signIn.markDevice(undefined, EMAIL);
  const other = await signIn.markDevice(undefined, "mallory@example.com");
  const isKnown = async (cookie: string): Promise<boolean> => {
    clock.now += 3_600_000;
    // A stranger's share is one first code and 12 more of all strangers: a known browser does not touch it.
    for (let n = 0; n < 5; n++) await signIn.requestCode({ email: EMAIL, ip: OWN_IP, device: cookie });
    return (await outcome(signIn.requestCode({ email: EMAIL, ip: OWN_IP }))) === "session";
  };
  expect(await isKnown(device)).toBe(true);
  const [id, ends, signature] = device.split(".");
  const bad = [
    other,
    `${id}.${Number(ends) + 1}.${signature}`,
    `${id}.${ends}.${"A".repeat(43)}`,
    "",
    "~~",
    "x".repeat(9_000),
  ];
  const known: boolean[] = [];
  for (const cookie of bad) known.push(await isKnown(cookie));
  expect(known).toEqual(bad.map(() => false));
  expect(await isKnown(`${other}~${device}`), "several users of one browser").toBe(true);
  reload({ tokens: tokenSettings({ b: SECRET.toUpperCase(), a: SECRET }) });
  expect(await isKnown(device), "a rotation keeps it").toBe(true);
  reload({ tokens: tokenSettings({ b: SECRET.toUpperCase() }) });
  expect(await isKnown(device)).toBe(false);
  reload(authSettings());
  clock.now += 400 * 86_400_000;
  expect(await isKnown(device)).toBe(false);
});

test("a browser remembers the five users that signed in there last", async () => {
  const { signIn } = await signInBench();
  let cookie: string | undefined;
  for (let n = 0; n < 7; n++) cookie = await signIn.markDevice(cookie, `user-${n}@example.com`);
  expect(cookie?.split("~")).toHaveLength(5);
  expect((await signIn.markDevice(cookie, "user-6@example.com")).split("~"), "one mark for a user").toHaveLength(5);
  await expect(signIn.verifyCode({ email: EMAIL, code: "1", ip: OWN_IP, device: cookie! })).rejects.toMatchObject(
    INVALID_CODE,
  );
});

describeRedis("on Redis", () => {
  const server = redisOfSuite();

  test("strangers cannot use up the codes of a browser that has signed in before", async () => {
    const store = await openAt(server.url, { prefix: `${unique("devices")}:`, clock: () => START });
    expect(await signInUnderFlood(store)).toBe(19);
  });
});
