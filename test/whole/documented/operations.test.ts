import test, { type ExecutionContext } from 'ava'
import type { SampleServer } from '../../samples/sample.ts'
import { sampleServer } from '../../samples/server.ts'
import { patient } from '../../servers/patience.ts'

type Parameter = { name: string; in: string; required: boolean; example?: unknown }
type Operation = {
  summary: string
  description: string
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: { 'application/json'?: { example?: unknown } } }
  security: Record<string, unknown>[]
  responses: Record<string, { description: string }>
  'x-codeSamples': { source: string }[]
}

async function operationsOf(t: ExecutionContext) {
  const server = await sampleServer(t)
  const { text } = await server.send({ method: 'GET', path: '/api/openapi.json' })
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, Operation>> }
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method: method.toUpperCase(),
      name: `${method.toUpperCase()} ${path}`,
      operation,
    })),
  )
  t.true(operations.length > 75)
  return { server, operations }
}

test('every operation has a description, an example, and refusals with their texts', async t => {
  t.timeout(patient(400_000))
  const { operations } = await operationsOf(t)
  const without = (fault: (operation: Operation) => boolean) =>
    operations.filter(({ operation }) => fault(operation)).map(({ name }) => name)
  t.deepEqual(
    without(({ summary, description }) => !(description?.length > summary.length)),
    [],
    'a description that says more than the summary',
  )
  t.deepEqual(
    without(operation => !operation['x-codeSamples']?.[0]?.source.startsWith('curl ')),
    [],
    'an example',
  )
  t.deepEqual(
    without(
      ({ parameters = [] }) =>
        !parameters.every(({ required, example }) => !required || example !== undefined),
    ),
    [],
    'an example of each parameter: in `examples` of the slice.ts',
  )
  t.deepEqual(
    without(
      ({ requestBody }) =>
        requestBody?.required === true &&
        requestBody.content['application/json']?.example === undefined,
    ),
    [],
    'an example of the body: in `examples` of the slice.ts',
  )
  const refusals = ({ responses }: Operation) =>
    Object.entries(responses).filter(([status]) => status >= '400')
  t.deepEqual(
    without(operation => refusals(operation).length === 0),
    [],
    'refusals',
  )
  t.deepEqual(
    without(
      operation =>
        !refusals(operation).every(([, { description }]) => /^`[a-z_]+`: /.test(description)),
    ),
    [],
    'the word of each refusal',
  )
})

/** Refusals of values that fit the schema: the shown name does not exist here. */
const mayRefuse = new Set([
  // Its profile and project do not exist here; the gate is in the response.
  'POST /api/jobs',
  // There is no model of this name.
  'POST /api/hub-pushes',
  // Nothing was uploaded under the documented id.
  'POST /api/admin/recipes',
  'POST /api/environments',
  // The authenticator of the example shows other codes.
  'POST /api/auth/totp/confirm',
  // No browser made the passkey of the example.
  'POST /api/auth/passkeys',
  'POST /api/auth/passkeys/confirm',
  // No code is waiting.
  'POST /api/cli/device/token',
  // Nobody has this name.
  'PUT /api/projects/{name}/members/{username}',
  // The provider would respond, but there is none.
  'GET /api/auth/oidc/callback',
])

test('every example is a request that a server understands', async t => {
  t.timeout(patient(400_000))
  const { server, operations } = await operationsOf(t)
  const misunderstood: string[] = []
  for (const { name, method, path, operation } of operations) {
    const { parameters = [], requestBody } = operation
    const example = new Map(parameters.map(({ name: key, example: value }) => [key, value]))
    const at = path.replaceAll(/\{(\w+)\}/g, (_, key) => encodeURIComponent(`${example.get(key)}`))
    const asked = parameters.filter(one => one.in === 'query' && one.example !== undefined)
    const query = new URLSearchParams(asked.map(one => [one.name, `${one.example}`]))
    const body = requestBody?.content['application/json']?.example
    const { status, text } = await server.send({
      method,
      path: `${at}${query.size > 0 ? `?${query}` : ''}`,
      headers: await credentialOf(server, name, operation),
      ...(body !== undefined && { body }),
    })
    const isRefused = status === 422 || status >= 500 || (status === 400 && !mayRefuse.has(name))
    if (isRefused && status !== 501) misunderstood.push(`${name}: ${status} ${text}`)
  }
  t.deepEqual(misunderstood, [])
})

/** The last call in a separate session, so that the others stay signed in. */
async function credentialOf(
  { credentials, ownSession }: SampleServer,
  name: string,
  { security }: Operation,
): Promise<Record<string, string>> {
  if (security.some(one => 'ingestToken' in one)) return credentials['ingest token']
  if (name === 'POST /api/auth/logout') return ownSession('operator')
  return security.length === 0 ? {} : credentials.admin
}
