// Runs in the namespace of the lab's switch: agents reach the bus through it.
import { relay } from "./relay.ts";

const [path = "", port = "4222"] = process.argv.slice(2);
await relay({ host: "::", port: Number(port) }, { path });
process.stdout.write("ready\n");
// Ends with the process that started it.
process.stdin.resume().once("end", () => process.exit(0));
