/** Runs whose curves are read in one request. */
export type Part = readonly string[]

/** Beyond these limits a chart reads all its shown runs in one new request. */
const mostParts = 8
const mostHidden = (shown: number) => Math.max(40, shown)

/**
 * How the wanted runs are read, given how they were read before: a run that is hidden stays in its part, so that nothing is
 * read to show it again, and runs that were not read before become a part.
 */
export function partsFor(before: readonly Part[], wanted: Part): readonly Part[] {
  const asked = new Set(wanted)
  const kept = before.filter(part => part.some(run => asked.has(run)))
  const known = new Set(kept.flat())
  const missing = wanted.filter(run => !known.has(run))
  const parts = missing.length === 0 ? kept : [...kept, missing]
  const hidden = known.size + missing.length - asked.size
  if (parts.length > mostParts || hidden > mostHidden(asked.size)) return [wanted]
  return parts
}
