import { runService } from "@ringwall/bus";
import { rendererService } from "./service.ts";

await runService(rendererService);
