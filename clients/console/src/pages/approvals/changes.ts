export type Change = { field: string; before: string; after: string }

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const shown = (value: unknown) => (value === undefined ? '' : JSON.stringify(value))

/** The fields in which two specs differ, by their paths. Lists differ as a whole. */
export function changesOf(before: unknown, after: unknown, at = ''): Change[] {
  if (isRecord(before) && isRecord(after)) {
    const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort()
    return fields.flatMap(field =>
      changesOf(before[field], after[field], at === '' ? field : `${at}.${field}`),
    )
  }
  const [was, is] = [shown(before), shown(after)]
  return was === is ? [] : [{ field: at, before: was, after: is }]
}
