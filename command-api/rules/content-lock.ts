/** Serializes keeping and deleting the same content. */
export const contentLock = (sha256: string): string => `upload content ${sha256}`
