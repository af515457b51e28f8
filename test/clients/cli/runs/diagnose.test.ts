import test from 'ava'
import type { Diagnosis } from '../../../../schemas/diagnoses.ts'
import { prepareDoomed, submitDoomed } from '../../../diagnoses/doomed-runs.ts'
import { traceback } from '../../../diagnoses/given.ts'
import { commandLine } from '../../../servers/command-line.ts'
import { startForge } from '../../../servers/forge.ts'
import { createRun, ingest } from '../../../servers/runs.ts'
import { until } from '../../../servers/until.ts'

test('diagnose shows title, cause, evidence and suggestions, and JSON', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'logs', {
    chunks: [traceback("ModuleNotFoundError: No module named 'x'")],
  })
  await ingest(forge, run, 'lifecycle', { event: 'failed', exit_code: 1 })
  const cli = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const shown = await cli.run(['diagnose', run.short_id])
  t.is(shown.code, 0, shown.stderr)
  for (const part of ['The module x is not installed', 'env_build', 'log line', '1. Add x'])
    t.true(shown.stdout.includes(part), shown.stdout)
  const json = await cli.run(['diagnose', run.short_id, '--json'])
  const found = JSON.parse(json.stdout) as Diagnosis
  t.like(found, { category: 'env_build', status: 'succeeded' })
  const fixed = await cli.run(['diagnose', run.short_id, '--apply-fix'])
  t.is(fixed.code, 2)
  t.regex(fixed.stderr, /No suggestion changes the JobSpec/)
  const again = await cli.run(['diagnose', run.short_id, '--json', '--again'])
  t.true((JSON.parse(again.stdout) as Diagnosis).diagnosis_id > found.diagnosis_id)
})

test('diagnose of a run without a problem claims no cause, blame or confidence', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  await ingest(forge, run, 'lifecycle', { event: 'succeeded', exit_code: 0 })
  const cli = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const { stdout, stderr } = await cli.run(['diagnose', run.short_id])
  t.regex(stdout, /^No problem was found: the run has succeeded\n {2}Neither its log/, stderr)
})

test('--apply-fix submits the job with the patch, after showing what changes', async t => {
  const forge = await startForge(t, { SERVICE_LOCAL_GPUS: '2' })
  const lock = await prepareDoomed(forge)
  const run_id = await submitDoomed(forge, { lock, kind: 'disk', seed: 1 })
  await until('the job failed', 120_000, async () => {
    const { body } = await forge.call<{ state: string }>('GET', `/api/jobs/${run_id}`)
    return body.state === 'failed'
  })
  const cli = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const fixed = await cli.run(['diagnose', run_id, '--apply-fix'])
  t.is(fixed.code, 0, fixed.stderr)
  t.regex(fixed.stderr, /spec\.checkpoints\.keep\.latest: 2 → 1/)
  const next = fixed.stdout.trimEnd().split('\n').at(-1) ?? ''
  type Job = { spec: { spec: { checkpoints: { keep: { latest: number } } } } }
  const job = await until('the new job is there', 60_000, async () => {
    const { status, body } = await forge.call<Job>('GET', `/api/jobs/${next}`)
    return status === 200 && body
  })
  t.is(job.spec.spec.checkpoints.keep.latest, 1)
})
