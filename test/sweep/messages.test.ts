import { sweepFormat } from "./sweep.ts";

sweepFormat("messages");
