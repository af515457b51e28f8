import { once } from 'node:events'
import { connect } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import type { TrafficRow } from '../../schemas/traffic.ts'
import { say, serveEngine } from '../servers/engine.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'
import { openStage, type Stage } from './stage.ts'

type Caller = { send: (text: string) => void; got: () => string; isClosed: () => boolean }

/** A caller who has sent the head of a request, and decides when the rest follows. */
async function callSlowly(
  t: ExecutionContext,
  { port }: Stage,
  token: string,
  length: number,
): Promise<Caller> {
  const socket = connect(port, '127.0.0.1')
  let got = ''
  let isClosed = false
  socket
    .on('data', data => {
      got += data.toString('latin1')
    })
    .on('error', () => {})
    .on('close', () => {
      isClosed = true
    })
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  socket.write(
    `POST /inference/dep_a/v1/audio HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\ncontent-length: ${length}\r\n\r\n`,
  )
  return { send: text => void socket.write(text), got: () => got, isClosed: () => isClosed }
}

const lastRow = (stage: Stage): Promise<TrafficRow> =>
  until('it is on record', 20_000, () => stage.rows.at(-1))

test('a body that arrives slowly is passed on, however long it takes', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t, { arrivalMs: 200 })
  const url = await serveEngine(t, (req, res) => void req.pipe(res))
  await stage.tables.deploy('dep_a', 'rev_a', [url])
  const { token } = await stage.tables.token('dep_a')
  const began = performance.now()
  const { send, got } = await callSlowly(t, stage, token, 4)
  send('abc')
  await until('it has taken longer than other requests may', 20_000, () => {
    return performance.now() - began > 1_000
  })
  send('d')
  await until('the response arrives', 20_000, () => got().endsWith('0\r\n\r\n'))
  t.regex(got(), /^HTTP\/1\.1 200 /)
  t.like(await lastRow(stage), { status: 200, request_bytes: 4, aborted: false })
})

test('a caller who falls silent gets 408, and so does the record; its engine is free again', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t, { silentMs: 300 })
  let atEngine = 0
  const url = await serveEngine(t, (req, res) => {
    atEngine++
    req.resume().once('close', () => atEngine--)
    req.once('end', () => res.end('ok'))
  })
  await stage.tables.deploy('dep_a', 'rev_a', [url])
  const { token } = await stage.tables.token('dep_a')
  const { send, got } = await callSlowly(t, stage, token, 4)
  send('a')
  await until('it is refused', 20_000, () => got().includes('request_timeout'))
  t.regex(got(), /^HTTP\/1\.1 408 /)
  t.like(await lastRow(stage), { status: 408, error_source: 'client' })
  await until('the engine sees the end', 20_000, () => atEngine === 0)
})

test('a body of single bytes ends with the time limit of its deployment', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const url = await serveEngine(t, say('ok'))
  await stage.tables.deploy('dep_a', 'rev_a', [url], { timeout_s: 1 })
  const { token } = await stage.tables.token('dep_a')
  const { send, got } = await callSlowly(t, stage, token, 1_000)
  await until(
    'it is refused',
    20_000,
    () => {
      send('a')
      return got().includes('request_timeout')
    },
    100,
  )
  t.like(await lastRow(stage), { status: 408, error_source: 'client' })
})

test('an engine that takes no more bytes is not the fault of its caller', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t, { silentMs: 300 })
  const url = await serveEngine(t, () => {})
  await stage.tables.deploy('dep_a', 'rev_a', [url], { timeout_s: 2 })
  const { token } = await stage.tables.token('dep_a')
  const { send, got } = await callSlowly(t, stage, token, 12_000_000)
  send('a'.repeat(12_000_000))
  await until('it is refused', 20_000, () => got().includes('engine_timeout'))
  t.regex(got(), /^HTTP\/1\.1 504 /)
  t.like(await lastRow(stage), { status: 504, error_source: 'gateway' })
})

test('caller and engine may take turns for longer than the time limit', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t, { arrivalMs: 200 })
  const url = await serveEngine(t, (req, res) => void req.pipe(res))
  await stage.tables.deploy('dep_a', 'rev_a', [url], { timeout_s: 1 })
  const { token } = await stage.tables.token('dep_a')
  const { send, got } = await callSlowly(t, stage, token, 20)
  const began = performance.now()
  for (const [at, letter] of [...'abcdefghijklmnopqrst'].entries()) {
    send(letter)
    await until('it comes back', 20_000, () => got().includes(`\r\n1\r\n${letter}\r\n`))
    await until(
      'a tenth of a second has passed',
      20_000,
      () => performance.now() - began > at * 100,
    )
  }
  await until('the response ends', 20_000, () => got().endsWith('0\r\n\r\n'))
  t.like(await lastRow(stage), { status: 200, aborted: false, response_bytes: 20 })
})

test('an engine that says nothing within the time limit is 504, which names it', async t => {
  t.timeout(patient(60_000))
  const stage = await openStage(t)
  const held = Promise.withResolvers<void>()
  const url = await serveEngine(t, (_, res) => void held.promise.then(() => res.end('late')))
  t.teardown(() => held.resolve())
  await stage.tables.deploy('dep_a', 'rev_a', [url], { timeout_s: 1 })
  const { token } = await stage.tables.token('dep_a')
  for (const method of ['GET', 'POST']) {
    const response = await fetch(`${stage.url}/inference/dep_a/v1/x`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(method === 'POST' && { body: '{}' }),
    })
    t.is(response.status, 504)
    const told = (await response.json()) as { code: string; detail: string }
    t.is(told.code, 'engine_timeout')
    t.regex(told.detail, /within 1 s \(limits\.timeout_s/)
  }
  t.like(await lastRow(stage), { status: 504 })
})
