import { randomInt } from 'node:crypto'
import { holdPort } from '../../platform/free-port.ts'

/** Above the ids of `executor/bench.ts`, and below 2^31, the most that Node takes: 32,000 ranges of 1024 ids. */
const ids = { first: 1_966_080_000, perFolder: 1024 }
/** Ports that represent ranges, above those of `platform/free-port.ts`. */
const ports = { from: 33_000, to: 65_000 }
const attempts = 50

const reserved = new Map<string, Promise<string>>()

/**
 * User ids of runs, if the tests run as root: the same for all servers of a folder, and different from those of other folders,
 * threads and processes, because the end of a run ends all processes of its user.
 */
export function idsIn(folder: string): Promise<string> {
  const known = reserved.get(folder) ?? reserveRange()
  reserved.set(folder, known)
  return known
}

async function reserveRange(): Promise<string> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const port = randomInt(ports.from, ports.to)
    if ((await holdPort(port)) === null) continue
    const first = ids.first + (port - ports.from) * ids.perFolder
    return `${first}-${first + ids.perFolder - 1}`
  }
  throw new Error(`no range of user ids is free after ${attempts} attempts`)
}
