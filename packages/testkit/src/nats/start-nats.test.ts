import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { startNats } from "./start-nats.ts";

describe("startNats", () => {
  it("starts on a free port, restarts on the same one and leaves nothing behind", async () => {
    const server = await startNats();
    const { port, pid } = server;
    await server.kill();
    expect(server.pid).toBeUndefined();
    await server.restart();
    expect(server.port).toBe(port);
    expect(server.pid).not.toBe(pid);
    const { storeDir } = server;
    expect(existsSync(storeDir)).toBe(true);
    await server.stop();
    expect(existsSync(storeDir)).toBe(false);
  });

  it("says what the server said when it does not start", async () => {
    await expect(startNats({ config: "nonsense {" })).rejects.toThrow("did not start");
  });
});
