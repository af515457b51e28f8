import test from 'ava'
import { slurmFaults, slurmSettings } from '../../../server/settings/slurm.ts'

const url = { SERVICE_SLURM_URL: 'http://head:6820' }

const faults: [what: string, env: Record<string, string>, expected: RegExp[]][] = [
  ['no Slurm', {}, []],
  [
    'settings without an address',
    { SERVICE_SLURM_USER: 'forge' },
    [/^SERVICE_SLURM_USER: without effect/],
  ],
  [
    'an address alone',
    url,
    [/JWT_KEY_FILE or SERVICE_SLURM_TOKEN_FILE/, /needs SERVICE_SLURM_DIR/],
  ],
  [
    'two ways to sign in',
    {
      ...url,
      SERVICE_SLURM_DIR: '/shared',
      SERVICE_SLURM_JWT_KEY_FILE: '/a',
      SERVICE_SLURM_TOKEN_FILE: '/b',
    },
    [/needs either/],
  ],
]
for (const [what, env, expected] of faults)
  test(`${what}: the fault is named`, t => {
    const found = slurmFaults(env)
    t.is(found.length, expected.length, found.join('\n'))
    for (const [index, pattern] of expected.entries()) t.regex(found[index] ?? '', pattern)
  })

test('the address of slurmrestd is one of HTTP, with or without a slash at its end', t => {
  const [name, read] = slurmSettings.slurmUrl
  t.is(read('http://head:6820/', name), 'http://head:6820')
  t.is(read('', name), null)
  t.throws(() => read('head:6820', name), { message: /such as http:\/\/head:6820, is expected/ })
})
