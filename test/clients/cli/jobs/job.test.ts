import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { type Forge, startForge } from '../../../servers/forge.ts'
import { patient } from '../../../servers/patience.ts'

const signedIn = (forge: Forge) => ({ FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
/** Short, because these tests are about the output, not the training. */
const short = ['--param', 'epochs=60', '--param', 'hidden=64', '--param', 'lr=0.02']

function linesOf(text: string): Record<string, unknown>[] {
  return text
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
}

async function begin(t: ExecutionContext) {
  const forge = await startForge(t)
  return { forge, ...(await commandLine(t, signedIn(forge))) }
}

test('a recipe is submitted and followed to its end, then listed, read and charted', async t => {
  t.timeout(patient(240_000), 'the first run builds the environment of the recipe')
  const { run } = await begin(t)
  const submit = ['submit', '--recipe', 'digits', '--project', 'demo', ...short]
  const followed = await run([...submit, '--follow', '--json'])
  t.is(followed.code, 0, followed.stderr)
  const events = linesOf(followed.stdout)
  t.is(events[0]?.type, 'admitted')
  const states = events.filter(event => event.type === 'state').map(event => event.state)
  t.is(states.at(-1), 'succeeded')
  t.true(states.includes('running'))
  t.true(events.some(event => event.type === 'points'))
  const lines = events.filter(event => event.type === 'log')
  t.deepEqual(
    lines.map(line => line.seq),
    lines.map((_, at) => at + 1),
  )
  const end = events.at(-1) as {
    type: string
    run_id: string
    results: Record<string, number>
    artifacts: unknown[]
  }
  t.is(end.type, 'end')
  t.true((end.results['test/accuracy'] ?? 0) > 0.5, JSON.stringify(end.results))
  t.is(end.artifacts.length, 1)

  const listed = await run(['ps', '--json'])
  const [row] = JSON.parse(listed.stdout)
  t.is(row.run_id, end.run_id)
  t.is(row.state, 'succeeded')
  t.truthy(row.metric)
  const ids = await run(['ps', '-q'])
  t.is(ids.stdout, `${end.run_id}\n`)

  const log = await run(['logs', 'demo-1'])
  t.is(log.stdout.trimEnd().split('\n').length, lines.length)
  const chart = await run(['metrics', 'demo-1', '-k', 'train/loss', '--plot'])
  t.regex(chart.stdout, /^train\/loss .*\n.*┤[⠀-⣿]/)
  const slip = await run(['metrics', 'demo-1', '-k', 'train/los'])
  t.is(slip.code, 3)
  t.regex(slip.stderr, /did you mean train\/loss/)
  t.is((await run(['watch', 'demo-1'])).code, 0)
  t.is((await run(['stop', 'demo-1'])).code, 5, 'it has ended')
})

test('a job is stopped, and the command waits for its end', async t => {
  t.timeout(patient(240_000))
  const { run } = await begin(t)
  const submit = ['submit', '--recipe', 'digits', '--project', 'demo', '--param', 'epochs=10000']
  const { stdout } = await run(submit)
  t.regex(stdout, /^run_\w+\n$/)
  const followed = run(['logs', '-f', stdout.trim()])
  const stopped = await run(['stop', stdout.trim(), '--json', '--reason', 'enough', '--grace', '5'])
  t.is(stopped.code, 0, stopped.stderr)
  t.is(JSON.parse(stopped.stdout).state, 'stopped')
  t.is((await followed).code, 1)
})

test('an interrupt while following leaves the job running and says how to resume', async t => {
  t.timeout(patient(240_000))
  const { run, forge } = await begin(t)
  const submit = ['submit', '--recipe', 'digits', '--project', 'demo', '--param', 'epochs=10000']
  let isInterrupted = false
  const left = await run([...submit, '--follow'], {
    inItsOwnProcess: true,
    onStdout(_text, kill) {
      if (!isInterrupted) kill('SIGINT')
      isInterrupted = true
    },
  })
  t.is(left.code, 130)
  t.regex(left.stderr, /forge watch demo-1, or forge logs -f demo-1/)
  const { body } = await forge.call<{ state: string }>('GET', '/api/jobs/demo-1')
  t.notRegex(body.state, /stop|failed/)
  const stopped = await run(['stop', 'demo-1', '--force'])
  t.is(stopped.code, 0)
  t.regex(stopped.stderr, /^demo-1 is stopping; killed at once$/m)
})

test('a refused job exits with the code of its kind and names the gate', async t => {
  const { run, home } = await begin(t)
  const recipe = ['submit', '--recipe', 'digits', '--project', 'demo']
  const gpus = await run([...recipe, '--gpus', '64', '--json'])
  t.is(gpus.code, 3)
  const { error } = JSON.parse(gpus.stderr)
  t.is(error.gate, 'quota')
  t.truthy(error.request_id)

  const field = await run([...recipe, '--set', 'metadata.tags=3', '--set', 'spec.nonsense=1'])
  t.is(field.code, 2)
  t.regex(field.stderr, /--set: metadata\.tags: Input should be a valid list/)
  t.regex(field.stderr, /--set: spec\.nonsense: Extra inputs are not permitted/)

  const unknown = await run(['submit', '--recipe', 'digts', '--project', 'demo'])
  t.is(unknown.code, 3)
  t.regex(unknown.stderr, /did you mean digits/)

  const file = join(home, 'job.yaml')
  await writeFile(file, 'api: forge/v1\nkind: train\nmetadata: {name: x, project: demo}\n')
  const dialect = await run(['submit', '-f', file, '--recipe', 'digits', '--set', 'spec={}'])
  t.is(dialect.code, 3)
  t.regex(dialect.stderr, /gate: dialect/)
  t.is((await run(['submit'])).code, 2)
  t.is((await run(['logs', 'demo-99'])).code, 3)
})
