import { openRedis } from "../../../src/store/redis/open.ts";
import { describeRedis, redisOfSuite } from "../../support/redis.ts";
import { PATIENT } from "./support.ts";
import { storeSuite } from "../contract/suite.ts";

describeRedis("on Redis", () => {
  const server = redisOfSuite();
  let stores = 0;

  storeSuite("redis", ({ now }) =>
    openRedis({ url: server.url, nodes: [], prefix: `suite${++stores}:`, clock: now, ...PATIENT }),
  );
});
