#!/usr/bin/env node
import { enableCompileCache } from "node:module";
import { fileURLToPath } from "node:url";

const CACHE = new URL("../../../node_modules/.cache/ringwall/compiled/", import.meta.url);

// Compiled code is kept between runs: a command is over before its code could be compiled twice.
enableCompileCache(fileURLToPath(CACHE));
const { runProcess } = await import("./run-process.ts");
await runProcess();
