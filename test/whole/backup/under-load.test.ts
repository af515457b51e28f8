import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { addArchive, archiveOf } from '../../recipes/uploading.ts'
import { patient } from '../../servers/patience.ts'
import { addressOf } from '../../servers/rendezvous.ts'
import { createRun, type ExternalRun, ingest } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'
import { adminOf, type Embedded, emptyFolder, startEmbedded } from './embedded.ts'

type Verified = { tables: number; rows: number; series: number; points: number; events: number }
type Job = { state: string }
type Key = { key: string; count: number; first_step: number; last_step: number }

/** Ends at once, or with 1000 steps stays until it is killed. */
const program = `import json, os, sys, time
stays = json.loads(os.environ["FORGE_PARAMS"])["steps"] == 1000
open("pid", "w").write(str(os.getpid()))
print("ran", flush=True)
time.sleep(600 if stays else 0)
`

async function submit({ call }: Embedded, steps: number): Promise<string> {
  const { body: lock } = await call('GET', '/api/recipes/tiny/1.2.0/lock')
  const spec = { params: { lr: 0.1, steps }, resources: { gpus_per_node: 1 } }
  const metadata = { name: 'tiny', project: 'demo' }
  const { status, body } = await call<{ run_id: string }>('POST', '/api/jobs', {
    body: { api: 'forge/v2', metadata, lock, spec },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.run_id
}

const jobOf = async ({ call }: Embedded, run: string) =>
  (await call<Job>('GET', `/api/jobs/${run}`)).body

const ended = ['succeeded', 'failed', 'stopped']

const untilEnded = async (forge: Embedded, run: string) => {
  let last: Job | null = null
  const look = async () => {
    last = await jobOf(forge, run)
    return ended.includes(last.state) && last.state
  }
  return until(`${run} has ended`, 90_000, look).catch(error => {
    throw new Error(`${error.message}: ${JSON.stringify(last)}`)
  })
}

/** Reports points of one run, a thousand a second, until it is stopped; `acknowledged` counts those. */
async function startLoad(forge: Embedded) {
  const run = await createRun(forge)
  const load = { run, acknowledged: 0, failed: null as unknown }
  let isStopped = false
  const sending = (async () => {
    for (let batch = 0; !isStopped; batch++) {
      const began = performance.now()
      const points = Array.from({ length: 100 }, (_, nth) => {
        const step = batch * 100 + nth
        return { key: 'loss', step, value: step }
      })
      await ingest(forge, run, 'metrics', { points })
      load.acknowledged += points.length
      await new Promise(done => setTimeout(done, Math.max(0, began + 100 - performance.now())))
    }
  })().catch(error => {
    load.failed = error
  })
  return {
    load,
    async stop() {
      isStopped = true
      await sending
      if (load.failed) throw load.failed
    },
  }
}

const keyOf = async ({ call }: Embedded, run_id: string) =>
  (await call<Key[]>('GET', `/api/runs/${run_id}/metrics/keys`)).body[0]

const profiles: [title: string, settings: () => Promise<Record<string, string>>][] = [
  ['in PostgreSQL', async () => ({})],
  [
    'in Kafka',
    async () => ({
      SERVICE_KAFKA_BROKERS: await addressOf('kafka'),
      SERVICE_TOPIC_PREFIX: `t${randomBytes(6).toString('hex')}`,
    }),
  ],
]

for (const [where, settings] of profiles)
  test(`with the log ${where}, a backup under load has every acknowledged point, and runs jobs elsewhere on the same host`, async t => {
    await backUpUnderLoad(t, settings)
  })

async function backUpUnderLoad(
  t: ExecutionContext,
  settings: () => Promise<Record<string, string>>,
): Promise<void> {
  t.timeout(patient(500_000))
  const folder = await emptyFolder(t)
  const original = await startEmbedded(t, folder, await settings())
  const { status, body } = await addArchive(original, archiveOf({}, { 'train.py': program }))
  t.is(status, 200, JSON.stringify(body))
  const running = await submit(original, 1000)
  const pidFile = join(original.server.dataDir, 'runs', running, '1/work/pid')
  const pid = await until('it has started', 60_000, () =>
    readFile(pidFile, 'utf8').catch(() => null),
  )
  const { load, stop } = await startLoad(original)
  t.teardown(stop)
  await until('there is load', 60_000, () => {
    if (load.failed) throw load.failed
    return load.acknowledged >= 1000
  })

  await answer(original, load.run, 'in the original')
  const backups = join(folder, 'backups')
  const before = load.acknowledged
  const first = await original.admin('backup', backups, '--json')
  t.is(first.code, 0, first.stderr)
  const between = load.acknowledged
  t.true(between > before, 'reports were accepted meanwhile')
  const second = await original.admin('backup', backups, '--json', '--verify')
  t.is(second.code, 0, second.stderr)
  const { verified } = JSON.parse(second.stdout) as { verified: Verified }
  t.true(verified.tables > 100, 'rows were compared, table by table')
  t.true(verified.rows > 0 && verified.series >= 1 && verified.events > 0)
  t.true(verified.points > 0)
  await stop()

  const elsewhere = await emptyFolder(t)
  const others = await settings()
  const admin = await adminOf(t, join(elsewhere, 'data'), others)
  const restored = await admin('restore', backups)
  t.is(restored.code, 0, restored.stderr)
  const isKafka = 'SERVICE_KAFKA_BROKERS' in others
  const anew = await admin('republish', '--new-log')
  t.is(anew.code, isKafka ? 0 : 1, anew.stderr)
  const copy = await startEmbedded(t, elsewhere, others)
  const key = await keyOf(copy, load.run.run_id)
  t.true((key?.count ?? 0) >= between, `${key?.count} of ${between} points are there`)
  t.like(key, { key: 'loss', first_step: 0, last_step: (key?.count ?? 0) - 1 })
  t.like(await copy.call('GET', '/api/audit/verify'), { body: { ok: true, first_bad: null } })
  const after = await submit(copy, 1)
  t.is(await untilEnded(copy, after), 'succeeded')
  t.is(await untilEnded(copy, running), 'failed', 'its attempt is lost in the copy')
  t.false(ended.includes((await jobOf(original, running)).state))
  t.notThrows(() => process.kill(Number(pid), 0), 'the copy has not killed its process')

  const reported = key?.count ?? 0
  const points = [{ key: 'loss', step: reported, value: 1 }]
  await ingest(copy, load.run, 'metrics', { points })
  await until('a report to the copy can be read', 30_000, async () => {
    const now = await keyOf(copy, load.run.run_id)
    return now?.count === reported + 1
  })
  t.is(await answerOf(copy.call, load.run.run_id), 'in the original')
  await answer(copy, load.run, 'in the copy')
  await until('the other answer can be read', 30_000, async () => {
    return (await answerOf(copy.call, load.run.run_id)) === 'in the copy'
  })
  if (isKafka) await stays(t, copy, load.run.run_id, reported + 1)
}

/** The new log holds only later reports, so a rebuild has to carry over the others. */
async function stays(t: ExecutionContext, { call }: Embedded, run: string, count: number) {
  const begun = await call('POST', '/api/admin/projections/all/rebuild')
  t.true(begun.status < 300, JSON.stringify(begun.body))
  await until('all projections are rebuilt', 90_000, async () => {
    const { body } = await call<{ rebuild: { state: string } }>('GET', '/api/admin/projections')
    if (body.rebuild.state === 'failed') throw new Error(JSON.stringify(body.rebuild))
    return body.rebuild.state === 'succeeded'
  })
  const { body } = await call<Key[]>('GET', `/api/runs/${run}/metrics/keys`)
  t.like(body[0], { count, first_step: 0 })
  t.is(await answerOf(call, run), 'in the copy')
}

/** Reports the only sample of a round; a second report replaces the first. */
const answer = (forge: Embedded, run: ExternalRun, assistant: string) =>
  ingest(forge, run, 'validation', { step: 1, samples: [{ user: 'Why?', assistant, reward: 1 }] })

async function answerOf(call: Embedded['call'], run: string) {
  const { body } = await call<{ assistant: string }[]>('GET', `/api/runs/${run}/validation/1`)
  return body[0]?.assistant
}
