import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { addArchive, archiveOf } from '../recipes/uploading.ts'
import { type Forge, sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

/** Reads and writes its volume, reports the results, and ends when the test creates a file for it. */
const program = `
import json, os, time, forge
run = forge.init(monitor_hardware=False)
path = list(json.loads(os.environ["FORGE_VOLUMES"]).values())[0]
if os.environ["TEXT"] == "fill":
    with open(os.path.join(path, "large"), "wb") as file:
        os.posix_fallocate(file.fileno(), 0, 1_050_000_000)
    time.sleep(600)
def attempt(act):
    try:
        return act()
    except OSError as error:
        return type(error).__name__
def write(at):
    with open(os.path.join(at, "rows.jsonl"), "a") as file:
        file.write(json.dumps({"text": os.environ["TEXT"]}) + "\\n")
    os.makedirs(os.path.join(at, "kept"), exist_ok=True)
    os.chmod(os.path.join(at, "rows.jsonl"), 0o600)
    return "written"
def read(at):
    with open(os.path.join(at, "rows.jsonl")) as file:
        return file.read()
mounted = "/cache" if os.path.isdir("/cache") else path
found = {"write": attempt(lambda: write(mounted)), "read": attempt(lambda: read(path)), "is_mounted": mounted == "/cache"}
print("found " + json.dumps(found), flush=True)
while not os.path.exists(os.path.join(path, "go-" + os.environ["TEXT"])):
    time.sleep(0.05)
forge.finish()
`

type Job = { run_id: string; state: string; state_reason: string | null; detail: string }
type Found = { write: string; read: string; is_mounted: boolean }
const shared = sharedForge({ SERVICE_LOCAL_GPUS: '4' })

async function scene(forge: Forge, name = 'shared') {
  await addArchive(forge, archiveOf({}, { 'train.py': program }))
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny/1.2.0/lock')
  const made = await forge.call<{ volume_id: string }>('POST', '/api/volumes', {
    body: { name, size_gb: 1 },
  })
  const { volume_id } = made.body
  const { rows } = await forge.pool.query<{ directory: string }>(
    'select directory from write.volume where volume_id = $1',
    [volume_id],
  )
  const folder = join(forge.dataDir, 'volumes', rows[0]?.directory ?? '')
  const bodyOf = (volume: object, text: string) => ({
    ...{ api: 'forge/v2', metadata: { name: text, project: 'volumes' }, lock },
    spec: { volumes: [{ name, mount_path: '/cache', ...volume }], env: { TEXT: text } },
  })
  const job = async (run_id: string) => (await forge.call<Job>('GET', `/api/jobs/${run_id}`)).body
  return {
    ...{ volume_id, folder, bodyOf, job, path: `/api/volumes/${volume_id}` },
    async submit(text: string, read_only: boolean) {
      const { status, body } = await forge.call<Job>('POST', '/api/jobs', {
        body: bodyOf({ read_only }, text),
      })
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body.run_id
    },
    untilState: (run_id: string, ...states: string[]) =>
      until(`${run_id} is ${states}`, 120_000, async () => {
        const one = await job(run_id)
        return states.includes(one.state) && one
      }),
    end: (text: string) => writeFile(join(folder, `go-${text}`), ''),
    async found(run_id: string): Promise<Found> {
      const line = await until(`${run_id} reports its findings`, 120_000, async () => {
        const { body } = await forge.call<{ text: string }[]>('GET', `/api/runs/${run_id}/logs`)
        return /^found (.*)$/m.exec(body.map(({ text }) => text).join('\n'))
      })
      return JSON.parse(line[1] ?? '')
    },
  }
}

type Refused = { status: number; body: { code: string; detail: string; data: { runs: string[] } } }

test('one run writes a volume at a time, others wait for it, and then many read its files', async t => {
  t.timeout(patient(400_000), 'the first run builds an environment')
  const forge = await shared()
  const { submit, found, untilState, end, job, path, folder, bodyOf } = await scene(forge)
  const writer = await submit('first', false)
  const first = await found(writer)
  t.like(first, { write: 'written', read: '{"text": "first"}\n' })

  const [second, reader, other] = [
    await submit('second', false),
    await submit('reader', true),
    await submit('other', true),
  ]
  await until('they wait for the volume', 30_000, async () => {
    const waiting = await Promise.all([second, reader, other].map(job))
    return waiting.every(one => one.state_reason === 'volume_in_use')
  })
  const shown = await forge.call<{ state: string; attached_to: { run_id: string }[] }>('GET', path)
  t.is(shown.body.state, 'attached')
  t.deepEqual(
    shown.body.attached_to.map(({ run_id }) => run_id),
    [writer, second, reader, other],
  )
  const refused: Refused = await forge.call('DELETE', path)
  t.like(refused, { status: 409, body: { code: 'volume.in_use' } })
  t.deepEqual(refused.body.data.runs.sort(), [writer, second, reader, other].sort())
  const dataset = { dataset: 'admin/of-a-volume', path: 'rows.jsonl' }
  const tooEarly: Refused = await forge.call('POST', `${path}/snapshots`, { body: dataset })
  t.like(tooEarly, { status: 409, body: { code: 'volume.in_use' } })

  await end('first')
  await untilState(writer, 'succeeded')
  t.like(await found(second), { write: 'written', read: '{"text": "first"}\n{"text": "second"}\n' })
  t.like(await job(reader), { state: 'queued' }, 'it was submitted later')
  await end('second')
  for (const one of [reader, other]) {
    const seen = await found(one)
    t.is(seen.read, '{"text": "first"}\n{"text": "second"}\n')
    if (first.is_mounted) t.not(seen.write, 'written', 'a read-only mount')
  }
  t.like(await job(other), { state: 'running' }, 'both at once')
  await mkdir(join(folder, 'kept'), { recursive: true })
  for (const one of ['reader', 'other']) await end(one)
  for (const one of [second, reader, other]) await untilState(one, 'succeeded')
  await until('it is free', 30_000, async () => {
    const { body } = await forge.call<{ state: string }>('GET', path)
    return body.state === 'active'
  })

  type Snapshots = { snapshots: { state: string; ref: string | null; error: string | null }[] }
  const ended = () =>
    until('the snapshot has ended', 60_000, async () => {
      const [newest] = (await forge.call<Snapshots>('GET', path)).body.snapshots
      return newest !== undefined && newest.state !== 'running' && newest
    })
  await until('its attempts have ended', 30_000, async () => {
    const { status } = await forge.call('POST', `${path}/snapshots`, { body: dataset })
    return status === 200
  })
  t.like(await ended(), { state: 'ready', ref: 'admin/of-a-volume@1' })
  const version = await until('it is validated', 60_000, async () => {
    const at = '/api/datasets/admin/of-a-volume/versions/1'
    const { body } = await forge.call<{ state: string; rows: number }>('GET', at)
    return body.state !== 'validating' && body
  })
  t.like(version, { state: 'ready', rows: 2, source: { kind: 'volume' }, created_by: 'admin' })
  const origin = { name: 'shared', path: 'rows.jsonl' }
  t.like(version, { volume: origin })
  await forge.call('POST', `${path}/snapshots`, { body: { ...dataset, path: 'kept' } })
  t.like(await ended(), { state: 'failed', error: 'There are no files' })

  const readOnly = { read_only: true }
  t.is((await forge.call('PATCH', path, { body: readOnly })).status, 200)
  const gate = async (volume: object) => {
    const { status, body } = await forge.call<Job>('POST', '/api/jobs', {
      body: bodyOf(volume, 'x'),
    })
    return [status, body.detail]
  }
  t.deepEqual(await gate({}), [
    400,
    'The volume shared is read-only; mount it with read_only: true',
  ])
  t.deepEqual(await gate({ name: 'none' }), [400, 'No such volume: none'])
  const twice = bodyOf(readOnly, 'x')
  twice.spec.volumes.push({ name: 'shared', mount_path: '/cache', ...readOnly })
  t.like((await forge.call('POST', '/api/jobs', { body: twice })).body, {
    gate: 'references',
    detail:
      'The volume shared is named twice; mount it once; Several volumes are mounted at /cache; give each its own path',
  })
  for (const mount_path of ['cache', '/', '/a/../b', '/etc/x', '/tmp', '/a//b'])
    t.is((await gate({ mount_path }))[0], 422, mount_path)
  t.is((await forge.call('DELETE', path)).status, 200)
})

test('a run that writes more than the size of its volume is ended', async t => {
  t.timeout(patient(400_000), 'the first run builds an environment')
  const forge = await shared()
  const { submit, untilState, folder } = await scene(forge, 'small')
  const run = await submit('fill', false)
  await untilState(run, 'failed')
  const { body } = await forge.call<{ end_reason: string; message: string }>(
    'GET',
    `/api/runs/${run}`,
  )
  t.is(body.end_reason, 'disk_limit')
  t.is(body.message, 'The volume small has 1.05 GB; its size is 1 GB')
  await rm(join(folder, 'large'))
})
