import type { JSX } from "preact";
import { Layout, type NavGroup, PageHead } from "../shared/layout.tsx";
import { Empty } from "../shared/parts.tsx";
import { matchPath } from "../shared/router.ts";
import { startPage } from "../shared/start.tsx";
import { Alerts } from "./alerts.tsx";
import { AuditPage } from "./audit.tsx";
import { admin, router, session } from "./client.ts";
import { ConfigurationPage } from "./configuration.tsx";
import { ExplainPage } from "./explain.tsx";
import { GenerationsPage } from "./generations.tsx";
import { InstancesPage } from "./instances.tsx";
import { LedgerPage } from "./ledger.tsx";
import { followFigures } from "./live.ts";
import { LiveState } from "./live-state.tsx";
import { ModelPage } from "./model.tsx";
import { ModelsPage } from "./models.tsx";
import { OverviewPage } from "./overview.tsx";
import { PluginsPage } from "./plugins.tsx";
import { SessionBar, SignedIn } from "./session.tsx";
import { StreamsPage } from "./streams.tsx";
import { UpstreamsPage } from "./upstreams.tsx";
import { UsagePage } from "./usage.tsx";
import { UserPage } from "./user.tsx";
import { UsersPage } from "./users.tsx";

const GROUPS: readonly NavGroup[] = [
  {
    title: "Now",
    items: [
      { path: "/", title: "Overview" },
      { path: "/upstreams", title: "Upstreams" },
      { path: "/models", title: "Models" },
      { path: "/streams", title: "Streams" },
      { path: "/instances", title: "Instances" },
    ],
  },
  {
    title: "Accounts",
    items: [
      { path: "/users", title: "Users" },
      { path: "/ledger", title: "Ledger" },
      { path: "/usage", title: "Usage" },
    ],
  },
  {
    title: "Configuration",
    items: [
      { path: "/configuration", title: "Current configuration" },
      { path: "/generations", title: "Generations" },
      { path: "/explain", title: "Explain" },
      { path: "/plugins", title: "Plugins" },
      { path: "/audit", title: "Audit log" },
    ],
  },
];

const PAGES: readonly (readonly [pattern: string, page: (params: Readonly<Record<string, string>>) => JSX.Element])[] =
  [
    ["/", () => <OverviewPage />],
    ["/upstreams", () => <UpstreamsPage />],
    ["/models", () => <ModelsPage />],
    ["/models/:id", ({ id = "" }) => <ModelPage key={id} id={id} />],
    ["/streams", () => <StreamsPage />],
    ["/instances", () => <InstancesPage />],
    ["/users", () => <UsersPage />],
    ["/users/:id", ({ id = "" }) => <UserPage key={id} id={id} />],
    ["/ledger", () => <LedgerPage />],
    ["/usage", () => <UsagePage />],
    ["/configuration", () => <ConfigurationPage />],
    ["/generations", () => <GenerationsPage />],
    ["/explain", () => <ExplainPage />],
    ["/plugins", () => <PluginsPage />],
    ["/audit", () => <AuditPage />],
  ];

function Console() {
  const isIn = Boolean(session.value);
  return (
    <Layout
      product="console"
      router={router}
      connection={admin.connection}
      groups={isIn ? GROUPS : []}
      actions={
        isIn && (
          <>
            <LiveState />
            <SessionBar />
          </>
        )
      }
    >
      <SignedIn>
        <Alerts />
        <CurrentPage />
      </SignedIn>
    </Layout>
  );
}

function CurrentPage() {
  const path = router.path.value;
  for (const [pattern, page] of PAGES) {
    const params = matchPath(pattern, path);
    if (params !== null) return page(params);
  }
  return (
    <>
      <PageHead title="Page not found" />
      <Empty title={`The console has no page at ${path}`}>
        <a href="#/">Go to the overview</a>
      </Empty>
    </>
  );
}

followFigures();
startPage(<Console />);
