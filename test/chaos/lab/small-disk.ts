import { spawnSync } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of a few megabytes in memory, to be filled up. It needs root. */
export class SmallDisk {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** Mounts one; a text says why it can't be had. */
  static async mount(megabytes: number): Promise<SmallDisk | string> {
    if (process.getuid?.() !== 0) return "a small file system needs root";
    const directory = await mkdtemp(join(tmpdir(), "ringwall-disk-"));
    const mount = spawnSync("mount", [
      "-t",
      "tmpfs",
      "-o",
      `size=${megabytes}m`,
      "tmpfs",
      directory,
    ]);
    if (mount.status !== 0) {
      await rm(directory, { recursive: true });
      return `mount: ${String(mount.stderr ?? mount.error).trim()}`;
    }
    const disk = new SmallDisk(directory);
    process.once("exit", () => disk.#unmount());
    return disk;
  }

  /** Writes until nothing more goes. */
  async fill(): Promise<void> {
    const block = Buffer.alloc(64 * 1024, 1);
    for (let size = block.length; size >= 512; size /= 2) {
      const piece = block.subarray(0, size);
      const path = join(this.directory, "ballast");
      while (await writeFile(path, piece, { flag: "a" }).then(yes, no)) {
        // Until it is full.
      }
    }
  }

  /** Makes room again. */
  async empty(): Promise<void> {
    await rm(join(this.directory, "ballast"), { force: true });
  }

  async unmount(): Promise<void> {
    this.#unmount();
    await rm(this.directory, { recursive: true, force: true });
  }

  #unmount(): void {
    spawnSync("umount", [this.directory]);
  }
}

const yes = () => true;
const no = () => false;
