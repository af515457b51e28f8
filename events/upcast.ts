import type { EventDefinition } from './event.ts'

type Data = Record<string, unknown>
type Stored = { type: string; schema_version: number; data: object }

/**
 * Recorded data in today's shape. Throws where no way leads there: an upcaster is missing, or a newer build
 * recorded it. Read as it is, it would silently be taken for something else.
 */
export function upcast({ upcasters, ...known }: EventDefinition, stored: Stored): Data {
  if (stored.schema_version > known.schema_version)
    throw new Error(
      `${stored.type} was recorded in version ${stored.schema_version}; this build knows ${known.schema_version}`,
    )
  let data = stored.data as Data
  for (let from = stored.schema_version; from < known.schema_version; from++) {
    const upcaster = upcasters[from - 1]
    if (!upcaster) throw new Error(`${stored.type} has no way from version ${from} to ${from + 1}`)
    data = upcaster(data)
  }
  return data
}
