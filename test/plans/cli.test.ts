import test from 'ava'
import { commandLine } from '../servers/command-line.ts'
import { sharedForge } from '../servers/forge.ts'
import { withoutExecutor } from '../usage/jobs-at-times.ts'
import { prepared, specFor, untilLive } from './steps.ts'

const forgeOf = sharedForge(withoutExecutor)

test.serial(
  'plans and sweeps are made, shown, submitted and cancelled from the command line',
  async t => {
    const forge = await forgeOf()
    await prepared(forge)
    const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
    t.regex((await run(['plan', 'ls'])).stderr, /No plans yet/)
    const spec = await specFor(forge, 'cli')
    const staged = JSON.stringify({
      name: 'from a file',
      stages: [
        { name: 'first', spec },
        { name: 'second', spec, init_from_stage: 'first' },
      ],
    })
    const made = await run(['plan', '-f', '-', '--save'], { stdin: staged })
    t.is(made.code, 0, made.stderr)
    const id = made.stdout.trim()
    t.regex(made.stderr, /estimate: 2\.00 GPU hours/)
    t.is((await run(['plan', '-f', '-'], { stdin: staged })).code, 2)
    t.regex((await run(['plan', 'ls'])).stdout, /from a file +cli +ready +0\/2/)
    const submitted = await run(['plan', 'submit', id])
    t.is(submitted.code, 0, submitted.stderr)
    t.is(submitted.stdout.trim().split('\n').length, 2)
    await untilLive(forge, id, 1)
    t.regex((await run(['plan', 'show', id])).stdout, /first +job +running +1/)
    t.is((await run(['plan', 'cancel', id])).code, 0)
    const swept = await run(
      ['sweep', '-f', '-', '--grid', 'lr=0.1,0.2', '--grid', 'seed=1,2,3', '-m', 'loss:min'],
      { stdin: JSON.stringify(spec) },
    )
    t.is(swept.code, 0, swept.stderr)
    t.regex(swept.stderr, /6 runs will start/)
    const drawn = await run(
      ['sweep', '-f', '-', '--random', 'lr=1e-4..1e-1:log', '--count', '5', '--save', '--json'],
      { stdin: JSON.stringify(spec) },
    )
    t.like(JSON.parse(drawn.stdout), { state: 'ready', estimate: { gpu_hours: '5.00' } })
    t.is((await run(['sweep', '-f', '-'], { stdin: JSON.stringify(spec) })).code, 2)
    t.is((await run(['plan', 'show', 'pln_none'])).code, 3)
  },
)
