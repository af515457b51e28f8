/** The names that Forge gives to content it stores itself; no other content ever gets one of these names. */
export const isInStore = (path: string): boolean => path.startsWith('forge://')
