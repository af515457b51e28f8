/** How the messages of browser engines, and of the build's loader, begin when a part of the console could not be loaded. */
const beginnings = [
  'Failed to fetch dynamically imported module',
  'error loading dynamically imported module',
  'Importing a module script failed',
  'Unable to preload CSS',
]

/** Whether a page failed because its code is missing: then only a reload of the console helps. */
export const isMissingScript = (error: unknown): boolean =>
  error instanceof Error && beginnings.some(beginning => error.message.startsWith(beginning))
