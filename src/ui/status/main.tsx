import { createClient } from "../shared/http.ts";
import { Layout, PageHead } from "../shared/layout.tsx";
import { Loaded } from "../shared/parts.tsx";
import { useResource } from "../shared/resource.ts";
import { createRouter } from "../shared/router.ts";
import { startPage } from "../shared/start.tsx";
import { Time } from "../shared/time.tsx";
import { type Status, StatusView } from "./view.tsx";

const REFRESH_MS = 15_000;

const router = createRouter(window);
const client = createClient({ fetch: window.fetch.bind(window) });

function StatusPage() {
  const status = useResource<Status>("status", (signal) => client.get("/v1/status", { signal }), {
    everyMs: REFRESH_MS,
  });
  const updated = status.data?.last_updated;
  return (
    <>
      <PageHead
        title="Status"
        actions={
          updated !== undefined && (
            <span class="muted small">
              Updated <Time at={updated} />
            </span>
          )
        }
      />
      <Loaded resource={status} what="Loading status">
        {(data) => <StatusView status={data} />}
      </Loaded>
    </>
  );
}

startPage(
  <Layout
    product="status"
    router={router}
    connection={client.connection}
    groups={[]}
    actions={
      <a class="button small" href="/">
        Dashboard
      </a>
    }
  >
    <StatusPage />
  </Layout>,
);
