import { afterAll, beforeAll } from "vitest";
import { openRedis } from "../../../src/store/redis/open.ts";
import { type RedisServer, describeRedis, startRedis } from "../../support/redis.ts";
import { PATIENT } from "./support.ts";
import { storeSuite } from "../contract/suite.ts";

describeRedis("on Redis", () => {
  let server: RedisServer;
  let stores = 0;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.stop());

  storeSuite("redis", ({ now }) =>
    openRedis({ url: server.url, nodes: [], prefix: `suite${++stores}:`, clock: now, ...PATIENT }),
  );
});
