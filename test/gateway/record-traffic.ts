import { writeSync } from 'node:fs'
import { startShipping } from '../../gateway/traffic/ship.ts'
import { TrafficSpool } from '../../gateway/traffic/spool.ts'
import { openPostgresLog } from '../../platform/log/postgres.ts'
import { systemClock } from '../../platform/time.ts'
import { row } from './row.ts'

/**
 * A gateway's process without the gateway: records rows endlessly, prints each once it would be answered, and ships them. To be killed.
 */
const [folder = '', name = '', url = '', topic = ''] = process.argv.slice(2)
const spool = new TrafficSpool({ folder, segmentBytes: 4_000 })
if (url !== '') {
  const log = await openPostgresLog({
    url,
    topics: [{ name: topic, partitions: 2, retentionDays: null }],
  })
  startShipping({
    spool,
    now: systemClock,
    append: (key, rows) => log.append(topic, [{ key, value: Buffer.from(JSON.stringify(rows)) }]),
    failed: () => {},
    damaged: () => {},
  })
}
let nth = 0
setInterval(() => {
  for (let n = 0; n < 20; n++) {
    const request_id = `${name}-${++nth}`
    spool.record(row({ request_id }))
    writeSync(1, `${request_id}\n`)
  }
}, 5)
