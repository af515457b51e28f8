type Fields = Record<string, unknown>

/** The fields that differ, in the order of the second; fields missing on one side count as null. */
export function diffOf(
  before: Fields,
  after: Fields,
): { field: string; from: unknown; to: unknown }[] {
  const fields = [...new Set([...Object.keys(after), ...Object.keys(before)])]
  return fields.flatMap(field => {
    const [from = null, to = null] = [before[field], after[field]]
    return JSON.stringify(from) === JSON.stringify(to) ? [] : [{ field, from, to }]
  })
}
