/** Separate from the schemas, which the console does not load. */
export const secretLimits = {
  /** Secrets of one person. */
  ofPerson: 100,
  /** UTF-8 bytes of a value: 64 of them, the most that a job may name, still fit into the environment of a process. */
  bytes: 16_384,
} as const
