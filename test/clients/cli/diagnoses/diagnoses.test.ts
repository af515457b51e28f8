import test from 'ava'
import type { FingerprintRow } from '../../../../schemas/diagnoses.ts'
import { failRuns } from '../../../diagnoses/failed-runs.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'

const oom = 'torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB'
const missing = "ModuleNotFoundError: No module named 'x'"

test('diagnoses lists failures by fingerprint with their trend, and as JSON', async t => {
  const forge = await startForge(t)
  const [newest] = await failRuns(forge, [
    { raised: oom },
    { raised: oom, daysAgo: 1 },
    { raised: oom, daysAgo: 40 },
    { raised: missing, daysAgo: 3, project: 'other' },
  ])
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const shown = await run(['diagnoses'])
  t.is(shown.code, 0, shown.stderr)
  const [titles = '', first = '', second = ''] = shown.stdout.split('\n')
  t.regex(titles, /^COUNT +TREND +CATEGORY +FAILURE +LAST +NEWEST +BLAME +PROJECTS +OWNERS +FINGER/)
  t.regex(first, /^ +2 +up \+1 +gpu_oom +CUDA out of memory/)
  t.true(first.includes(` ${newest?.short_id} `), first)
  t.regex(second, /^ +1 +new +env_build +The module x is not installed/)
  const json = await run(['diagnoses', '--json'])
  const rows = JSON.parse(json.stdout) as FingerprintRow[]
  t.deepEqual(
    rows.map(row => [row.category, row.count, row.previous_count, row.trend]),
    [
      ['gpu_oom', 2, 1, 'up'],
      ['env_build', 1, 0, 'new'],
    ],
  )
  const categories = async (...options: string[]) => {
    const { stdout } = await run(['diagnoses', '--json', ...options])
    return (JSON.parse(stdout) as FingerprintRow[]).map(({ category }) => category)
  }
  t.deepEqual(await categories('--since', '2d'), ['gpu_oom'])
  t.deepEqual(await categories('-p', 'other'), ['env_build'])
  t.deepEqual(await categories('-c', 'env_build', '-o', 'admin'), ['env_build'])
  const cut = await run(['diagnoses', '-l', '1'])
  t.regex(cut.stderr, /The first 1 of more; --limit N shows more/)
})

test('diagnoses without a failure says so, and refuses wrong options', async t => {
  const forge = await startForge(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const none = await run(['diagnoses'])
  t.deepEqual([none.code, none.stdout], [0, ''])
  t.regex(none.stderr, /No failure matches/)
  for (const wrong of [
    ['-c', 'bad_luck'],
    ['--since', 'May'],
    ['--since', '200d'],
  ])
    t.is((await run(['diagnoses', ...wrong])).code, 2, wrong.join(' '))
})
