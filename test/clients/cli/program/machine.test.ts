import test from 'ava'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { createRun, ingest } from '../../../servers/runs.ts'
import { until } from '../../../servers/until.ts'

const ts = '2026-11-20T12:00:00Z'

test('hardware, environment and benchmarks of a run are shown in the terminal', async t => {
  const forge = await startForge(t)
  const [one, other] = [await createRun(forge), await createRun(forge)]
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const shown = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(args)
    t.is(code, 0, stderr)
    return stdout
  }
  t.regex((await run(['hardware', one.short_id])).stderr, /Nothing was measured/)
  t.regex((await run(['env', one.short_id])).stderr, /no environment/)
  t.regex((await run(['benchmarks', one.short_id])).stderr, /No benchmark/)
  await ingest(forge, one, 'hardware', {
    points: [0, 1, 2].map(index => ({
      ts,
      node: 'n1',
      scope: 'gpu',
      index,
      util_pct: index === 2 ? 1 : 90,
    })),
  })
  for (const [to, torch] of [
    [one, '2.9.1'],
    [other, '2.8.0'],
  ] as const)
    await ingest(forge, to, 'environment', { python: '3.11', packages: { torch } })
  for (const value of [0.6, 0.7])
    await ingest(forge, one, 'benchmark', {
      benchmark: 'gsm8k',
      step: 5,
      scores: [{ metric: 'exact_match', value, stderr: 0.01 }],
    })
  await until('everything can be read', 30_000, async () => {
    const { stdout } = await run(['benchmarks', one.short_id])
    const { stdout: hardware } = await run(['hardware', one.short_id])
    const { stdout: env } = await run(['env', other.short_id])
    return stdout.includes('0.6') && hardware !== '' && env !== ''
  })
  const hardware = await shown('hardware', one.short_id)
  t.regex(hardware, /^n1 GPU 0 +90 +0 % /m)
  t.regex(hardware, /^n1 GPU 2 is behind the others: its use is 1, the median 90$/m)
  t.regex(hardware, /^GPUs were used less than 5 % for 33.3 % of the time$/m)
  t.regex(await shown('env', one.short_id), /^python +3.11$/m)
  t.regex(await shown('env', one.short_id, '--packages'), /^packages.torch +2.9.1$/m)
  const differing = await shown('env', one.short_id, '--against', other.short_id)
  t.regex(differing, /^packages.torch +2.9.1 +2.8.0$/m)
  t.notRegex(differing, /python/)
  t.regex(
    await shown('benchmarks', one.short_id),
    /^gsm8k .* step 5 +exact_match +0.7 ± 0.01 +0.6 /m,
  )
  for (const command of ['hardware', 'env', 'benchmarks'])
    t.is(typeof JSON.parse(await shown(command, one.short_id, '--json')), 'object')
  t.is((await run(['hardware', one.short_id, '--from', 'soon'])).code, 2)
  t.is((await run(['hardware', 'demo-99'])).code, 3)
})
