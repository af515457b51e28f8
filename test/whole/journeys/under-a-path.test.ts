import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { emptyFolder, python } from '../../clients/python/scripts.ts'
import { openPage, signIn } from '../../console/browse.ts'
import { deployed } from '../../gateway/deployed.ts'
import { callApi } from '../../servers/api.ts'
import { commandLine } from '../../servers/command-line.ts'
import { startEngine } from '../../servers/engine.ts'
import { startForge } from '../../servers/forge.ts'
import { proxyUnder } from '../../servers/path-proxy.ts'
import { patient } from '../../servers/patience.ts'
import { type ExternalRun, ingest } from '../../servers/runs.ts'
import { until } from '../../servers/until.ts'

/** A server behind a proxy that serves other applications as well. */
async function startUnder(t: ExecutionContext) {
  const proxy = await proxyUnder(t, '/ml/forge')
  const forge = await startForge(t, { SERVICE_BASE_URL: proxy.url })
  proxy.passTo(forge.url)
  const call = <T = Record<string, unknown>>(method: string, path: string, body?: object) =>
    callApi<T>(proxy.url, method, path, { token: forge.token, ...(body && { body }) })
  return { proxy, forge, call }
}

test('people sign in to the console under a path, and follow a run there', async t => {
  t.timeout(patient(120_000))
  const { proxy, forge } = await startUnder(t)
  const { body: run } = await forge.call<ExternalRun>('POST', '/api/runs', {
    body: { project: 'demo', name: 'under a path' },
  })
  t.true(String((run as { url?: string }).url).startsWith(`${proxy.url}/runs/`))
  const report = (route: string, body: object) => ingest(forge, run, route, body)
  await report('lifecycle', { event: 'running' })
  await report('metrics', { points: [{ key: 'loss', step: 1, value: 2 }] })
  const { page, faults } = await openPage(t)
  await page.goto(`${proxy.url}/runs/${run.run_id}/metrics`)
  await signIn(page)
  const chart = page.getByRole('figure', { name: 'loss', exact: true })
  await chart.getByText('at step 1').waitFor()
  const cookies = await page.context().cookies()
  t.deepEqual(
    cookies.map(({ path }) => path),
    ['/ml/forge/api/auth'],
  )
  await report('metrics', { points: [{ key: 'loss', step: 2, value: 1 }] })
  await chart.getByText('at step 2').waitFor()

  await page.reload()
  await chart.getByText('at step 2').waitFor()
  await page.getByRole('link', { name: 'Forge', exact: true }).click()
  await page.waitForURL(`${proxy.url}/`)
  await page.goto(`${proxy.url}/runs`)
  await page.getByRole('link', { name: 'under a path' }).click()
  await page.waitForURL(`${proxy.url}/runs/${run.short_id}**`)
  await page.goto(proxy.url)
  await page.getByRole('link', { name: 'Forge', exact: true }).waitFor()
  const alive = await page.waitForResponse(response => response.url().endsWith('/healthz'))
  t.is(alive.url(), `${proxy.url}/healthz`, 'a quiet page asks whether the server is alive')
  t.deepEqual(faults, [])
  t.deepEqual(proxy.strayed, [])
})

test('addresses in responses are below the path; probes reach the server without it', async t => {
  t.timeout(patient(60_000))
  const { forge, call } = await startUnder(t)
  for (const name of ['a', 'b']) await call('POST', '/api/runs', { project: 'demo', name })
  const list = await call('GET', '/api/runs?limit=1')
  t.is(list.headers.get('link'), '</ml/forge/api/runs?limit=1&offset=1>; rel="next"')
  const document = await call<{ servers: unknown }>('GET', '/api/openapi.json')
  t.deepEqual(document.body.servers, [{ url: '/ml/forge' }])
  const probe = await fetch(`${forge.url}/healthz`)
  t.is(probe.status, 200)
  const strange = await fetch(`${forge.url}/ml/forgery/healthz`)
  t.is(strange.status, 404)
})

test('the command line works with an address that has a path', async t => {
  t.timeout(patient(120_000))
  const { proxy, forge } = await startUnder(t)
  const { run } = await commandLine(t, {})
  const line = async (args: string[], stdin?: string) => {
    const { code, stdout, stderr } = await run(args, stdin === undefined ? {} : { stdin })
    t.is(code, 0, `${args.join(' ')}: ${stderr}`)
    return stdout
  }
  const login = ['login', '--host', proxy.url, '--username', 'admin', '--password-stdin']
  await line(login, 'correct horse battery\n')
  t.regex(await line(['context', 'list']), /\/ml\/forge/)
  await forge.call('POST', '/api/runs', { body: { project: 'demo' } })
  t.regex(await line(['ps', '-a']), /demo-1/)

  const engine = await startEngine(t)
  const { inference, token } = await deployed(forge, 'tutor', [engine.url])
  t.true(inference.startsWith('/ml/forge/inference/'))
  const asked = await fetch(`${new URL(proxy.url).origin}${inference}/models`, {
    headers: { authorization: `Bearer ${token}` },
  })
  t.is(asked.status, 200)
  t.is(engine.asked.at(-1)?.path, '/v1/models')
  t.deepEqual(proxy.strayed, [])
})

test('the Python client reports and uploads below the path, and the command line fetches it', async t => {
  t.timeout(patient(120_000))
  const { proxy, forge } = await startUnder(t)
  const folder = await emptyFolder(t)
  const code = `
import forge
run = forge.init(project="demo", monitor_hardware=False)
for step in range(10): forge.log({"loss": 1.0}, step)
open("model.pt", "wb").write(b"x" * 1000)
print(run.log_artifact("checkpoint", "model.pt", "torch", 3, upload=True)["artifact_id"])
`
  const script = python(t, ['-c', `import os; os.chdir(${JSON.stringify(folder)})\n${code}`], {
    ...{ FORGE_HOST: `${proxy.url}/`, FORGE_TOKEN: forge.token, HOME: folder },
    FORGE_SPOOL_DIR: join(folder, 'spool'),
  })
  t.is((await script.ended).code, 0, script.err())
  await until('the run has ended', 20_000, async () => {
    const { body } = await forge.call<{ state: string }[]>('GET', '/api/runs')
    return body[0]?.state === 'succeeded'
  })
  const artifact = script.out().trim()
  const { run } = await commandLine(t, { FORGE_HOST: proxy.url, FORGE_TOKEN: forge.token })
  const file = join(folder, 'again.pt')
  const got = await run(['artifacts', 'get', 'demo-1', artifact, '-o', file, '--verify'])
  t.is(got.code, 0, got.stderr)
  t.is(await readFile(file, 'utf8'), 'x'.repeat(1000))
  t.deepEqual(proxy.strayed, [])
})
