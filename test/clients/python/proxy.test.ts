import { readdir } from 'node:fs/promises'
import test, { type ExecutionContext } from 'ava'
import { startForge } from '../../servers/forge.ts'
import { patient } from '../../servers/patience.ts'
import { type Interjection, proxyBefore, type ReverseProxy } from '../../servers/proxy.ts'
import { until } from '../../servers/until.ts'
import { emptyFolder, pointsArrive, python } from './scripts.ts'

type Run = { run_id: string; env: Record<string, string> }

const steps = 1500
const begin = 'import forge; forge.init(monitor_hardware=False)\n'

/** Logs a number of steps for each line on standard input, and prints whether they arrived. */
const onDemand = `
import sys, forge
forge.init(monitor_hardware=False)
step = 0
for line in sys.stdin:
    if line.strip() == "":
        print("logged", step, flush=True)
        for step in range(step, step + ${steps}): forge.log({"loss": step * 0.5}, step)
        step += 1
    else:
        print("arrived" if forge.flush(60) else "missing", step, flush=True)
    if step == int(sys.argv[1]) and line.strip(): break
forge.finish()
`

/** Temporary responses of a proxy, none of them about the request. */
const moments: Interjection[] = [
  { status: 404 },
  { status: 405 },
  { status: 501 },
  { status: 302, headers: { location: 'https://login.example/' } },
  { status: 401 },
  { status: 403 },
  { status: 400 },
  { status: 422, headers: { 'x-request-id': 'of-the-proxy' }, body: '{"message":"no"}' },
  { status: 200, body: '<html>Please sign in to the network</html>' },
]

test.serial('no point is lost to temporary responses of a proxy', async t => {
  const { forge, proxy, run, spool } = await arrange(t)
  const last = steps * moments.length
  const script = python(t, ['-c', onDemand, String(last)], reporting(run, proxy, spool))
  for (const [index, moment] of moments.entries()) {
    const before = proxy.interjected()
    proxy.interject(moment)
    script.say('')
    await until(`the proxy has said ${moment.status}`, 30_000, () => proxy.interjected() > before)
    await until('the points wait on disk', 30_000, async () => (await readdir(spool)).length > 0)
    proxy.interject(null)
    script.say('flush')
    const arrived = `arrived ${steps * (index + 1)}\n`
    await until(`${moment.status} is over`, 70_000, () => {
      if (script.out().includes('missing')) throw new Error(script.err())
      return script.out().includes(arrived)
    })
  }
  t.is((await script.ended).code, 0, script.err())
  t.regex(script.err(), /^forge: all sent {2}http/m)
  const points = await pointsArrive(forge, run.run_id, last)
  t.deepEqual(
    points.map(point => point.value),
    Array.from({ length: last }, (_, step) => step * 0.5),
  )
  t.deepEqual(await readdir(spool), [])
})

test.serial('the last line of a process is true', async t => {
  const { forge, proxy, run, spool } = await arrange(t)
  const env = reporting(run, proxy, spool)

  const refused = python(
    t,
    `${begin}forge.log_hparams({str(n): n for n in range(3000)}); forge.log({"loss": 1.0}, 0)`,
    env,
  )
  t.is((await refused.ended).code, 0, refused.err())
  t.regex(
    refused.err(),
    /^forge: 1,000 values not logged: '2000': more than 2,000 hyperparameters.*; all sent {2}http/m,
  )
  await pointsArrive(forge, run.run_id, 1)
  t.deepEqual(await readdir(spool), [])

  proxy.interject({ status: 404 })
  const kept = python(t, `${begin}for step in range(700): forge.log({"loss": 1.0}, step)`, env)
  const { code, tookMs } = await kept.ended
  t.is(code, 0)
  // Ten seconds are the limit of the client, after which it says where the points are.
  t.true(tookMs > 8_000, `it tried until the end, which took ${tookMs} ms`)
  const words =
    /^forge: 700 points and 1 other report kept in .*; send with .*forge sync.*404, not from Forge/m
  t.regex(kept.err(), words)
  proxy.interject(null)
  const sync = python(t, ['-m', 'forge', 'sync'], { FORGE_SPOOL_DIR: spool })
  t.is((await sync.ended).code, 0, sync.out())
  t.regex(sync.out(), /^forge: all sent/m)
  await pointsArrive(forge, run.run_id, 700)
  t.deepEqual(await readdir(spool), [])
})

test.serial('strict raises where reports are not accepted', async t => {
  const { proxy, run, spool } = await arrange(t)
  const env = reporting(run, proxy, spool)
  for (const status of [404, 403]) {
    proxy.interject({ status })
    const script = python(t, 'import forge; forge.init(strict=True, monitor_hardware=False)', env)
    t.is((await script.ended).code, 1)
    const words = `ForgeError: the service at .* does not accept reports of .*: ${status}, not from Forge`
    t.regex(script.err(), new RegExp(words))
  }
  proxy.interject(null)
  const code =
    'import forge; forge.init({str(n): n for n in range(3000)}, strict=True, monitor_hardware=False)'
  const script = python(t, code, env)
  t.is((await script.ended).code, 1)
  t.regex(script.err(), /ForgeError: hparams not logged: '2000': more than 2,000 hyperparameters/)
})

test.serial('with a revoked token everything is kept, and the process ends at once', async t => {
  const { forge, proxy, run, spool } = await arrange(t)
  const { body: fresh } = await forge.call<Run>('POST', `/api/runs/${run.run_id}/token`)
  const code = `${begin}forge.log({"loss": 1.0}, 0); print("over", flush=True)`
  const script = python(t, code, reporting(run, proxy, spool))
  await until('the script is over', 30_000, () => script.out().includes('over'))
  t.is((await script.ended).code, 0, script.err())
  // The start and the end of the run; a process that hopes for a response keeps retrying for nine seconds.
  t.true(proxy.passed() <= 4, `${proxy.passed()} requests`)
  t.regex(script.err(), /^forge: 1 point and 1 other report kept in .*\(401 The ingest token/m)
  const sync = python(t, ['-m', 'forge', 'sync'], { ...fresh.env, FORGE_SPOOL_DIR: spool })
  t.is((await sync.ended).code, 0, sync.out())
  await pointsArrive(forge, run.run_id, 1)
})

// Each test starts a server; running one at a time leaves capacity for the other files.
async function arrange(t: ExecutionContext) {
  t.timeout(patient(400_000))
  const forge = await startForge(t)
  const proxy = await proxyBefore(t, forge.url)
  const { body: run } = await forge.call<Run>('POST', '/api/runs', { body: { project: 'demo' } })
  return { forge, proxy, run, spool: await emptyFolder(t) }
}

const reporting = (run: Run, proxy: ReverseProxy, spool: string) => ({
  ...run.env,
  SERVICE_ENDPOINT: `${proxy.url}/api/ingest`,
  FORGE_SPOOL_DIR: spool,
})
