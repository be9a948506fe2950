import { expect, test } from "vitest";
import { SignInLinks } from "../../../src/accounts/sign-in/links.ts";
import { INVALID_CODE, signInBench } from "./support.ts";

const EMAIL = "ada@example.com";
const HERE = "127.0.0.1";
const MINUTE_MS = 60_000;

function links() {
  const clock = { now: 1_800_000_000_000 };
  return { clock, links: new SignInLinks(() => clock.now) };
}

test("a link is good once", () => {
  const { links: made } = links();
  const code = made.issue("user", EMAIL);
  expect(code).toMatch(/^link_[\w-]{22}$/);
  expect(made.redeem("user", code, HERE)).toBe(EMAIL);
  expect(made.redeem("user", code, HERE)).toBeNull();
});

test("a link is good for ten minutes", () => {
  const { links: made, clock } = links();
  const codes = [made.issue("user", EMAIL), made.issue("user", EMAIL)];
  clock.now += 10 * MINUTE_MS - 1;
  expect(made.redeem("user", codes[0], HERE)).toBe(EMAIL);
  clock.now += 1;
  expect(made.redeem("user", codes[1], HERE)).toBeNull();
});

test("a link is good from this machine alone, and one that was sent from elsewhere stays good", () => {
  const { links: made } = links();
  const code = made.issue("operator", "token");
  for (const address of ["192.0.2.1", "10.0.0.1", "2001:db8::1", "::ffff:192.0.2.1", "localhost.example.com", ""])
    expect(made.redeem("operator", code, address)).toBeNull();
  expect(made.redeem("operator", code, "::ffff:127.0.0.1")).toBe("token");
  expect(made.redeem("operator", made.issue("operator", "token"), "::1")).toBe("token");
});

test("a link opens what it was made for, and another start knows nothing of it", () => {
  const { links: made } = links();
  const code = made.issue("user", EMAIL);
  expect(made.redeem("operator", code, HERE)).toBeNull();
  expect(links().links.redeem("user", code, HERE)).toBeNull();
  expect(made.redeem("user", code, HERE)).toBe(EMAIL);
});

test.each([undefined, null, 7, {}, "", "link_", "123456", "link_AAAAAAAAAAAAAAAAAAAAAA", `link_${"A".repeat(1e6)}`])(
  "what is no link signs nobody in: %.30s",
  (code) => {
    expect(links().links.redeem("user", code, HERE)).toBeNull();
  },
);

test("takes the place of a mailed code, and signs in nobody else than its user", async () => {
  const { links: made } = links();
  const { signIn, store } = await signInBench({}, { links: made });
  const code = made.issue("user", EMAIL);
  const session = await signIn.verifyCode({ email: "somebody@example.com", code, ip: HERE });
  expect(session.body.user).toMatchObject({ id: "user_1", email: EMAIL });
  await expect(signIn.verifyCode({ email: EMAIL, code, ip: HERE })).rejects.toMatchObject(INVALID_CODE);
  // A user who was deleted meanwhile does not come back by it.
  const gone = made.issue("user", "gone@example.com");
  await expect(signIn.verifyCode({ email: EMAIL, code: gone, ip: HERE })).rejects.toMatchObject(INVALID_CODE);
  expect(await store.listUsers()).toHaveLength(1);
});

test("a link that is refused counts as any wrong code does", async () => {
  const { links: made } = links();
  const { signIn } = await signInBench({}, { links: made });
  const answers = await Promise.allSettled(
    Array.from({ length: 51 }, () =>
      signIn.verifyCode({ email: EMAIL, code: "link_AAAAAAAAAAAAAAAAAAAAAA", ip: HERE }),
    ),
  );
  const codes = answers.map((answer) =>
    answer.status === "rejected" ? (answer.reason as { code: string }).code : "in",
  );
  expect([...new Set(codes)]).toEqual(["INVALID_CODE", "TOO_MANY_REQUESTS"]);
});
