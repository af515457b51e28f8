import test from 'ava'
import { emptyFolder, python } from '../clients/python/scripts.ts'
import { commandLine } from '../servers/command-line.ts'
import { startForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

type Created = { run_id: string; short_id: string; env: Record<string, string> }
type Round = { step: number; samples: number; complete: boolean }

const script = `
import forge
run = forge.init(monitor_hardware=False)
for step in (10, 20):
    run.log_samples(step, [
        {"user": "prompt %d" % n, "assistant": "answer %d at %d" % (n, step), "env": {"n": n}, "reward": n / 599, "extra": {"ok": True}}
        for n in range(600)
    ], avg_reward=0.5, accuracy=step / 40)
run.log_samples(30, [{"user": "x", "assistant": "\\x1b[31mred", "reward": float("nan")}, {"assistant": "no prompt"}])
run.log_samples(40, [])
run.finish()
`

test('forge samples shows the Python client’s samples: rounds, a round, and a prompt through them', async t => {
  t.timeout(patient(240_000))
  const forge = await startForge(t)
  const { body: created } = await forge.call<Created>('POST', '/api/runs', {
    body: { project: 'demo' },
  })
  const run = python(t, script, { ...created.env, FORGE_SPOOL_DIR: await emptyFolder(t) })
  t.is((await run.ended).code, 0, run.err())
  await until('all rounds are read', 60_000, async () => {
    const { body } = await forge.call<Round[]>('GET', `/api/runs/${created.run_id}/validation`)
    return body.length === 4 && body.every(round => round.complete)
  })
  const record = await forge.call<{ counts: { samples: number } }>(
    'GET',
    `/api/runs/${created.run_id}`,
  )
  t.is(record.body.counts.samples, 1202)

  const line = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const samples = async (...more: string[]) => {
    const { code, stdout, stderr } = await line.run(['samples', created.short_id, ...more])
    t.is(code, 0, stderr)
    return stdout
  }
  t.regex(
    await samples(),
    /^ *STEP +SAMPLES +AVG REWARD +MIN +MAX +ACCURACY +CHUNKS\n +10 +600 +0\.5 +0 +1 +0\.25 +complete\n/,
  )
  const rounds = JSON.parse(await samples('--json'))
  t.deepEqual(
    rounds.map((round: Round) => [round.step, round.samples]),
    [
      [10, 600],
      [20, 600],
      [30, 2],
      [40, 0],
    ],
  )
  const best = await samples('--step', '20', '--sort', '-reward', '-l', '2')
  t.regex(best, /^REWARD\n *0 … 0\.08333 +50 +█+\n/)
  t.regex(best, /\n20-1-99 +1 +p_[0-9a-f]{16} +prompt 599 +answer 599 at 20\n/)
  const [sample] = JSON.parse(await samples('--step', '20', '--json', '-l', '550'))
  t.like(sample, { user: 'prompt 0', env: { n: 0 }, extra: { ok: true }, reward: 0 })
  const prompt = await samples('--prompt', sample.sample_key)
  t.regex(prompt, /^PROMPT +prompt 0\nSTEP +REWARD +ANSWER\n +10 +0 +answer 0 at 10\n +20 +0 /)
  const odd = await samples('--step', '30', '--full')
  t.regex(odd, /^REWARD\nnot finite +1 +█+\n no reward +1 +█+\n\n30-0-0 {2}reward NaN/)
  t.false(odd.includes('\u001b[31m'))
  t.is(await samples('--step', '40'), '')

  const fails = async (...more: string[]) =>
    (await line.run(['samples', created.short_id, ...more])).code
  t.is(await fails('--step', '99'), 3)
  t.is(await fails('--prompt', 'unknown'), 3)
  t.is(await fails('--step', 'x'), 2)
  t.is(await fails('--step', '10', '--prompt', 'x'), 2)
  t.is(await fails('--step', '10', '--sort', 'length'), 2)
})
