/** The page that an MLflow client names: below its tracking address, or after `#` of the home page. Null: this page. */
export function pageOfMlflow(path: string, hash: string): string | null {
  const run = /^#\/experiments\/[^/]+\/runs\/([\w.-]{1,128})$/.exec(hash)?.[1]
  if (run !== undefined) return `/runs/${run}`
  return hash.startsWith('#/experiments/') || path.startsWith('/api/') ? '/' : null
}
