import { AckStatus } from "@ringwall/wire";

/** The word for an outcome in metrics and traces. */
export function ackWord(status: AckStatus): string {
  switch (status) {
    case AckStatus.APPLIED:
      return "applied";
    case AckStatus.REFUSED:
      return "refused";
    default:
      return "out_of_step";
  }
}
