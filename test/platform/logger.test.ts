import test from 'ava'
import { createLogger } from '../../platform/logger.ts'

test('no text becomes a second line of the log or acts on a terminal, and credentials are left out', t => {
  const pieces: string[] = []
  const logger = createLogger('info', false, { write: text => void pieces.push(text) })
  const hostile = 'x\n{"level":50,"msg":"forged"}\r\u001b]0;title\u0007'
  logger.info({ name: hostile, token: 'secret', user: { password: 'secret' } }, 'said')
  logger.warn({ err: new Error(hostile) }, 'failed')
  const written = pieces.join('')
  const lines = written.trimEnd().split('\n')
  t.is(lines.length, 2)
  t.like(JSON.parse(lines[0] ?? ''), { msg: 'said', name: hostile, token: '[redacted]' })
  t.like(JSON.parse(lines[1] ?? ''), { msg: 'failed', err: { message: hostile } })
  t.false(written.includes('\u001b'))
  t.false(written.includes('secret'))
})

test('times are those of UTC', t => {
  const pieces: string[] = []
  const logger = createLogger('info', false, { write: text => void pieces.push(text) })
  const before = Date.now()
  logger.info('said')
  const { time } = JSON.parse(pieces.join('')) as { time: number }
  t.true(time >= before && time <= Date.now(), 'milliseconds since 1970, in any time zone')
})
