import { createClient } from "../shared/http.ts";
import { Layout, PageHead } from "../shared/layout.tsx";
import { createRouter } from "../shared/router.ts";
import { startPage } from "../shared/start.tsx";

const router = createRouter(window);
const client = createClient({ fetch: window.fetch.bind(window) });

startPage(
  <Layout product="console" router={router} connection={client.connection} groups={[]}>
    <PageHead title="Console" />
  </Layout>,
);
