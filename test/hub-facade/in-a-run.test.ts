import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { push, textRows, untilValidated } from '../datasets/pushing.ts'
import { addArchive, archiveOf } from '../recipes/uploading.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

const theForge = sharedForge()

/** Downloads one dataset and uploads another, with nothing but the variables of the run. */
const program = `
import json
from pathlib import Path
from huggingface_hub import HfApi, snapshot_download
folder = Path(snapshot_download("admin/rows", repo_type="dataset"))
rows = (folder / "train.jsonl").read_text()
made = {"repo_id": "admin/made", "repo_type": "dataset"}
api = HfApi()
api.create_repo(**made)
commit = api.upload_file(path_or_fileobj=rows.encode() * 2, path_in_repo="train.jsonl", **made)
print("found " + json.dumps({"rows": rows, "commit": commit.oid}), flush=True)
`

type Job = { state: string }

test('the program of a job takes a snapshot and uploads, with the client of the Hub', async t => {
  t.timeout(patient(400_000), 'the environment of the run is built first')
  const forge = await theForge()
  const requirements = await readFile(join(import.meta.dirname, 'requirements.txt'), 'utf8')
  const files = { 'train.py': program, 'requirements.txt': requirements }
  await addArchive(forge, archiveOf({}, files))
  await push(forge, 'admin/rows', { 'train.jsonl': textRows('a', 'b') })
  await untilValidated(forge, 'admin/rows')
  const { body: lock } = await forge.call('GET', '/api/recipes/tiny/1.2.0/lock')
  const metadata = { name: 'of-a-test', project: 'demo' }
  const { body: job } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: { api: 'forge/v2', metadata, lock, spec: {} },
  })
  const { run_id } = job
  const log = async () => {
    const path = `/api/runs/${run_id}/logs?limit=500`
    const { body } = await forge.call<{ text: string }[]>('GET', path)
    return body.map(({ text }) => text).join('\n')
  }
  const ended = await until('the run has ended', 300_000, async () => {
    const { body } = await forge.call<Job>('GET', `/api/jobs/${run_id}`)
    return ['succeeded', 'failed', 'stopped'].includes(body.state) && body
  })
  t.is(ended.state, 'succeeded', await log())
  const said = await until('it reports its findings', 30_000, async () =>
    /^found (.*)$/m.exec(await log()),
  )
  const { rows, commit } = JSON.parse(said[1] ?? '')
  t.is(rows, textRows('a', 'b'))
  t.regex(commit, /^[0-9a-f]{32}00000001$/)
  await untilValidated(forge, 'admin/made')
  const { body } = await forge.call('GET', '/api/datasets/admin/made/versions/1')
  t.like(body, { rows: 4, state: 'ready', source: { kind: 'run' }, created_by: run_id })
})
