export type Table = {
  keys: readonly string[]
  rows: readonly { step: number; ts: number; values: readonly number[] }[]
}

/** A block in the format of `schemas/metrics/block.ts`, valid or not. */
export function metricBlock(
  run_id: string | undefined,
  tables: readonly Table[],
  more: object = {},
): Buffer {
  const heads = tables.map(({ keys, rows }) => ({ keys, rows: rows.length }))
  const head = Buffer.from(JSON.stringify({ run_id, ...more, tables: heads }))
  const prefix = Buffer.from('FMB1\0\0\0\0', 'latin1')
  prefix.writeUInt32LE(head.length, 4)
  const floats = tables.flatMap(({ rows }) => [
    ...rows.map(({ step }) => step),
    ...rows.map(({ ts }) => ts),
    ...rows.flatMap(({ values }) => values),
  ])
  return Buffer.concat([prefix, head, Buffer.from(new Float64Array(floats).buffer)])
}
