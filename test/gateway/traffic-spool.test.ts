import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { startShipping } from '../../gateway/traffic/ship.ts'
import { rowsIn, SpoolFull, TrafficSpool } from '../../gateway/traffic/spool.ts'
import { type EventLog, LogUnavailable } from '../../platform/log/event-log.ts'
import { openPostgresLog } from '../../platform/log/postgres.ts'
import type { TrafficRow } from '../../schemas/traffic.ts'
import { patient } from '../servers/patience.ts'
import { database } from '../servers/postgres.ts'
import { until } from '../servers/until.ts'
import { row } from './row.ts'

async function folderFor(t: ExecutionContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'forge-spool-'))
  t.teardown(() => rm(folder, { recursive: true, force: true }))
  return folder
}

const rowsOf = (spool: TrafficSpool) => spool.segments().flatMap(({ path }) => rowsIn(path).rows)
const idsOf = (rows: readonly TrafficRow[]) => rows.map(({ request_id }) => request_id)

/** The ids of the rows that the log holds. */
async function idsOn(log: EventLog, topic: string): Promise<Set<string>> {
  const ids = new Set<string>()
  for (const [partition, end] of (await log.end(topic)).entries()) {
    const abort = new AbortController()
    const batches = log.read(topic, partition, 0n, { maxBytes: 1e6, signal: abort.signal })
    for (let next = 0n; next < end; ) {
      const { records } = (await batches.next()).value
      for (const { value } of records)
        for (const id of idsOf(JSON.parse(value.toString()))) ids.add(id)
      next = records.at(-1).offset + 1n
    }
    abort.abort()
  }
  return ids
}

