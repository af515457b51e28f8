import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { patient } from '../../../servers/patience.ts'
import { forgeWithSpare } from '../../../servers/spare.ts'
import { until } from '../../../servers/until.ts'

type Scene = Awaited<ReturnType<typeof begin>>

async function begin(t: ExecutionContext) {
  const forge = await forgeWithSpare(t, 8)
  const line = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const spare = ['--recipe', 'digits', '--project', 'demo', '--set', 'spec.resources.profile=spare']
  return { forge, ...line, spare }
}

/** Plan shows every gate, with a remedy for each refusal, and submits nothing. */
async function showsGates(t: ExecutionContext, { run, spare, forge }: Scene) {
  const good = await run(['plan', ...spare, '--set', 'spec.limits.max_duration_s=3600'])
  t.is(good.code, 0, good.stderr)
  t.regex(good.stdout, /✓ recipe_handshake +digits 1\.0\.0 matches catalog\n/)
  t.regex(good.stdout, /estimate {2}1\.00 GPU hours/)
  t.regex(good.stdout, /queue +place 1(, starts (at once|within|in) .*)?\n/)
  t.regex(good.stdout, /It would be admitted\.\n$/)

  const bad = await run(['plan', ...spare, '--gpus', '64', '--set', 'spec.env.LD_PRELOAD=x'])
  t.is(bad.code, 3)
  t.regex(
    bad.stdout,
    /✗ quota +Insufficient quota: requested 64 GPUs, available 8\n +at --gpus\n +→ Ask for/,
  )
  t.regex(bad.stdout, /✗ env +Environment variables refused: LD_PRELOAD/)
  t.regex(bad.stdout, /It would be refused by .*quota.*env\.\n$/)
  const json = await run(['plan', ...spare, '--gpus', '64', '--json'])
  t.is(json.code, 3)
  t.like(JSON.parse(json.stdout), { ok: false, compared_with: null })
  const { body } = await forge.call<unknown[]>('GET', '/api/jobs')
  t.deepEqual(body, [])
}

/** Plan lists the changes since the last job of that name. */
async function tellsChanges(t: ExecutionContext, { run, spare }: Scene) {
  const submitted = await run(['submit', ...spare, '--name', 'base', '--param', 'lr=0.01'])
  t.is(submitted.code, 0, submitted.stderr)
  const same = await run(['plan', ...spare, '--name', 'base', '--param', 'lr=0.01'])
  t.regex(same.stdout, /the same as demo-1\n/)
  const other = await run(['plan', ...spare, '--name', 'base', '--param', 'lr=0.02', '--json'])
  t.like(JSON.parse(other.stdout).compared_with, {
    short_id: 'demo-1',
    changes: [{ path: 'spec.params.lr', from: 0.01, to: 0.02 }],
  })
}

/** An estimated start does not estimate the duration. */
async function foretellsNoEnd(t: ExecutionContext, { run }: Scene) {
  await until('the start is foreseen', 60_000, async () => {
    const [job] = JSON.parse((await run(['ps', '--json'])).stdout)
    return job?.state === 'queued' && job.eta_s !== null
  })
  t.notRegex((await run(['ps'])).stdout, /LEFT/)
}

/** Errors of a JobSpec are shown with their place in the file. */
async function tellsPlaces(t: ExecutionContext, { run, home }: Scene) {
  const file = join(home, 'job.yaml')
  const written = (...lines: string[]) => writeFile(file, `${lines.join('\n')}\n`)
  const head = ['api: forge/v2', 'metadata:', '  name: first', '  project: demo']
  await written(...head, 'spec:', '  resources:', '    gpus_per_nod: 8')
  const slip = await run(['submit', '-f', file, '--recipe', 'digits'])
  t.is(slip.code, 2)
  t.true(
    slip.stderr.includes(`${file}:7:5: spec.resources.gpus_per_nod: Extra inputs`),
    slip.stderr,
  )
  t.regex(slip.stderr, /did you mean spec\.resources\.gpus_per_node\?/)

  await written(...head, 'spec:', '  params: {lr: -1}')
  const gate = await run(['submit', '-f', file, '--recipe', 'digits'])
  t.is(gate.code, 3)
  t.true(gate.stderr.includes(`at ${file}:6:12`), gate.stderr)

  await written(...head, 'spec: [1')
  const broken = await run(['plan', '-f', file])
  t.is(broken.code, 2)
  t.regex(broken.stderr, /job\.yaml:\d+:\d+: neither YAML nor JSON/)
}

/** In the folder of a job.yaml, neither -f nor --recipe is needed. */
async function readsTheFileHere(t: ExecutionContext, { run, home, spare }: Scene) {
  const written = await run(['init', 'digits', '-f', join(home, 'job.yaml'), '-p', 'demo'])
  t.is(written.code, 5, 'the file of before is there')
  await rm(join(home, 'job.yaml'))
  const none = await run(['submit'], { cwd: home })
  t.is(none.code, 2)
  t.regex(none.stderr, /with -f \(there is no job\.yaml here\), or --recipe and --project/)
  t.is((await run(['init', 'digits', '-p', 'demo'], { cwd: home })).code, 0)
  const set = ['--set', 'spec.resources.profile=spare', '--param', 'lr=7']
  const here = await run(['submit', ...set], { cwd: home })
  t.is(here.code, 3, 'the parameters of the file, but for one')
  t.regex(here.stderr, /lr/)
  const other = await run(['plan', ...spare], { cwd: home })
  t.regex(other.stdout, /It would be admitted/, 'a named recipe does not need the file')
}

test('plan checks a job without submitting it, and errors are shown with their place', async t => {
  t.timeout(patient(300_000))
  const scene = await begin(t)
  for (const step of [showsGates, tellsChanges, foretellsNoEnd, tellsPlaces, readsTheFileHere])
    await step(t, scene)
})
