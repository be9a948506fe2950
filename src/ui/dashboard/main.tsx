import { createClient } from "../shared/http.ts";
import { Layout } from "../shared/layout.tsx";
import { createRouter } from "../shared/router.ts";
import { startPage } from "../shared/start.tsx";
import { Overview } from "./overview.tsx";

const router = createRouter(window);
const client = createClient({ fetch: window.fetch.bind(window) });

startPage(
  <Layout product="dashboard" router={router} connection={client.connection} groups={[]}>
    <Overview />
  </Layout>,
);
