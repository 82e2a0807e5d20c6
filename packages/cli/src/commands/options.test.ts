import { describe, expect, it, vi } from "vitest";

vi.mock("node:os", async (original) => ({
  ...(await original<typeof import("node:os")>()),
  userInfo: () => {
    throw new Error("uv_os_get_passwd returned ENOENT");
  },
}));

const { defaultAuthor } = await import("./options.ts");

describe("defaultAuthor", () => {
  it("names the user id where the user database has no entry for it", () => {
    expect(defaultAuthor()).toMatch(/^uid-\d+@./);
  });
});
