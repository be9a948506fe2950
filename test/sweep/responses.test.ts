import { sweepFormat } from "./sweep.ts";

sweepFormat("responses", { part: 0, of: 2 });
