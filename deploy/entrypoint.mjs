// Chooses the program of the image by its first argument.
const ENTRIES = ["registrar", "renderer", "version-keeper", "agent-gateway", "agent", "ringwall"];
const [, , entry = "help", ...rest] = process.argv;

if (entry === "health") {
  const port = process.env.RINGWALL_HTTP_PORT ?? "8080";
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`).then(
    (response) => response.ok,
    () => false,
  );
  process.exit(ready ? 0 : 1);
} else if (ENTRIES.includes(entry)) {
  process.argv = [process.argv[0], `/opt/ringwall/${entry}.mjs`, ...rest];
  await import(`./${entry}.mjs`);
} else {
  process.stderr.write(`usage: docker run ringwall ${ENTRIES.join("|")} [options]\n`);
  process.exit(entry === "help" ? 0 : 2);
}
