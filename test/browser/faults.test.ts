import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { required } from "../support/programs.ts";
import { type RedisServer, startRedis } from "../support/redis.ts";
import { BROWSERS } from "./support/browser.ts";
import { type Guest, OPERATOR_TOKEN, Stage } from "./support/stage.ts";

const canRun = required(...BROWSERS) && required("redis-server", "valkey-server");
const STORE_AWAY = "The gateway cannot reach its store.";
const GATEWAY_AWAY = "The gateway is not responding.";

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

  test("says that the store is down, keeps the data on both pages, and recovers", () =>
    stage.visit({}, async (visitor) => {
      await stage.visit({}, async (operator) => {
        await stage.signIn(visitor, guest.email);
        await visitor.page.getByText("No running streams.").waitFor();
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

  test("reconnects after a restart of the gateway without a new sign-in", () =>
    stage.visit({}, async (visitor) => {
      await stage.visit({}, async (operator) => {
        await stage.signIn(visitor, guest.email);
        await visitor.page.getByText("No running streams.").waitFor();
        await stage.signInAdmin(operator);
        await operator.page.getByText("live", { exact: true }).waitFor();
        await stage.stop();
        await operator.page.getByText(/^no live data/).waitFor();
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
