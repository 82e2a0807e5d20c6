import { plan } from "../../plan/plan.ts";
import { IGNITION } from "../../profile/profiles.ts";
import { Content } from "../../tree/content.ts";
import { treeDigest, treeOf } from "../../tree/tree.ts";
import { DataDirectoryReader, writeDataDirectory } from "../data-directory.ts";
import { writeRepo } from "../repo.ts";

const UNIT = "ignition/store-and-forward-engine/E";

/** Writes a state that `text` tells into a repo or a data directory. */
export async function writeState(
  kind: string,
  folder: string,
  text: string,
  observe: () => void = () => undefined,
): Promise<void> {
  const files = treeOf([
    [`${UNIT}/resource.json`, Content.ofText("{}")],
    [`${UNIT}/config.json`, Content.ofText(text)],
    [`${UNIT}/${text}.bin`, Content.ofText(text)],
  ]);
  if (kind === "repo") {
    const tree = treeOf([...files].map(([path, content]) => [`resources/${path}`, content]));
    await writeRepo(folder, { gateway: "gw1", environment: "prod", tree, observe });
    return;
  }
  const { live, ledger, fingerprint } = await new DataDirectoryReader(folder, "prod").read();
  const planned = plan({
    profile: IGNITION,
    desired: { core: new Map(), environment: files },
    live,
    ...(ledger === undefined ? {} : { ledger }),
  });
  const next = {
    gateway: "gw1",
    mode: "prod",
    renderSha256: treeDigest(files),
    runId: "run",
    files: planned.owned,
  };
  await writeDataDirectory(folder, "prod", { plan: planned, ledger: next, fingerprint, observe });
}
