#!/usr/bin/env node
import { enableCompileCache } from "node:module";

// Compiled code is kept between runs: a command is over before its code could be compiled twice.
enableCompileCache();
const { runProcess } = await import("./run-process.ts");
await runProcess();
