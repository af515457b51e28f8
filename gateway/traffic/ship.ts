import { pause } from '../../platform/pause.ts'
import { repeat } from '../../platform/repeat.ts'
import type { TrafficRow } from '../../schemas/traffic.ts'
import { rowsIn, type TrafficSpool } from './spool.ts'

type OfDeployment = { deployment_id: string }

export type ShippingDeps<Row extends OfDeployment = TrafficRow> = {
  spool: TrafficSpool<Row>
  /** Rows of one deployment; resolves once they are stored. */
  append: (deployment_id: string, rows: readonly Row[]) => Promise<unknown>
  now: () => Date
  failed: (error: unknown) => void
  /** Called with the number of rows in a file that could not be read. */
  damaged: (path: string, rows: number) => void
}

/** A row is on the log about this much later, in milliseconds. */
const everyMs = 1_000
const adoptEveryMs = 10_000
const stopWithinMs = 5_000
/** The size of one record: the log accepts about a megabyte. */
const most = { rows: 500, chars: 400_000 }

/** Moves rows from the disk to the log until stopped, and then as many as it can within five seconds. */
export function startShipping<Row extends OfDeployment>({
  spool,
  now,
  ...deps
}: ShippingDeps<Row>): { stop(): Promise<void> } {
  let adoptedAt = now().getTime()
  const shipped = new Set<string>()
  const work = async (signal: AbortSignal) => {
    const nowMs = now().getTime()
    if (nowMs - adoptedAt >= adoptEveryMs) {
      adoptedAt = nowMs
      spool.adopt(nowMs)
    }
    await ship(spool, shipped, deps, signal)
    return everyMs
  }
  const running = repeat(work, { failed: deps.failed })
  return {
    async stop() {
      const giveUp = new AbortController()
      const rest = async () => {
        await running.stop()
        await ship(spool, shipped, deps, giveUp.signal)
      }
      const late = pause(stopWithinMs, giveUp.signal)
      await Promise.race([rest().catch(deps.failed), late])
      giveUp.abort()
      spool.close()
    },
  }
}

/**
 * A segment goes when the log has acknowledged all of it; repeated rows have the same ids. A segment that cannot be read or
 * removed does not hold up the others and is tried again in the next pass; rows already on the log are not sent again.
 */
async function ship<Row extends OfDeployment>(
  spool: TrafficSpool<Row>,
  shipped: Set<string>,
  { append, damaged, failed }: Pick<ShippingDeps<Row>, 'append' | 'damaged' | 'failed'>,
  signal: AbortSignal,
): Promise<void> {
  spool.finish()
  for (const segment of spool.segments()) {
    if (signal.aborted) return
    const { path } = segment
    const found = shipped.has(path) ? { rows: [], damaged: 0 } : readable<Row>(path, failed)
    if (found === null) continue
    if (found.damaged > 0) damaged(path, found.damaged)
    const batches = Object.entries(Object.groupBy(found.rows, row => row.deployment_id)).flatMap(
      ([id, rows = []]) => inParts(rows).map(part => ({ id, part })),
    )
    await Promise.all(batches.map(({ id, part }) => append(id, part)))
    shipped.add(path)
    try {
      spool.remove(segment)
      shipped.delete(path)
    } catch (error) {
      failed(error)
    }
  }
}

/** Null if it cannot be read now. A missing segment has nothing left to send. */
function readable<Row>(
  path: string,
  failed: (error: unknown) => void,
): { rows: Row[]; damaged: number } | null {
  try {
    return rowsIn<Row>(path)
  } catch (error) {
    failed(error)
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? { rows: [], damaged: 0 } : null
  }
}

function inParts<Row>(rows: readonly Row[]): Row[][] {
  const parts: Row[][] = []
  let chars = 0
  for (const row of rows) {
    const size = JSON.stringify(row).length
    const last = parts.at(-1)
    if (!last || last.length >= most.rows || chars + size > most.chars) {
      parts.push([row])
      chars = size
    } else {
      last.push(row)
      chars += size
    }
  }
  return parts
}
