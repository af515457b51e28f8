import type { EventDefinition } from './event.ts'

type Data = Record<string, unknown>
type Stored = { type: string; schema_version: number; data: object }

/**
 * Converts recorded data to the current version. Throws if an upcaster is missing or a newer build recorded it,
 * because unconverted data would silently be misread.
 */
export function upcast({ upcasters, ...known }: EventDefinition, stored: Stored): Data {
  if (stored.schema_version > known.schema_version)
    throw new Error(
      `${stored.type} was recorded in version ${stored.schema_version}; this build knows ${known.schema_version}`,
    )
  let data = stored.data as Data
  for (let from = stored.schema_version; from < known.schema_version; from++) {
    const upcaster = upcasters[from - 1]
    if (!upcaster)
      throw new Error(`${stored.type} has no upcaster from version ${from} to ${from + 1}`)
    data = upcaster(data)
  }
  return data
}
