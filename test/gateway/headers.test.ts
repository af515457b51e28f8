import test from 'ava'
import { sandbox, toCaller, toEngine } from '../../gateway/headers.ts'

const namesIn = (raw: readonly string[]) =>
  raw.filter((_, at) => at % 2 === 0).map(name => name.toLowerCase())

test('an engine learns neither who calls nor by which route, and gets only its own secret', t => {
  const raw = [
    ...['Host', 'forge.example', 'Authorization', 'Bearer fdt_x', 'cookie', 'forge_refresh=x'],
    ...['X-Forwarded-For', '10.0.0.1', 'x-forwarded-anything', 'x', 'Forwarded', 'for=10.0.0.1'],
    ...['X-Service-Token', 'fit_x', 'X-Real-IP', '10.0.0.1', 'x-request-id', 'theirs'],
    ...['Connection', 'keep-alive, X-Hop', 'X-Hop', '1', 'TE', 'trailers', 'X-Key', 'theirs'],
    ...['Content-Type', 'application/json', 'X-Kept', 'a', 'x-kept', 'b'],
  ]
  const secret = { name: 'X-Key', value: 's3cret' }
  t.deepEqual(toEngine(raw, { host: 'engine:8000', request_id: 'req_1', secret }), [
    ...['Host', 'engine:8000', 'Content-Type', 'application/json', 'X-Kept', 'a', 'x-kept', 'b'],
    ...['x-request-id', 'req_1', 'X-Key', 's3cret'],
  ])
})

test('a Content-Length named by Connection stays: without it a message has no end', t => {
  const raw = ['Connection', 'Content-Length', 'Content-Length', '5']
  const asked = toEngine(raw, { host: 'e', request_id: 'r', secret: null })
  t.true(namesIn(asked).includes('content-length'))
  t.deepEqual(toCaller(raw, {}), ['Content-Length', '5'])
})

test('no page can show or frame a response of an engine', t => {
  const rules = sandbox['content-security-policy']?.split('; ') ?? []
  for (const rule of ['sandbox', "default-src 'none'", "frame-ancestors 'none'"])
    t.true(rules.includes(rule), rule)
})

test('an engine controls nothing in the origin of the console', t => {
  const raw = [
    ...['Set-Cookie', 'forge_refresh=theirs; Path=/api/auth', 'Clear-Site-Data', '"*"'],
    ...['Service-Worker-Allowed', '/', 'Alt-Svc', 'h3=":443"', 'NEL', '{}', 'Report-To', '{}'],
    ...['Strict-Transport-Security', 'max-age=0', 'Reporting-Endpoints', 'a="https://a"'],
    ...['Content-Security-Policy', "default-src 'unsafe-inline'", 'X-Content-Type-Options', 'off'],
    ...['Content-Type', 'text/html'],
  ]
  t.deepEqual(toCaller(raw, sandbox), [
    'Content-Type',
    'text/html',
    ...Object.entries(sandbox).flat(),
  ])
})
