import test from 'ava'
import { apart, median } from '../servers/apart.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun } from '../servers/runs.ts'
import { signedIn } from '../servers/signed-in.ts'

type Parameter = { name: string; in: string; required: boolean; example?: unknown }
type RequestBody = { content: Record<string, { example?: object }> }
type Documented = { requestBody?: RequestBody; parameters?: Parameter[] }
type Document = { paths: Record<string, Record<string, Documented>> }
type Operation = { method: string; path: string; body: object | null }

/** Every operation on things that may be hidden, from the server's own description. */
async function operations(forge: Forge): Promise<Operation[]> {
  const { body } = await forge.call<Document>('GET', '/api/openapi.json')
  return Object.entries(body.paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { requestBody, parameters = [] }]) => {
      // Below /api/ingest a person's token has no effect.
      const isHideable =
        /^\/api\/(?!ingest\/).*\{run_id\}|^\/api\/projects\/|^\/api\/rubrics\/\{owner/.test(path)
      // Whether a person may write a rubric depends only on the owner in the path.
      if (!isHideable || (method === 'put' && path.includes('/rubrics/'))) return []
      const body = requestBody ? bodyFor(path, requestBody) : null
      return { method: method.toUpperCase(), path: withExamples(path, parameters), body }
    }),
  )
}

/** The path with the documented examples for parameters that name nothing hidden. */
function withExamples(path: string, parameters: Parameter[]): string {
  const needed = parameters.filter(({ in: place, required }) => place === 'query' && required)
  const query = needed.map(({ name, example }) => `${name}=${encodeURIComponent(`${example}`)}`)
  const filled = parameters
    .filter(({ name }) => !/^(run_id|name|owner|username)$/.test(name))
    .reduce((left, { name, example }) => left.replace(`{${name}}`, `${example}`), path)
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`
}

/** The smallest valid body; if even that does too much, the example. */
function bodyFor(path: string, { content }: RequestBody): object {
  if (path.includes('/members/')) return { role: 'viewer' }
  if (path.includes('/views/')) return { state: {} }
  return (
    (/\/(scores|test$|judgings$|team$)/.test(path) && content['application/json']?.example) || {}
  )
}

type Named = { run_id: string; name: string; rubric: string }

const fill = (path: string, { run_id, name, rubric }: Named) =>
  path
    .replace('{run_id}', run_id)
    .replace('/projects/{name}', `/projects/${name}`)
    .replace('{owner}/{name}', `alice/${rubric}`)
    .replace('{username}', 'bob')

type World = { forge: Forge; alice: string; bob: string; hidden: Named; missing: Named }

async function world(t: Parameters<typeof startForge>[0]): Promise<World> {
  const forge = await startForge(t)
  const [alice, bob] = [await signedIn(forge, 'alice'), await signedIn(forge, 'bob')]
  const asAlice = { ...forge, call: (m, p, o) => forge.call(m, p, { token: alice, ...o }) } as Forge
  const { run_id } = await createRun(asAlice, 'secret')
  await asAlice.call('PUT', '/api/rubrics/alice/hidden', {
    body: { name: 'hidden', criteria: [{ name: 'c' }] },
  })
  return {
    forge,
    alice,
    bob,
    hidden: { run_id, name: 'secret', rubric: 'hidden' },
    missing: { run_id: `${run_id.slice(0, -8)}00000000`, name: 'absent', rubric: 'absent' },
  }
}

test('responses for hidden and for missing things are the same byte for byte', async t => {
  const { forge, alice, bob, hidden, missing } = await world(t)
  const all = await operations(forge)
  t.true(all.length >= 20, `${all.length} operations`)
  /** The response without the requested id and the request's id. */
  const answer = async ({ method, path, body }: Operation, named: Named) => {
    const response = await fetch(`${forge.url}${fill(path, named)}`, {
      method,
      headers: {
        authorization: `Bearer ${bob}`,
        'x-request-id': 'the-same-for-both',
        ...(body && { 'content-type': 'application/json' }),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    const headers = [...response.headers].filter(([name]) => !/^(date|x-request-id)$/.test(name))
    const text = Object.values(named).reduce(
      (left, id) => left.replaceAll(id, '?'),
      await response.text(),
    )
    return { status: response.status, headers, text }
  }
  for (const operation of all) {
    const title = `${operation.method} ${operation.path}`
    const [of, un] = [await answer(operation, hidden), await answer(operation, missing)]
    t.is(of.status, 404, title)
    t.deepEqual(of, un, title)
  }
  // The things existed all along.
  for (const path of ['/api/runs/{run_id}', '/api/projects/{name}', '/api/rubrics/{owner}/{name}'])
    t.is((await forge.call('GET', fill(path, hidden), { token: alice })).status, 200, path)
})

test('a hidden thing takes as long to refuse as a missing one', async t => {
  const { forge, bob, hidden, missing } = await world(t)
  for (const [method, path] of [
    ['GET', '/api/runs/{run_id}'],
    ['GET', '/api/runs/{run_id}/logs'],
    ['GET', '/api/projects/{name}'],
    ['GET', '/api/rubrics/{owner}/{name}'],
    ['POST', '/api/jobs/{run_id}/stop'],
    ['PATCH', '/api/projects/{name}'],
  ] as const) {
    const took = { hidden: [] as number[], missing: [] as number[] }
    const body = method === 'GET' ? {} : { body: {} }
    const both = [
      ['hidden', hidden],
      ['missing', missing],
    ] as const
    for (let turn = 0; turn < 80; turn++)
      // Each comes first in a pair equally often.
      for (const [which, named] of turn % 2 ? both : both.toReversed()) {
        const began = performance.now()
        await forge.call(method, fill(path, named), { token: bob, ...body })
        took[which].push(performance.now() - began)
      }
    const [of, un] = [median(took.hidden), median(took.missing)]
    const { ms, noiseMs } = apart(took.hidden, took.missing)
    const [isOf, isUn, isApart, noise] = [of, un, ms, noiseMs].map(ms => ms.toFixed(2))
    const found = `${method} ${path}: hidden ${isOf} ms, missing ${isUn} ms, apart ${isApart} ± ${noise} ms`
    t.log(found)
    t.true(Math.abs(ms) < Math.max(0.5 * Math.max(of, un) + 1, noiseMs), found)
  }
})
