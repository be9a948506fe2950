import { sweepFormat } from "./sweep.ts";

sweepFormat("chat");
