type Found = { status: string; title: string | null; category: string | null }

/**
 * The sentence that says why a run failed, the same for the API, the command line and the console: the title of its newest diagnosis,
 * which notifications show too, if the rules found a cause; otherwise how it ended. Null: nobody knows, or it did not fail.
 */
export function whyFailed(
  { state, why }: { state: string; why: string | null },
  newest: Found | undefined,
): string | null {
  const isFound = newest?.status === 'succeeded' && newest.category !== 'unknown'
  return state === 'failed' && isFound ? (newest.title ?? why) : why
}
