import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { openPage } from '../console/browse.ts'
import { deployed } from '../gateway/deployed.ts'
import { commandLine } from '../servers/command-line.ts'
import { serveEngine, startEngine } from '../servers/engine.ts'
import { sharedForge } from '../servers/forge.ts'
import { patient } from '../servers/patience.ts'
import { until } from '../servers/until.ts'

const shared = sharedForge()

type Deployment = { allowed_origins: string[] }

test('allowed origins are set when a deployment is created, replaced, shown, and removed', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { url } = await startEngine(t)
  const body = {
    ...{ name: 'origins', project: 'serving', source: { kind: 'external', url } },
    allowed_origins: ['https://b.example', 'https://a.example:8443'],
  }
  const made = await forge.call<{ deployment_id: string }>('POST', '/api/deployments', { body })
  t.is(made.status, 200)
  const path = `/api/deployments/${made.body.deployment_id}`
  const shown = async () => (await forge.call<Deployment>('GET', path)).body.allowed_origins
  t.deepEqual(await shown(), ['https://a.example:8443', 'https://b.example'])
  const set = async (allowed_origins: unknown) => {
    const { status, body: reply } = await forge.call<{ changed: boolean }>('PATCH', path, {
      body: { allowed_origins },
    })
    return { status, changed: reply.changed }
  }
  t.deepEqual(await set(body.allowed_origins), { status: 200, changed: false })
  t.deepEqual(await set(['*']), { status: 200, changed: true })
  t.deepEqual(await shown(), ['*'])
  for (const wrong of [
    ['https://a.example/'],
    ['a.example'],
    ['null'],
    ['https://a.example', 'https://a.example'],
    [`https://${'a'.repeat(300)}.example`],
    Array.from({ length: 21 }, (_, at) => `https://${at}.example`),
    'https://a.example',
  ])
    t.is((await set(wrong)).status, 422, JSON.stringify(wrong))
  for (const wrong of [
    ['https://A.example'],
    ['https://a.example:443'],
    ['https://user%40a.example'],
    ['*', 'https://a.example'],
  ])
    t.is((await set(wrong)).status, 400, JSON.stringify(wrong))
  t.deepEqual(await set([]), { status: 200, changed: true })
  t.deepEqual(await shown(), [])
})

test('forge deploy set --allow-origin replaces the allowed origins', async t => {
  t.timeout(patient(60_000))
  const forge = await shared()
  const { url } = await startEngine(t)
  const { run } = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const deploy = (...args: string[]) => run(['deploy', ...args])
  const made = ['create', 'paged', '--url', url, '-p', 'serving', '--no-wait']
  t.is((await deploy(...made, '--allow-origin', 'https://a.example')).code, 0)
  const shown = async () => (await deploy('show', 'paged')).stdout.split('\n')[2]
  t.is(await shown(), 'web pages of https://a.example may call it')
  const two = ['--allow-origin', 'https://b.example', '--allow-origin', 'https://c.example']
  t.is((await deploy('set', 'paged', ...two)).code, 0)
  t.is(await shown(), 'web pages of https://b.example, https://c.example may call it')
  const wrong = await deploy('set', 'paged', '--allow-origin', 'https://B.example')
  t.not(wrong.code, 0)
  t.regex(wrong.stderr, /https:\/\/b\.example/, 'it names the form that browsers send')
  t.is((await deploy('set', 'paged', '--allow-origin', 'none', 'https://b.example')).code, 2)
  t.is((await deploy('set', 'paged', '--allow-origin', 'none')).code, 0)
  t.notRegex((await deploy('show', 'paged')).stdout, /web pages/)
})

const answerText = JSON.stringify({ data: [{ id: 'default' }], choices: [{ index: 0 }] })

/** Serves an empty page on another origin. */
async function startPage(t: ExecutionContext): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html' })
    response.end('<!doctype html><title>An application</title>')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('in a browser, a page of an allowed origin calls and streams; another page reads nothing', async t => {
  t.timeout(patient(120_000))
  const forge = await shared()
  const engine = await serveEngine(t, (req, res) => {
    req.resume().on('end', () => {
      if (req.url === '/v1/stream') {
        res.writeHead(200, { 'content-type': 'text/event-stream' })
        res.write('data: one\n\n')
        setImmediate(() => res.end('data: two\n\n'))
      } else {
        res.writeHead(200, { 'content-type': 'application/json' })
        res.end(answerText)
      }
    })
  })
  const { inference, path, token } = await deployed(forge, 'in-a-browser', [engine])
  const [allowed, other] = [await startPage(t), await startPage(t)]
  const { page } = await openPage(t)
  const call = (below: string, bearer = token) =>
    page.evaluate(
      async ([url, secret]) => {
        try {
          const response = await fetch(String(url), {
            method: 'POST',
            headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
            body: '{"stream": true}',
          })
          const revision = response.headers.get('x-forge-revision') !== null
          return { status: response.status, text: await response.text(), revision }
        } catch (error) {
          return { status: 0, text: (error as Error).name, revision: false }
        }
      },
      [`${forge.url}${inference}${below}`, bearer],
    )
  const blocked = { status: 0, text: 'TypeError', revision: false }
  await page.goto(allowed)
  t.deepEqual(await call('/chat/completions'), blocked, 'nobody is allowed by default')
  const body = { allowed_origins: [allowed] }
  t.is((await forge.call('PATCH', path, { body })).status, 200)
  const answer = { status: 200, text: answerText, revision: true }
  t.deepEqual(await call('/chat/completions'), answer)
  t.deepEqual(await call('/stream'), {
    ...{ status: 200, text: 'data: one\n\ndata: two\n\n', revision: true },
  })
  const refused = await call('/chat/completions', 'fdt_wrong')
  t.is(refused.status, 401, 'the page can read why it was refused')
  t.regex(refused.text, /invalid_token/)
  await page.goto(other)
  t.deepEqual(await call('/chat/completions'), blocked)
  t.deepEqual(await call('/stream'), blocked)
  const api = await page.evaluate(
    url => fetch(String(url)).then(String, error => (error as Error).name),
    `${forge.url}/api/version`,
  )
  t.is(api, 'TypeError', 'the API itself allows no page')
  await until('only calls of the allowed page are traffic', 30_000, async () => {
    const { body: traffic } = await forge.call<unknown[]>('GET', `${path}/traffic`)
    return traffic.length === 2
  })
})
