import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rowsIn, TrafficSpool } from '../../gateway/traffic/spool.ts'
import { row } from './row.ts'

/** Records until the disk is full, then makes room and records once more; says what happened. */
const [folder = ''] = process.argv.slice(2)
const ballast = join(folder, 'ballast')
writeFileSync(ballast, Buffer.alloc(16_384))
const spool = new TrafficSpool({ folder: join(folder, 'traffic'), segmentBytes: 20_000 })
let kept = 0
let refusal = ''
try {
  for (; kept < 10_000; kept++) spool.record(row({ request_id: `req_${kept}` }))
} catch (error) {
  refusal = (error as Error).name
}
spool.finish()
const files = spool.segments().map(({ path }) => rowsIn(path))
const found = files.reduce((sum, { rows }) => sum + rows.length, 0)
const damaged = files.reduce((sum, file) => sum + file.damaged, 0)
rmSync(ballast)
spool.record(row({ request_id: 'afterwards' }))
process.stdout.write(JSON.stringify({ kept, refusal, found, damaged, afterwards: true }))
