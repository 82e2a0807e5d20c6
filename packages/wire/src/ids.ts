declare const brand: unique symbol;

type Branded<Base, Name extends string> = Base & { readonly [brand]: Name };

/** Workload id: 1 to 64 of `[a-z0-9_-]`. */
export type WorkloadId = Branded<string, "WorkloadId">;

/** SHA-256 of a body's content object as 64 lower-case hex digits. */
export type BodyDigest = Branded<string, "BodyDigest">;

/** SHA-256 that names a commit, as 64 lower-case hex digits. */
export type CommitId = Branded<string, "CommitId">;

/** `<namespace>/<service>`, both RFC 1123 labels. */
export type ServiceKeyText = Branded<string, "ServiceKeyText">;
