import { describe, expect, test } from "vitest";
import breaker from "../../plugins/breaker.ts";
import { AttemptError, type Guarded } from "../../src/kit/index.ts";
import { testExchange } from "../support/exchange.ts";
import { testTarget } from "../support/snapshot.ts";
import { pluginHost, setUp } from "./harness.ts";

async function attempt(open = false) {
  const host = await pluginHost();
  const alpha = host.breakers.get("alpha")!;
  if (open) alpha.state = "open";
  const hooks = await setUp(breaker, {}, host);
  return {
    alpha,
    beta: host.breakers.get("beta")!,
    guarded: hooks.attempt!(testTarget("alpha"), testExchange(host.snapshot)),
  };
}

describe("attempt", () => {
  test("asks the breaker of its target's upstream, and only that one", async () => {
    const { alpha, beta } = await attempt();
    expect([alpha.acquired, beta.acquired]).toEqual([1, 0]);
  });

  test("skips an upstream whose breaker is open", async () => {
    const { alpha, guarded } = await attempt(true);
    expect(guarded).toBe(false);
    expect(alpha.acquired).toBe(0);
  });

  test("hands on that the upstream answered, and how the attempt ended", async () => {
    const { alpha, guarded } = await attempt();
    const guard = guarded as Required<Guarded>;
    guard.answered();
    expect(alpha).toMatchObject({ answered: 1, running: 1 });
    const result = { ok: false as const, error: new AttemptError("reset", "x") };
    guard.settle(result);
    expect(alpha.endings).toEqual([result]);
  });
});
