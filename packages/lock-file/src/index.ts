export { LockTaken, takeLock, type Unlock } from "./lock-file.ts";
