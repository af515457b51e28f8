import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { environmentOf, publish, untilBuilt } from './publishing.ts'

const shared = sharedForge()

/** Leaves a file where only the server's own user may write. */
const leavesIn = (folder: string, name: string) => `
try:
    open(${JSON.stringify(join(folder, `left-by-${name}`))}, "w").close()
except OSError:
    pass
`

test('packages are installed without running code of the environment, and its rollouts can import them', async t => {
  t.timeout(patient(300_000), 'a package is downloaded')
  const forge = await shared()
  const leaves = (name: string) => leavesIn(forge.dataDir, name)
  const { body } = await publish(
    forge,
    environmentOf(
      { name: 'packed' },
      {
        'requirements.txt': 'six==1.17.0\n',
        'sums.py': `import six\n${leaves('entry')}\ndef rollout(client, args):\n    return 1\n`,
        // Python finds these if it is started in their folder.
        ...Object.fromEntries(
          ['pip', 'venv', 'sitecustomize'].map(name => [`${name}.py`, leaves(name)]),
        ),
        'setup.py': leaves('setup'),
        'pyproject.toml':
          '[build-system]\nrequires = []\nbuild-backend = "setup"\nbackend-path = ["."]\n',
      },
    ),
  )
  const built = await untilBuilt(forge, body.ref)
  t.is(built.state, 'ready', built.log)
  t.regex(built.log, /installing six==1\.17\.0/)
  t.deepEqual(
    readdirSync(forge.dataDir).filter(name => name.startsWith('left-by-')),
    [],
  )
})

test('an environment that floods its output, lies or ends early fails, and leaves nothing behind', async t => {
  t.timeout(patient(240_000))
  const forge = await shared()
  const programs: [name: string, program: string, says: RegExp][] = [
    ['flood', 'while True: print("x" * 1_000_000)\n', /more than 8 MiB of output/],
    ['exit', 'import os\nos._exit(3)\n', /ended with exit code 3/],
    ['quiet', 'import os\nos._exit(0)\n', /did not load/],
    ['none', 'rollout = 5\n', /is not a function/],
    ['lies', 'import os\nos.write(3, b"{\\"event\\": 1}\\n")\nos._exit(0)\n', /did not load/],
  ]
  const refs = []
  for (const [name, program] of programs) {
    const { body } = await publish(forge, environmentOf({ name }, { 'sums.py': program }))
    refs.push(body.ref)
  }
  for (const [index, [name, , says]] of programs.entries()) {
    const built = await untilBuilt(forge, refs[index] ?? '')
    t.is(built.state, 'failed', name)
    t.regex(String(built.error), says)
    t.true(built.log.length <= 50_000, `${name}: ${built.log.length}`)
  }
  const runs = join(forge.dataDir, 'runs')
  t.true(existsSync(runs))
  t.deepEqual(
    readdirSync(runs).filter(name => name.startsWith('.build-')),
    [],
  )
})
