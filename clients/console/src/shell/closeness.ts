type Named = { run_id: string; short_id: string; name: string | null }

/** Runs in the order in which somebody who typed this means them: exactly this id or name, a beginning of one, any other. */
export function byCloseness<R extends Named>(text: string, runs: readonly R[]): R[] {
  const typed = text.toLowerCase()
  const rankOf = ({ short_id, name, run_id }: R): number => {
    const names = [short_id, run_id, name ?? ''].map(one => one.toLowerCase())
    if (names.includes(typed)) return 0
    return names.some(one => one.startsWith(typed)) ? 1 : 2
  }
  const once = new Map(runs.map(run => [run.run_id, run]))
  return [...once.values()].sort((a, b) => rankOf(a) - rankOf(b))
}
