/** The colours of the tab icon; it must be visible on light and dark backgrounds, regardless of the page's theme. */
const colours: Readonly<Record<string, string>> = {
  running: '#2f81e0',
  starting: '#2f81e0',
  scheduled: '#2f81e0',
  succeeded: '#1f9d57',
  failed: '#d83a30',
  abandoned: '#d83a30',
  stopping: '#d18a00',
  pausing: '#d18a00',
}

/** A disc in the colour of a state, so that a background tab shows when a run ends. */
export const iconOf = (state: string): string =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="${
      colours[state] ?? '#8a94a0'
    }"/></svg>`,
  )}`
