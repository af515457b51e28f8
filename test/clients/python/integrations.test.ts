import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import test, { type ExecutionContext } from 'ava'
import { type Forge, sharedForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { createRun } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'
import { emptyFolder, pointsArrive, python, reportingTo, type Script } from './scripts.ts'

type Artifact = {
  artifact_id: string
  kind: string
  path: string
  format: string
  step: number
  metrics: object
}
type Reporting = { forge: Forge; runId: string; env: Record<string, string> }

const theForge = sharedForge()

async function reporting(t: ExecutionContext): Promise<Reporting> {
  t.timeout(patient(200_000))
  const forge = await theForge()
  const run = await createRun(forge)
  const env = {
    ...reportingTo(forge, run),
    FORGE_SPOOL_DIR: await emptyFolder(t),
  }
  return { forge, runId: run.run_id, env }
}

async function ended(t: ExecutionContext, script: Script): Promise<void> {
  t.is((await script.ended).code, 0, script.err())
  t.regex(script.err(), /forge: all sent/)
  t.notRegex(script.err(), /warning|error|not logged/i)
}

/** Rows such as `train/loss 4 0.25`. */
async function pointsOf({ forge, runId }: Reporting, count: number): Promise<string[]> {
  const points = await pointsArrive(forge, runId, count)
  return points.map(({ key, step, value }) => `${key} ${step} ${value}`)
}

const artifactsOf = ({ forge, runId }: Reporting, count: number): Promise<Artifact[]> =>
  until(`${count} artifacts`, 30_000, async () => {
    const { body } = await forge.call<Artifact[]>('GET', `/api/runs/${runId}/artifacts`)
    return body.length >= count && body.sort((one, other) => one.step - other.step)
  })

const paramsOf = ({ forge, runId }: Reporting, count: number): Promise<object> =>
  until(`${count} parameters`, 30_000, async () => {
    const { body } = await forge.call<{ params: object }>('GET', `/api/runs/${runId}/hparams`)
    return Object.keys(body.params).length >= count && body.params
  })

/** The files whose contents are in an uploaded folder. */
async function filesOf({ forge }: Reporting, { artifact_id }: Artifact): Promise<string> {
  const headers = { authorization: `Bearer ${forge.token}` }
  const response = await fetch(`${forge.url}/api/artifacts/${artifact_id}/content`, { headers })
  const folder = gunzipSync(Buffer.from(await response.arrayBuffer())).toString('latin1')
  return ['a.pt', 'b.pt', 'note.txt'].filter(name => folder.includes(`in ${name}`)).join(' ')
}

const endsAs = (state: string, { forge, runId }: Reporting): Promise<unknown> =>
  until(`a run that ${state}`, 30_000, async () => {
    const { body } = await forge.call<{ state: string }>('GET', `/api/runs/${runId}`)
    return body.state === state
  })

test.serial('a Hugging Face Trainer reports its progress and its checkpoints', async t => {
  const run = await reporting(t)
  const folder = await emptyFolder(t)
  const script = python(t, [join(import.meta.dirname, 'trainer_events.py'), folder], run.env)
  await ended(t, script)
  t.is(script.out(), 'ended False False\n')
  const points = await pointsOf(run, 23)
  for (const point of [
    'train/loss 2 0.5',
    'train/loss 8 0.125',
    'train/learning_rate 6 0.001',
    'train/epoch 8 1',
    'train/train_loss 8 0.49',
    'eval/loss 4 0.5',
    'eval/samples_per_second 8 60.5',
  ])
    t.true(points.includes(point), point)
  t.deepEqual(await paramsOf(run, 5), {
    learning_rate: 0.001,
    output_dir: folder,
    hub_token: '<HUB_TOKEN>',
    report_to: '[]',
    'model.hidden_size': 3,
  })
  const artifacts = await artifactsOf(run, 2)
  t.like(artifacts, {
    0: { path: join(folder, 'checkpoint-4'), step: 4, format: 'transformers', kind: 'checkpoint' },
    1: { path: join(folder, 'checkpoint-8'), step: 8 },
    length: 2,
  })
})

test.serial('a Hugging Face Trainer ends when its run is stopped', async t => {
  const run = await reporting(t)
  const events = join(import.meta.dirname, 'trainer_events.py')
  const script = python(t, [events, await emptyFolder(t), 'wait'], run.env)
  await until('it trains', 60_000, () => script.out().includes('training'))
  const { status } = await run.forge.call('POST', `/api/runs/${run.runId}/stop`, { body: {} })
  t.true(status < 300)
  await ended(t, script)
  t.regex(script.out(), /ended True/)
})

test.serial('a Lightning Trainer reports its logged values, and each checkpoint once', async t => {
  const run = await reporting(t)
  const folder = await emptyFolder(t)
  await ended(t, python(t, [join(import.meta.dirname, 'logger_events.py'), folder], run.env))
  t.deepEqual((await pointsOf(run, 12)).sort(), [
    'epoch 1 0',
    'epoch 3 0',
    'epoch 5 1',
    'epoch 7 1',
    'epoch 8 2',
    'test/loss 8 0.25',
    'train/loss 1 0.5',
    'train/loss 3 0.25',
    'train/loss 5 0.5',
    'train/loss 7 0.25',
    'val/loss 3 0.5',
    'val/loss 7 0.25',
  ])
  t.deepEqual(await paramsOf(run, 2), { lr: 0.1, width: 3 })
  const checkpoints = join(folder, 'forge', run.runId, 'checkpoints')
  t.like(await artifactsOf(run, 2), {
    0: { path: join(checkpoints, 'epoch=0-step=4.ckpt'), step: 4, metrics: { 'val/loss': 0.5 } },
    1: { path: join(checkpoints, 'epoch=1-step=8.ckpt'), step: 8, metrics: { 'val/loss': 0.25 } },
    length: 2,
  })
})

const wandbCode = `
import argparse
import forge.wandb as wandb

wandb.init(project="demo", config={"lr": 0.1, "model": {"depth": 2}})
wandb.config.batch = 8
wandb.config.update(argparse.Namespace(seed=1), allow_val_change=True)
wandb.define_metric("loss")
for step in range(3):
    wandb.log({"loss": 1.0 / (1 + step)}, commit=False)
    wandb.log({"val": {"acc": 0.5}, "better": True})
wandb.log({"late": 1.0}, step=10)
wandb.log({"same": 2.0})
wandb.log({"next": 3.0})
wandb.summary["best"] = 0.25
wandb.run.summary["note"] = "fine"
print(wandb.config.lr, wandb.config["model"], wandb.summary["loss"], wandb.run.id)
wandb.finish()
`

test.serial('code written for W&B reports after a change of its import', async t => {
  const run = await reporting(t)
  const script = python(t, wandbCode, run.env)
  await ended(t, script)
  t.is(script.out(), `0.1 {'depth': 2} ${1 / 3} ${run.runId}\n`)
  t.deepEqual((await pointsOf(run, 13)).sort(), [
    'better 0 1',
    'better 1 1',
    'better 2 1',
    'late 10 1',
    'loss 0 1',
    'loss 1 0.5',
    `loss 2 ${1 / 3}`,
    'next 11 3',
    'same 10 2',
    'summary/best 11 0.25',
    'val.acc 0 0.5',
    'val.acc 1 0.5',
    'val.acc 2 0.5',
  ])
  t.deepEqual(await paramsOf(run, 5), {
    lr: 0.1,
    'model.depth': 2,
    batch: 8,
    seed: 1,
    'summary/note': 'fine',
  })
  await endsAs('succeeded', run)
})

const describingCode = `
import os, tempfile
import forge.wandb as wandb

run = wandb.init(project="demo", name="first", notes="see **wiki**", tags=["from-code"])
run.name = "lr-0.1"
run.tags += ("late",)
run.notes = "better" + 20_000 * "!"
here = tempfile.mkdtemp()
for name in ("a.pt", "b.pt"):
    with open(os.path.join(here, name), "w") as file: file.write("in " + name)
wandb.log({"loss": 1.0})
weights = wandb.Artifact("weights", type="model")
weights.add_dir(here)
run.log_artifact(weights).wait()
with weights.new_file("note.txt") as file: file.write("in note.txt")
before = os.listdir(tempfile.gettempdir())
run.log_artifact(weights)
print(os.listdir(tempfile.gettempdir()) == before)
wandb.log_artifact(os.path.join(here, "a.pt"), name="report", type="evaluation")
wandb.finish()
`

test.serial('name, notes, tags and artifacts of code written for W&B reach the server', async t => {
  const run = await reporting(t)
  await run.forge.call('PATCH', `/api/runs/${run.runId}`, { body: { tags: ['of-the-job'] } })
  const TMPDIR = await emptyFolder(t)
  const script = python(t, describingCode, { ...run.env, TMPDIR })
  await ended(t, script)
  t.is(script.out(), 'True\n')
  await endsAs('succeeded', run)
  const { body } = await run.forge.call<{ notes: string }>('GET', `/api/runs/${run.runId}`)
  t.like(body, { name: 'lr-0.1', tags: ['of-the-job', 'from-code', 'late'] })
  t.regex(body.notes.slice(0, 10), /^better!+$/)
  t.is(body.notes.length, 16_384)
  const artifacts = await artifactsOf(run, 3)
  t.deepEqual(artifacts.map(({ kind, format }) => `${kind} ${format}`).sort(), [
    'checkpoint folder',
    'checkpoint folder',
    'eval_report pt',
  ])
  const folders = artifacts.filter(({ format }) => format === 'folder')
  const packed = await Promise.all(folders.map(artifact => filesOf(run, artifact)))
  t.deepEqual(packed.sort(), ['a.pt b.pt', 'a.pt b.pt note.txt'])
  const left = await readdir(TMPDIR)
  t.deepEqual(
    left.filter(name => name.startsWith('forge')),
    [],
  )
})

test.serial('an exit code given to the `finish` of W&B ends the run as failed', async t => {
  const run = await reporting(t)
  const code = 'import forge.wandb as wandb\nwandb.init()\nwandb.finish(exit_code=3)'
  await ended(t, python(t, code, run.env))
  await endsAs('failed', run)
})
