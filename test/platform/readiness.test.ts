import test from 'ava'
import { pino } from 'pino'
import { checkAll, readinessLog, withoutDetails } from '../../platform/readiness.ts'

const broken = () =>
  checkAll({
    database: async () => {
      throw new Error('password authentication failed for user "forge" at 10.0.0.7')
    },
    log: async () => ({ ok: true, lag_ms: 7, broker: 'kafka.internal:9092', parts: [{ at: 'x' }] }),
  })

test('strangers see whether parts work, and figures, but no message of a driver', async t => {
  const { status, checks } = withoutDetails(await broken())
  t.is(status, 'not_ready')
  const { lag_ms, ...database } = checks.database ?? {}
  t.is(typeof lag_ms, 'number')
  t.deepEqual(
    { ...checks, database },
    {
      database: { ok: false, error: 'failed' },
      log: { ok: true, lag_ms: 7 },
    },
  )
})

test('the reason is logged once, until it changes', async t => {
  const lines: string[] = []
  const tell = readinessLog(pino({}, { write: (line: string) => void lines.push(line) }))
  const fine = await checkAll({ database: async () => ({ ok: true }) })
  tell(fine)
  for (let look = 0; look < 3; look++) tell(await broken())
  tell(fine)
  t.is(lines.length, 2)
  t.regex(String(lines[0]), /password authentication failed/)
  t.regex(String(lines[1]), /ready again/)
})
