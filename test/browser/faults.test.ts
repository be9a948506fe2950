import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { required } from "../support/programs.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import { BROWSERS } from "./support/browser.ts";
import { type Guest, OPERATOR_TOKEN, Stage } from "./support/stage.ts";

const canRun = required(...BROWSERS) && required("redis-server", "valkey-server");
const STORE_AWAY = "The gateway's store is away.";
const GATEWAY_AWAY = "The gateway does not answer.";

describe.skipIf(!canRun)("pages while something is away", () => {
  let redis: RedisServer;
  let stage: Stage;
  let guest: Guest;
  beforeAll(async () => {
    redis = await startRedis();
    stage = await Stage.set({ store: { url: `${redis.url}/0`, timeout: "250ms" } });
    guest = await stage.guest();
  });
  afterAll(async () => {
    await stage.close();
    await redis.stop();
  });

  test("a store that is away: both pages say so, keep what they have, and recover by themselves", () =>
    stage.visit({}, async (visitor) => {
      await stage.visit({}, async (operator) => {
        await stage.signIn(visitor, guest.email);
        await visitor.page.getByText("None at this moment.").waitFor();
        await stage.signInAdmin(operator, OPERATOR_TOKEN, "/audit");
        await operator.page.getByText("signIn", { exact: true }).waitFor();
        redis.pause();
        await visitor.page.getByText(STORE_AWAY).waitFor();
        await operator.page.reload();
        await operator.page.getByText(STORE_AWAY).waitFor();
        expect(await visitor.page.getByText("Running streams").count()).toBeGreaterThan(0);
        redis.resume();
        await visitor.page.getByText(STORE_AWAY).waitFor({ state: "detached" });
        await operator.page.getByText(STORE_AWAY).waitFor({ state: "detached" });
        await operator.page.getByText("signIn", { exact: true }).waitFor();
      });
    }));

  test("a gateway that is started again: events are taken up, calls are made again, nobody signs in anew", () =>
    stage.visit({}, async (visitor) => {
      await stage.visit({}, async (operator) => {
        await stage.signIn(visitor, guest.email);
        await visitor.page.getByText("None at this moment.").waitFor();
        await stage.signInAdmin(operator);
        await operator.page.getByText("live", { exact: true }).waitFor();
        await stage.stop();
        await operator.page.getByText(/^no figures/).waitFor();
        await operator.page.getByText(GATEWAY_AWAY).waitFor();
        await visitor.page.getByText(GATEWAY_AWAY).waitFor();
        await stage.start();
        await operator.page.getByText("live", { exact: true }).waitFor();
        await operator.page.getByText(GATEWAY_AWAY).waitFor({ state: "detached" });
        await visitor.page.getByText(GATEWAY_AWAY).waitFor({ state: "detached" });
        expect(await visitor.page.getByRole("heading", { name: "Overview" }).count()).toBe(1);
      });
    }));
});
