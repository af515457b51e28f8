/** Where the page is that an MLflow client names after `#`; null for anything else. */
export function pageOfMlflow(hash: string): string | null {
  const run = /^#\/experiments\/[^/]+\/runs\/([\w.-]{1,128})$/.exec(hash)?.[1]
  if (run !== undefined) return `/runs/${run}`
  return hash.startsWith('#/experiments/') ? '/' : null
}
