import { type Kysely, sql } from 'kysely'
import type { HardwareTables } from '../../projector/hardware/table.ts'

/** A reading of a GPU; `ts` in epoch milliseconds. */
export type LastPoint = {
  ts: number
  node: string | null
  index: number | null
  name: string
  value: number
}

type Row = {
  ts: number
  node: string | null
  index: number | null
  keys: string[]
  readings: (number | null)[]
  xid: number | null
}

const maxSources = 256
const newestOfEach = 20
const faultsOfEach = 4

/** For each GPU of a run: its newest readings, and all readings with a fault code (`xid`); oldest first. */
export async function readLastPoints(
  db: Kysely<HardwareTables>,
  runId: string,
): Promise<LastPoint[]> {
  const { rows } = await sql<Row>`
    select p.ts::float8 as ts, s.node, s.index, s.keys, p.readings, p.xid
      from (select * from hardware_sources
             where run_id = ${runId} and scope = 'gpu' order by source limit ${maxSources}) s,
           lateral ((select ts, readings, xid from hardware_readings h
                      where h.run_id = s.run_id and h.source = s.source
                      order by ts desc limit ${newestOfEach})
                    union
                    (select ts, readings, xid from hardware_readings h
                      where h.run_id = s.run_id and h.source = s.source and h.xid > 0
                      order by ts desc limit ${faultsOfEach})) p
     order by p.ts`.execute(db)
  return rows.flatMap(({ ts, node, index, keys, readings, xid }) => {
    const named = keys.map((name, place) => ({ name, value: readings[place] ?? null }))
    return [...named, { name: 'xid', value: xid }].flatMap(({ name, value }) =>
      value === null || Number.isNaN(value) ? [] : [{ ts, node, index, name, value }],
    )
  })
}
