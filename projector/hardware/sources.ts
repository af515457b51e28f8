import type { HardwarePoint } from '../../events/hardware.ts'

/** Limits per run: sources (GPUs and machines), and readings of each. Points beyond them count as dropped. */
export const maxSources = 20_000
export const maxKeys = 128

export type Source = { source: number; uuid: string | null; keys: string[] }
export type NewRow = { point: HardwarePoint; source: number; readings: (number | null)[] }

/** The sources of one run, and the changes by its new points. */
export type RunSources = {
  byPlace: Map<string, Source>
  /** Rows by source and time: of two points for one row, the later wins. */
  rows: Map<string, NewRow>
  changed: Map<string, HardwarePoint>
  dropped: number
}

export const noSources = (): RunSources => ({
  byPlace: new Map(),
  rows: new Map(),
  changed: new Map(),
  dropped: 0,
})

type Place = Pick<HardwarePoint, 'node' | 'rank' | 'scope' | 'index'>

export const sourcePlaceOf = ({ node, rank, scope, index }: Place): string =>
  JSON.stringify([scope, node, rank, index])

export function addPoint(run: RunSources, point: HardwarePoint): void {
  const place = sourcePlaceOf(point)
  const known = run.byPlace.get(place)
  if (!known && run.byPlace.size >= maxSources) {
    run.dropped++
    return
  }
  const source = known ?? { source: run.byPlace.size + 1, uuid: null, keys: [] }
  if (!known) run.byPlace.set(place, source)
  const grew = learn(source, point)
  if (!known || grew) run.changed.set(place, point)
  const readings = source.keys.map(key =>
    Object.hasOwn(point.readings, key) ? (point.readings[key] ?? null) : null,
  )
  run.rows.set(`${source.source}/${point.ts_ms}`, { point, source: source.source, readings })
}

/** Whether the source has changed. */
function learn(source: Source, { uuid, readings }: HardwarePoint): boolean {
  const before = source.keys.length
  for (const key of Object.keys(readings))
    if (source.keys.length < maxKeys && !source.keys.includes(key)) source.keys.push(key)
  const isOther = uuid !== null && uuid !== source.uuid
  if (isOther) source.uuid = uuid
  return isOther || source.keys.length > before
}
