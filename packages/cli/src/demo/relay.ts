import { createConnection, createServer, type Server, type Socket } from "node:net";

/** Where a connection is passed on to. */
export type RelayEnd = { readonly path: string } | { readonly host: string; readonly port: number };

/**
 * Passes connections from one end to the other. A socket in the file system is the same in every
 * network namespace, so two relays lead into one that has no other way out.
 */
export function relay(listen: RelayEnd, target: RelayEnd): Promise<Server> {
  const server = createServer((near) => {
    const far = createConnection(target);
    join(near, far);
    join(far, near);
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(listen, () => resolve(server));
  });
}

function join(from: Socket, to: Socket): void {
  from.pipe(to);
  from.on("error", () => to.destroy());
  from.once("close", () => to.destroy());
}
