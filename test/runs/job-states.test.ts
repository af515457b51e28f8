import test from 'ava'
import { jobStates } from '../../schemas/jobs/states.ts'
import { commandLine } from '../servers/command-line.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'
import { forgeWithSpare } from '../servers/spare.ts'
import { until } from '../servers/until.ts'

type Row = { run_id: string; state: string; job_state: string | null }

/** The run of a job in this state, as the projection maps it. */
const runStateOf: Record<(typeof jobStates)[number], string> = {
  ...{ admitted: 'pending', held: 'pending', queued: 'pending', scheduled: 'pending' },
  ...{ starting: 'pending', running: 'running', pausing: 'running', paused: 'pending' },
  ...{ stopping: 'running', succeeded: 'succeeded', failed: 'failed', stopped: 'stopped' },
}

test('a job has the same state in every list, and is found by it', async t => {
  const forge = await forgeWithSpare(t)
  const ada = await signedIn(forge, 'ada')
  const line = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const profile = ['--set', 'spec.resources.profile=spare']
  const submitted = await line.run([
    ...['submit', '--recipe', 'digits', '--project', 'demo', '--json'],
    ...profile,
  ])
  t.is(submitted.code, 0, submitted.stderr)
  const { run_id } = JSON.parse(submitted.stdout) as { run_id: string }
  const external = await createRun(forge)
  const list = async (path: string, token = forge.token) => {
    const { status, body } = await forge.call<Row[]>('GET', path, { token })
    t.is(status, 200, path)
    return body
  }
  await until('both are projected', 20_000, async () => (await list('/api/runs')).length === 2)
  const [other] = await list(`/api/runs?q=${external.run_id}`)
  t.like(other, { state: 'pending', job_state: null })
  for (const state of jobStates) {
    await forge.pool.query('update read.jobs set state = $1', [state])
    await forge.pool.query('update read.runs set state = $1 where run_id = $2', [
      runStateOf[state],
      run_id,
    ])
    for (const path of [`/api/runs?q=state:${state}`, `/api/runs?state=${state}`]) {
      const [found, ...others] = await list(path)
      t.like(found, { run_id, state: runStateOf[state], job_state: state }, path)
      t.deepEqual(others, [], path)
      t.deepEqual(await list(path, ada), [], `${path} of somebody else`)
    }
    t.is((await list(`/api/jobs?state=${state}`))[0]?.state, state)
    const shown = async (...args: string[]) => {
      const { stdout } = await line.run(['ps', '--all', '--json', ...args])
      return (JSON.parse(stdout) as Row[]).find(row => row.run_id === run_id)?.state
    }
    t.is(await shown(), state)
    t.is(await shown('project:demo'), state, 'of a search')
    t.is(await shown('project:demo', '--state', state), state)
  }
})