/** Starts the program, and returns its responses before it was killed. */
async function killedAfter(
  t: ExecutionContext,
  args: readonly string[],
  isEnough: (answered: readonly string[]) => boolean | Promise<boolean>,
): Promise<string[]> {
  const program = join(import.meta.dirname, 'record-traffic.ts')
  const child = spawn(process.execPath, [program, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  const answered = () => output.split('\n').slice(0, -1)
  await until('enough was recorded', 30_000, () => isEnough(answered()), 5)
  child.kill('SIGKILL')
  await once(child, 'close')
  return answered()
}

test('rows come back in their order, from segments of bounded size, without characters that no table takes', async t => {
  const spool = new TrafficSpool({ folder: await folderFor(t), segmentBytes: 2_000 })
  for (let n = 0; n < 20; n++) spool.record(row({ request_id: `req_${n}`, model: 'a\0b\ud800' }))
  spool.finish()
  t.true(spool.segments().length > 3)
  t.deepEqual(
    idsOf(rowsOf(spool)),
    Array.from({ length: 20 }, (_, n) => `req_${n}`),
  )
  t.is(rowsOf(spool)[0]?.model, 'ab\ufffd')
})

test('a torn end is dropped at whatever byte it is torn, and a changed row is passed over', async t => {
  const spool = new TrafficSpool({ folder: await folderFor(t) })
  for (const request_id of ['a', 'b', 'c']) spool.record(row({ request_id }))
  spool.finish()
  const [segment] = spool.segments()
  const path = String(segment?.path)
  const whole = readFileSync(path)
  const each = whole.length / 3
  for (let bytes = whole.length - 1; bytes > 2 * each; bytes--) {
    truncateSync(path, bytes)
    t.deepEqual(idsOf(rowsIn(path).rows), ['a', 'b'])
    t.is(rowsIn(path).damaged, 0)
  }
  const changed = Buffer.from(whole)
  changed[each + 40] = 1
  writeFileSync(path, changed)
  t.deepEqual({ ...rowsIn(path), rows: idsOf(rowsIn(path).rows) }, { rows: ['a', 'c'], damaged: 1 })
  const longer = Buffer.from(whole)
  // The length of the first row, now past the end of the file.
  longer[2] = 1
  writeFileSync(path, longer)
  t.deepEqual({ ...rowsIn(path), rows: idsOf(rowsIn(path).rows) }, { rows: ['b', 'c'], damaged: 1 })
  writeFileSync(path, whole)
  appendFileSync(path, Buffer.alloc(9, 255))
  t.deepEqual(
    { ...rowsIn(path), rows: idsOf(rowsIn(path).rows) },
    {
      rows: ['a', 'b', 'c'],
      damaged: 1,
    },
  )
})

test('a full spool takes no row and admits no request until the log has taken some', async t => {
  const spool = new TrafficSpool({
    folder: await folderFor(t),
    maxBytes: 10_000,
    segmentBytes: 1_000,
  })
  let kept = 0
  t.throws(
    () => {
      for (; kept < 100; kept++) spool.record(row({ request_id: `req_${kept}` }))
    },
    { instanceOf: SpoolFull },
  )
  t.false(spool.hasRoom())
  spool.finish()
  t.is(rowsOf(spool).length, kept)
  for (const segment of spool.segments()) spool.remove(segment)
  t.is(spool.bytes, 0)
  t.true(spool.hasRoom())
  t.notThrows(() => spool.record(row()))
})

test('a full disk refuses rows, retains accepted ones, and accepts more once it has room', async t => {
  t.timeout(patient(30_000))
  const folder = await folderFor(t)
  const program = join(import.meta.dirname, 'fill-disk.ts')
  const script = 'mount -t tmpfs -o size=128k none "$1" && exec "$2" "$3" "$1"'
  const child = spawn('unshare', [
    '-rm',
    'sh',
    '-c',
    script,
    'sh',
    folder,
    process.execPath,
    program,
  ])
  let output = ''
  child.stdout.on('data', chunk => {
    output += chunk
  })
  child.stderr.on('data', chunk => {
    output += chunk
  })
  await once(child, 'close')
  const said = JSON.parse(output)
  t.true(said.kept > 100)
  t.deepEqual(said, {
    ...{ kept: said.kept, refusal: 'SpoolFull', found: said.kept, damaged: 0 },
    afterwards: true,
  })
})

test('after kill -9 another process adopts the rows of answered requests, but only those of ended processes', async t => {
  t.timeout(patient(60_000))
  const folder = await folderFor(t)
  const alive = new TrafficSpool({ folder })
  alive.record(row({ request_id: 'of the living' }))
  const answered = await killedAfter(t, [folder, 'a'], ids => ids.length > 500)
  alive.adopt(Date.now())
  const adopted = idsOf(rowsOf(alive))
  t.deepEqual(
    answered.filter(id => !adopted.includes(id)),
    [],
  )
  t.is(new Set(adopted).size, adopted.length)
  t.false(adopted.includes('of the living'), 'it is in the segment that is open')
  alive.finish()
  t.true(idsOf(rowsOf(alive)).includes('of the living'))
  for (const segment of alive.segments()) alive.remove(segment)
  alive.close()
  t.deepEqual(readdirSync(folder), [])
})

test('killed at any time between write, append and delete, no answered row is lost', async t => {
  t.timeout(patient(100_000))
  const folder = await folderFor(t)
  const { url } = await database(t)
  const topic = 'test.traffic'
  const log = await openPostgresLog({
    url,
    topics: [{ name: topic, partitions: 2, retentionDays: null }],
  })
  t.teardown(() => log.close())
  const answered: string[] = []
  const reached = async () => (await log.end(topic)).reduce((sum, end) => sum + end, 0n)
  for (const name of ['a', 'b', 'c']) {
    const before = await reached()
    // In the middle of shipping: some is on the log, and more follows.
    answered.push(
      ...(await killedAfter(t, [folder, name, url, topic], async () => (await reached()) > before)),
    )
  }
  t.true(answered.length > 30)
  const spool = new TrafficSpool({ folder })
  const shipping = startShipping({
    spool,
    now: () => new Date(),
    append: (key, rows) => log.append(topic, [{ key, value: Buffer.from(JSON.stringify(rows)) }]),
    failed: error => t.log(error),
    damaged: () => t.fail('nothing is damaged'),
  })
  await until('all is shipped', 30_000, () => spool.bytes === 0)
  await shipping.stop()
  const ids = await idsOn(log, topic)
  t.deepEqual(
    answered.filter(id => !ids.has(id)),
    [],
  )
  t.deepEqual(readdirSync(folder), [])
})

test('while the log is away rows wait; a stop in between leaves them for the next process', async t => {
  t.timeout(patient(60_000))
  const folder = await folderFor(t)
  const spool = new TrafficSpool({ folder })
  spool.record(row())
  let isAway = true
  const taken: TrafficRow[] = []
  const failures: unknown[] = []
  const deps = {
    now: () => new Date(),
    async append(_: string, rows: readonly TrafficRow[]) {
      if (isAway) throw new LogUnavailable('the broker is down')
      taken.push(...rows)
    },
    failed: (error: unknown) => failures.push(error),
    damaged: () => t.fail(),
  }
  const first = startShipping({ spool, ...deps })
  await until('it was tried', 10_000, () => failures.length > 1)
  await first.stop()
  t.throws(() => spool.record(row()), { instanceOf: SpoolFull })
  t.is(taken.length, 0)
  isAway = false
  // The folder is this process's own, as if it had ended and another one had its name.
  const [name = ''] = readdirSync(folder)
  renameSync(join(folder, name), join(folder, name.replace(/~[^~]+$/, '~1')))
  const next = new TrafficSpool({ folder })
  const second = startShipping({ spool: next, ...deps })
  await until('it is shipped', 10_000, () => taken.length === 1)
  await second.stop()
  t.deepEqual(readdirSync(folder), [])
})

test('a segment that is gone or cannot be read holds up no other', async t => {
  t.timeout(patient(60_000))
  const folder = await folderFor(t)
  const spool = new TrafficSpool({ folder, segmentBytes: 1 })
  for (const request_id of ['gone', 'a folder now', 'b']) spool.record(row({ request_id }))
  const [gone, unreadable] = spool.segments().map(({ path }) => path)
  rmSync(String(gone))
  rmSync(String(unreadable))
  mkdirSync(String(unreadable))
  const taken: string[] = []
  const failures: unknown[] = []
  const shipping = startShipping({
    spool,
    now: () => new Date(),
    append: async (_, rows) => void taken.push(...idsOf([...rows])),
    failed: error => failures.push(error),
    damaged: () => t.fail(),
  })
  await until('what can be read is shipped', 10_000, () => taken.includes('b'))
  rmdirSync(String(unreadable))
  await until('nothing waits any more', 30_000, () => spool.bytes === 0)
  await shipping.stop()
  t.deepEqual(taken, ['b'])
  t.true(failures.length >= 2)
})
