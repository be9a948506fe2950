import type { ComponentChildren } from "preact";
import { Layout, PageHead } from "../shared/layout.tsx";
import { Empty, Loading } from "../shared/parts.tsx";
import { startPage } from "../shared/start.tsx";
import { Activity } from "./activity.tsx";
import { AccountView } from "./account.tsx";
import { Keys } from "./keys.tsx";
import { Models } from "./models.tsx";
import { Overview } from "./overview.tsx";
import { Playground } from "./playground.tsx";
import { router } from "./place.ts";
import { client, session, startSession } from "./session.ts";
import { SignIn } from "./sign-in.tsx";
import { Usage } from "./usage.tsx";

const GROUPS = [
  {
    items: [
      { path: "/", title: "Overview" },
      { path: "/keys", title: "API keys" },
      { path: "/models", title: "Models" },
      { path: "/playground", title: "Playground" },
      { path: "/activity", title: "Activity" },
      { path: "/usage", title: "Usage" },
      { path: "/account", title: "Account" },
    ],
  },
];

const VIEWS: Readonly<Record<string, () => ComponentChildren>> = {
  "/": () => <Overview />,
  "/keys": () => <Keys />,
  "/models": () => <Models />,
  "/playground": () => <Playground />,
  "/activity": () => <Activity />,
  "/usage": () => <Usage />,
  "/account": () => <AccountView />,
};

function Dashboard() {
  const state = session.value;
  const isSignedIn = typeof state === "object";
  return (
    <Layout
      product="dashboard"
      router={router}
      connection={client.connection}
      groups={isSignedIn ? GROUPS : []}
      actions={
        <a class="button small plain wide-only" href="/status">
          Status
        </a>
      }
    >
      {state === "starting" && <Loading what="Checking your session" />}
      {state === "signed-out" && <SignIn />}
      {isSignedIn && <View />}
    </Layout>
  );
}

function View() {
  const view = VIEWS[router.path.value];
  if (view !== undefined) return <>{view()}</>;
  return (
    <>
      <PageHead title="Page not found" />
      <Empty title="This page does not exist">
        <a href="#/">Go to the overview</a>
      </Empty>
    </>
  );
}

startPage(<Dashboard />);
startSession().catch(reportError);
