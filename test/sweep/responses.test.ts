import { sweepFormat } from "./sweep.ts";

sweepFormat("responses");
