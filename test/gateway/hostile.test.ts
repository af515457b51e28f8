import test from 'ava'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { cases } from './hostile-cases.ts'
import { connectRaw } from './raw-connection.ts'
import { ambiguityOf, startRecorder } from './recorder.ts'
import { openStage } from './stage.ts'

test('no bytes of a client become two requests, or reach a path outside /v1', async t => {
  t.timeout(patient(120_000))
  const stage = await openStage(t)
  const engine = await startRecorder(t)
  await stage.tables.deploy('dep_a', 'rev_1', [engine.url])
  const { token } = await stage.tables.token('dep_a')
  t.true(cases.length >= 60)
  for (const { name, raw, most = 1, isCut } of cases) {
    const before = engine.requests.length
    const isDone = (reply: string, isClosed: boolean) =>
      isClosed || /^HTTP\/1\.1 [2-5]\d\d.*\r\n\r\n/ms.test(reply) || isCut === true
    await ask(stage.port, raw.replaceAll('TOKEN', token).replaceAll('DEP', 'dep_a'), isDone, name)
    await stage.idle()
    const asked = engine.requests.slice(before)
    t.true(asked.length <= most, `${name}: ${asked.length} requests`)
    for (const { head } of asked) {
      t.is(ambiguityOf(head), null, name)
      t.notRegex(head.split('\r\n')[0] ?? '', /smuggled/, name)
    }
  }
  const [first] = engine.requests
  t.truthy(first, 'honest ones do arrive')
})

/** Sends bytes, and closes once the reply is long enough. */
async function ask(
  port: number,
  raw: string,
  isDone: (reply: string, isClosed: boolean) => boolean,
  what: string,
): Promise<string> {
  const { socket, reply, isClosed } = connectRaw(port)
  await new Promise(resolve => socket.write(Buffer.from(raw, 'latin1'), resolve))
  await until(`an answer to: ${what}`, 10_000, () => isDone(reply(), isClosed()))
  socket.destroy()
  return reply()
}
