import { constants, setPriority } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { createPool } from '../../platform/postgres/pool.ts'
import { systemClock } from '../../platform/time.ts'
import { restMs, startCompactor } from './compact.ts'
import type { Said, ThreadData } from './compactor-messages.ts'

const halfMinute = 30_000 / restMs

// The thread started by compactor.ts: compacts until it receives a message, or has had nothing to do for a while.
run(parentPort, workerData as ThreadData)

function run(
  port: MessagePort | null,
  { databaseUrl, searchPath, idlePasses = halfMinute }: ThreadData,
): void {
  if (!port) throw new Error('compactor-thread.ts is started by compactor.ts')
  // Affects this thread only: requests come first.
  setPriority(constants.priority.PRIORITY_LOW)
  const say = (level: Said['level']) => (fields: object, message: string) =>
    port.postMessage({ level, fields, message } satisfies Said)
  const pool = createPool(databaseUrl, {
    max: 1,
    searchPath,
    applicationName: 'forge compactor',
    // Enough for half a million points at once.
    statementTimeoutMs: 120_000,
  })
  const logger = { warn: say('warn'), error: say('error') }
  let idle = 0
  const compactor = startCompactor({ pool, logger, now: systemClock }, compacted => {
    idle = compacted > 0 ? 0 : idle + 1
    if (idle === idlePasses) void end()
  })
  let isEnding = false
  const end = async () => {
    if (isEnding) return
    isEnding = true
    await compactor.stop()
    await pool.end()
    // The open port alone would keep the thread alive.
    port.close()
  }
  port.on('message', end)
}
