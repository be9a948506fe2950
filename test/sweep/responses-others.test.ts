import { sweepFormat } from "./sweep.ts";

sweepFormat("responses", { part: 1, of: 2 });
