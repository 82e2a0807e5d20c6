import ignitionData from "./ignition.json" with { type: "json" };
import { type Profile, readProfile } from "./profile.ts";
import ringwallData from "./ringwall.json" with { type: "json" };

/** A control plane: units are YAML documents, both layers are written. */
export const RINGWALL: Profile = readProfile(ringwallData);

/** The configuration of an Ignition 8.3 gateway; the environment's collection is written. */
export const IGNITION: Profile = readProfile(ignitionData);

/** Profiles by name. */
export const PROFILES: ReadonlyMap<string, Profile> = new Map(
  [RINGWALL, IGNITION].map((profile) => [profile.name, profile]),
);
