import test from 'ava'
import { type Forge, startForgeProcess } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { until } from '../../servers/until.ts'

type Job = {
  state: string
  exit_code: number | null
  transitions: { to: string }[]
  attempt: number
}
type Line = { seq: number; text: string }
type Artifact = { kind: string; format: string; step: number }

/** The recipe's environment is built first, and the training itself takes time. */
const trainedMs = 240_000

const job = async (forge: Forge, run: string) =>
  (await forge.call<Job>('GET', `/api/jobs/${run}`)).body

const lines = async (forge: Forge, run: string) =>
  (await forge.call<Line[]>('GET', `/api/runs/${run}/logs?limit=500`)).body

async function submitDigits(forge: Forge): Promise<string> {
  const { body: lock } = await forge.call('GET', '/api/recipes/digits/1.0.0/lock')
  const { status, body } = await forge.call<{ run_id: string }>('POST', '/api/jobs', {
    body: {
      api: 'forge/v2',
      metadata: { name: 'digits', project: 'demo' },
      lock,
      spec: { params: { epochs: 150 }, resources: { gpus_per_node: 1 } },
    },
  })
  if (status !== 200) throw new Error(`the job was refused: ${JSON.stringify(body)}`)
  return body.run_id
}

test('a run continues while its server is dead, with a complete log and its real end', async t => {
  t.timeout(patient(3 * trainedMs))
  const forge = await startForgeProcess(t)
  const run = await submitDigits(forge)
  await until('it trains', trainedMs, async () => (await job(forge, run)).state === 'running')
  await until('it prints', 30_000, async () =>
    (await lines(forge, run)).some(line => line.text.includes('epoch')),
  )
  await forge.kill()
  await forge.start()
  t.regex((await job(forge, run)).state, /^(running|succeeded)$/)
  const ended = await until('it has ended', trainedMs, async () => {
    const now = await job(forge, run)
    // The report of the end comes before the process has ended.
    return ['succeeded', 'failed', 'stopped'].includes(now.state) && now.exit_code !== null && now
  })
  const printed = (await lines(forge, run)).map(line => line.text)
  t.is(ended.state, 'succeeded', `${JSON.stringify(ended)} after ${printed.slice(-20).join('\n')}`)
  t.is(ended.exit_code, 0)
  t.is(ended.attempt, 1)
  t.deepEqual(
    // The phases of the start are transitions within it.
    [...new Set(ended.transitions.map(({ to }) => to))],
    ['admitted', 'queued', 'scheduled', 'starting', 'running', 'succeeded'],
  )
  // The projections of logs and metrics are independent of each other, and of the end.
  const all = await until('the last line can be read', 30_000, async () => {
    const found = await lines(forge, run)
    return found.some(({ text }) => text.includes('test accuracy')) && found
  })
  t.deepEqual(
    all.map(line => line.seq),
    all.map((_, index) => index + 1),
  )
  const epochs = all.map(line => line.text).filter(text => /^epoch/.test(text))
  t.is(new Set(epochs).size, epochs.length, 'no line was shipped twice')
  const accuracy = await until('the accuracy can be read', 30_000, async () => {
    const { body } = await forge.call<{ points: number[][] }[]>(
      'GET',
      `/api/runs/${run}/metrics?keys=test%2Faccuracy`,
    )
    return body[0]?.points[0]
  })
  t.true(Number(accuracy[4]) >= 0.95)
  const { body: artifacts } = await forge.call<Artifact[]>('GET', `/api/runs/${run}/artifacts`)
  t.is(artifacts.length, 1)
})
