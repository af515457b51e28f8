import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import type { Cluster } from '../../deploy/slurm/cluster.ts'
import { createSlurmClient } from '../../executor/slurm/client.ts'
import { createRest } from '../../executor/slurm/rest.ts'
import { createTokens } from '../../executor/slurm/token.ts'
import { addArchive, archiveOf } from '../recipes/uploading.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { slurmCluster } from '../servers/slurm-cluster.ts'
import { until } from '../servers/until.ts'

// Compares the bill of a real job with the times recorded by the job itself and by its engine.

/** The precision of Slurm's times, which are whole seconds. */
const slurmToleranceMs = 1000
const gpus = 2

/**
 * Counts steps and reports its times. Its first attempt saves its position and exits on request, the second
 * keeps running until it is killed, the third ends normally.
 */
const program = `
import json, os, signal, time
import forge

attempt = int(os.environ["FORGE_ATTEMPT"])
earlier = forge.resume_from()
step = json.load(open(earlier)) if earlier else 0
first = step

def say(what):
    print(json.dumps({"what": what, "at": int(time.time() * 1000), "step": step}), flush=True)

def save(run):
    path = os.path.abspath("step-%d.json" % step)
    with open(path, "w") as file:
        json.dump(step, file)
    run.log_artifact("checkpoint", path, "json", step)
    say("saved")

say("begins")
if attempt == 2:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with forge.init(monitor_hardware=False) as run:
    run.flush(60)
    say("runs")
    while not (attempt == 1 and run.should_stop()) and not (attempt == 3 and step == first + 10):
        time.sleep(0.1)
        step += 1
        run.log({"loss": 1 / step}, step)
        say("steps")
        if step == first + 5:
            save(run)
    if attempt == 1:
        save(run)
say("ends")
`

type Said = { what: 'begins' | 'runs' | 'steps' | 'saved' | 'ends'; at: number; step: number }
type Line = { attempt: number; starts_at: string; ends_at: string; gpu_seconds: number }
type Sums = { gpu_seconds: number; cost: string }
type Job = {
  state: string
  attempts: { attempt: number; ended_at: string | null }[]
  bill: Sums & { lines: Line[] }
}

const cluster = await slurmCluster()
const slurmDirectory = cluster && (await mkdtemp(join(cluster.folder, 'shared-')))
billedExactly('local', null, {})
if (cluster)
  billedExactly('slurm', cluster, {
    SERVICE_SLURM_URL: cluster.url,
    SERVICE_SLURM_JWT_KEY_FILE: cluster.keyFile,
    SERVICE_SLURM_DIR: String(slurmDirectory),
  })

/** Registers the test for an engine; `slurm` returns Slurm's view of a job. */
function billedExactly(engine: string, slurm: Cluster | null, env: Record<string, string>): void {
  test.serial(
    `${engine}: a paused job is billed for the time it held its GPUs, and continues`,
    async t => {
      t.timeout(patient(600_000), 'the first attempt builds the environment of the recipe')
      const forge = await startForge(t, env)
      const run_id = await submit(forge, engine)
      const scene = { t, forge, slurm, run_id }

      await untilSaid(scene, 1, 'saved')
      const first = await pausedAndFree(scene, 1, 30)
      await resumed(scene, 2)
      await untilSaid(scene, 2, 'saved')
      const second = await pausedAndFree(scene, 2, 3)
      await resumed(scene, 3)
      await until(
        'it has succeeded',
        120_000,
        async () => (await jobOf(scene)).state === 'succeeded',
      )
      await untilFree(scene)
      const third = Date.now()

      const spans = [
        await billed(scene, 1, { notBefore: 0, notAfter: first }),
        await billed(scene, 2, { notBefore: first, notAfter: second }),
        await billed(scene, 3, { notBefore: second, notAfter: third }),
      ]
      await sumsAreOf(
        scene,
        spans.reduce((sum, span) => sum + gpus * span, 0),
      )
    },
  )
}

type Scene = { t: ExecutionContext; forge: Forge; slurm: Cluster | null; run_id: string }

async function submit(forge: Forge, engine: string): Promise<string> {
  // A millionth of the currency for each GPU millisecond.
  await forge.call('PUT', '/api/admin/profiles/priced', {
    body: { series: 'X', gpus_per_node: 4, executor: engine, price_per_gpu_hour: '3.60' },
  })
  await addArchive(forge, archiveOf({}, { 'train.py': program }))
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny/1.2.0/lock')
  const resources = { profile: 'priced', gpus_per_node: gpus }
  const metadata = { name: 'of-a-test', project: 'demo' }
  const { status, body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: { api: 'forge/v2', metadata, lock, spec: { resources } },
  })
  if (status !== 200) throw new Error(JSON.stringify(body))
  return body.run_id
}

const jobOf = async ({ forge, run_id }: Scene) =>
  (await forge.call<Job>('GET', `/api/jobs/${run_id}`)).body

/** The output of an attempt's code about itself. */
async function said({ forge, run_id }: Scene, attempt: number): Promise<Said[]> {
  const path = `/api/runs/${run_id}/logs/download?attempt=${attempt}&stream=stdout`
  const { body } = await forge.call<string>('GET', path)
  return String(body)
    .split('\n')
    .filter(line => line.startsWith('{'))
    .map(line => JSON.parse(line) as Said)
}

