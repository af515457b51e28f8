/** Serializes those who keep and those who delete the same content. */
export const contentLock = (sha256: string): string => `upload content ${sha256}`
