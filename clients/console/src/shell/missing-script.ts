/** How the engines of browsers, and the loader of the build, begin to say that a part of the console could not be loaded. */
const beginnings = [
  'Failed to fetch dynamically imported module',
  'error loading dynamically imported module',
  'Importing a module script failed',
  'Unable to preload CSS',
]

/** Whether a page failed because its code is not there: only a reload of the console helps then. */
export const isMissingScript = (error: unknown): boolean =>
  error instanceof Error && beginnings.some(beginning => error.message.startsWith(beginning))