async function untilSaid(scene: Scene, attempt: number, what: Said['what']): Promise<void> {
  await until(`attempt ${attempt} ${what}`, 120_000, async () => {
    if ((await said(scene, attempt)).some(one => one.what === what)) return true
    if ((await jobOf(scene)).state !== 'failed') return false
    const log = await scene.forge.call('GET', `/api/runs/${scene.run_id}/logs/download`)
    throw new Error(`it failed: ${log.body}`)
  })
}

/** Pauses the job, which frees its GPUs; returns when the test observed that. */
async function pausedAndFree(scene: Scene, attempt: number, grace_s: number): Promise<number> {
  const { t, forge, run_id } = scene
  const { status } = await forge.call('POST', `/api/jobs/${run_id}/pause`, { body: { grace_s } })
  const asked = Date.now()
  t.is(status, 200)
  await until('it is paused', 120_000, async () => (await jobOf(scene)).state === 'paused')
  await untilFree(scene)
  const seen = Date.now()
  t.log(`attempt ${attempt}: free ${seen - asked} ms after a pause of ${grace_s} s`)
  return seen
}

/** Neither a row of ours nor a Slurm job holds a GPU. */
async function untilFree({ forge, slurm, run_id }: Scene): Promise<void> {
  await until('its GPUs are free', 60_000, async () => {
    const { rows } = await forge.pool.query('select 1 from write.gpu_slot limit 1')
    if (rows.length > 0) return false
    const jobs = slurm && (await slurm.command('squeue', '-h', '-o', '%j %T'))
    return !jobs?.includes(run_id)
  })
}

async function resumed(scene: Scene, attempt: number): Promise<void> {
  const { t, forge, run_id } = scene
  const checkpoint = (await said(scene, attempt - 1)).findLast(({ what }) => what === 'saved')
  const { status } = await forge.call('POST', `/api/jobs/${run_id}/resume`)
  t.is(status, 200)
  await untilSaid(scene, attempt, 'begins')
  const [begins] = await said(scene, attempt)
  t.is(begins?.step, checkpoint?.step, `attempt ${attempt} continues at the last checkpoint`)
}

/** Compares the bill of an attempt with independent records of its times; returns the billed milliseconds. */
async function billed(
  scene: Scene,
  attempt: number,
  { notBefore, notAfter }: { notBefore: number; notAfter: number },
): Promise<number> {
  const { t, slurm, run_id } = scene
  const lines = await linesOf(scene, attempt)
  const from = Date.parse(lines[0]?.starts_at ?? '')
  const to = Date.parse(lines.at(-1)?.ends_at ?? '')
  const own = await said(scene, attempt)
  const [begins, runs, last] = [own[0], own.find(({ what }) => what === 'runs'), own.at(-1)]
  if (!begins || !runs || !last) throw new Error(`attempt ${attempt} said nothing`)
  t.true(from >= notBefore, 'a pause costs nothing')
  // It reports `running` between these two lines.
  t.true(begins.at <= from && from <= runs.at, `${begins.at} <= ${from} <= ${runs.at}`)
  // GPUs that were seen free are not billed.
  t.true(last.at <= to && to <= notAfter, `${last.at} <= ${to} <= ${notAfter}`)
  if (slurm) {
    const { started, ended } = await slurmTimes(slurm, run_id, attempt)
    t.true(started <= from && to <= ended + slurmToleranceMs, `${from} to ${to} in Slurm's job`)
    t.true(ended <= notAfter, `Slurm's job ends at ${ended}, seen at ${notAfter}`)
  }
  t.is(
    lines.reduce((sum, line) => sum + Math.round(line.gpu_seconds * 1000), 0),
    gpus * (to - from),
  )
  t.log(
    `attempt ${attempt}: ${to - from} ms, begun ${from - begins.at}, ended ${to - last.at} ms later`,
  )
  return to - from
}

/** The bill of an attempt. The read models may learn of the release later than this test does; until then it grows. */
async function linesOf(scene: Scene, attempt: number): Promise<Line[]> {
  await until(`attempt ${attempt} has ended`, 60_000, async () =>
    (await jobOf(scene)).attempts.some(one => one.attempt === attempt && one.ended_at !== null),
  )
  return (await jobOf(scene)).bill.lines.filter(line => line.attempt === attempt)
}

/** The bill, the sums of the person and those of the project all amount to these GPU milliseconds. */
async function sumsAreOf(scene: Scene, gpu_ms: number): Promise<void> {
  const { t, forge } = scene
  const expected = { gpu_seconds: gpu_ms / 1000, cost: gpu_ms / 1_000_000 }
  const groups = ['user', 'project']
  const sums = [
    (await jobOf(scene)).bill,
    ...(await Promise.all(
      groups.map(
        async group => (await forge.call<Sums[]>('GET', `/api/usage?group=${group}`)).body[0],
      ),
    )),
  ]
  for (const sum of sums)
    t.deepEqual(sum && { gpu_seconds: sum.gpu_seconds, cost: Number(sum.cost) }, expected)
}

async function slurmTimes(slurm: Cluster, run_id: string, attempt: number) {
  const { url, user, keyFile } = slurm
  const token = createTokens({ user, keyFile }, () => new Date())
  const client = createSlurmClient(createRest({ url, user, token }))
  const [job] = await client.jobsNamed(`forge-${run_id}-${attempt}`)
  if (!job?.started_at || !job.ended_at) throw new Error(`Slurm knows no end of ${run_id}`)
  return { started: job.started_at.getTime(), ended: job.ended_at.getTime() }
}
