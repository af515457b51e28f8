import { gzipSync } from 'node:zlib'

/** A request that must be refused, with one of these statuses, and must change nothing. */
export type Hostile = {
  why: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  path: string
  refused: readonly number[]
  /** Sent unchanged. */
  headers: Readonly<Record<string, string>>
  body: string | Uint8Array<ArrayBuffer> | null
}

/** The credentials to be abused, and the target. */
export type Target = {
  /** An access token of a person. */
  person: string
  run: string
  /** The ingest token of `run`. */
  token: string
  /** A run that `token` does not cover. */
  otherRun: string
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const json = { 'content-type': 'application/json' }
/** Anything stored by a hostile request has this name. */
const name = 'hostile'
const good = { key: name, step: 1, value: 0.5 }

/** 32 MiB of zeros, which take 32 KiB in transit. */
const bomb = new Uint8Array(gzipSync(Buffer.alloc(32 * 1024 * 1024)))
const deep = `{"points":${'['.repeat(100_000)}`
const tooMany = Array.from({ length: 10_001 }, (_, step) => ({ ...good, step }))
const tooLong = 'x'.repeat(1_200_000)
const forged = `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`

type Ingest = [why: string, body: string | object, status?: number, more?: Record<string, string>]

const badReports = (run_id: string): Ingest[] => {
  const points = (...points: unknown[]) => ({ run_id, points })
  const text = (point: string) => `{"run_id":"${run_id}","points":[${point}]}`
  return [
    ['malformed JSON', '{"run_id": '],
    ['a bare NaN', text(`{"key":"${name}","step":1,"value":NaN}`)],
    ['a value past every double', text(`{"key":"${name}","step":1,"value":1e400}`)],
    ['a step past 2^53', points({ ...good, step: 2 ** 53 })],
    ['text instead of a step', points({ ...good, step: '1' })],
    ['a list instead of a value', points({ ...good, value: [1] })],
    ['one bad point among good ones', points(good, { ...good, step: 2, value: null })],
    ['U+0000 in a key', points({ ...good, key: 'a\u0000b' })],
    ['half a character in a key', text('{"key":"\\ud800","step":1,"value":1}')],
    ['too many points', points(...tooMany)],
    ['brackets without end', deep],
    ['another content type', points(good), 415, { 'content-type': 'application/x-yaml' }],
    ['bytes that are not gzip', points(good), 400, { 'content-encoding': 'gzip' }],
    ['an unknown encoding', points(good), 415, { 'content-encoding': 'rot13' }],
  ]
}

const reports = ({ run, token, otherRun, person }: Target): Hostile[] => {
  const report = (why: string, body: Hostile['body'], refused: number, headers = {}): Hostile => ({
    why,
    method: 'POST',
    path: '/api/ingest/metrics',
    refused: [refused],
    headers: { ...json, ...bearer(token), ...headers },
    body,
  })
  const of = (run_id: string) => JSON.stringify({ run_id, points: [good] })
  return [
    ...badReports(run).map(([why, body, status = 422, headers = {}]) =>
      report(why, typeof body === 'string' ? body : JSON.stringify(body), status, headers),
    ),
    report('a body that grows', bomb, 413, { 'content-encoding': 'gzip' }),
    report("another run's points", of(otherRun), 403),
    report("nobody's points", of('run_00000000000000000000000000'), 403),
    report("points with a person's token", of(run), 401, bearer(person)),
    report('points with a made-up token', of(run), 401, bearer(forged)),
  ]
}

/** Paths by which a person may not reach anything. */
const badPaths = (run: string): [path: string, ...refused: number[]][] => [
  ['/api/runs/..%2f..%2f..%2fetc%2fpasswd', 404],
  ['/api/runs/%00', 404, 422],
  ['/api/runs/%E0%A4%A', 400, 404],
  [`/api/runs/${'r'.repeat(4_000)}`, 404, 422],
  ["/api/runs/' or 1=1 --", 404],
  [`/api/runs/${run}/..%2f..%2fusers`, 404],
  ['/api/rubrics/admin/..%2f..%2f', 404, 422],
  ['/api/pages/..%2f..%2fserver%2fconfig.ts', 404],
  ['/api/runs?limit=-1', 422],
  ['/api/runs?offset=1e99', 422],
  ['/api/runs?sort=name;drop%20table%20run', 422],
  ['/api/runs?sort=metric:%00:last', 422],
  [`/api/runs/${run}/metrics?keys=a&buckets=1000000000`, 422],
  [`/api/runs/${run}/logs?after=-1`, 422],
  ['/api/stream?topics=everything', 422],
  ['/api/stream?topics=jobs&after=yesterday', 422],
  ['/api/nothing/here', 404],
]

const requests = ({ person, token, run }: Target): Hostile[] => {
  const as = (token: string) => ({ ...json, ...bearer(token) })
  const rubric = (name: string, criteria: unknown = [{ name: 'c' }]) =>
    JSON.stringify({ name, criteria })
  const get = { method: 'GET', body: null } as const
  const put = { method: 'PUT', headers: as(person) } as const
  const path = `/api/rubrics/admin/${name}`
  return [
    ...badPaths(run).map(
      ([path, ...refused]): Hostile => ({
        ...get,
        why: `GET ${path.slice(0, 60)}`,
        path,
        refused,
        headers: bearer(person),
      }),
    ),
    { ...get, why: 'no token', path: '/api/runs', refused: [401], headers: {} },
    { ...get, why: 'a forged token', path: '/api/runs', refused: [401], headers: bearer(forged) },
    { ...get, why: "a run's token", path: '/api/runs', refused: [401], headers: bearer(token) },
    { ...put, why: 'a body past the limit', path, refused: [413], body: rubric(tooLong) },
    { ...put, why: 'another name in the path', path, refused: [422], body: rubric('other') },
    { ...put, why: 'text instead of a list', path, refused: [422], body: rubric(name, 'c') },
    {
      ...put,
      why: "another person's rubric",
      path: '/api/rubrics/root/..%2fadmin',
      refused: [404, 422],
      body: rubric(name),
    },
    {
      why: 'a job out of nothing',
      method: 'POST',
      path: '/api/jobs',
      refused: [400, 422],
      headers: as(person),
      body: '{"api":"../../etc/passwd","metadata":[],"spec":1e308}',
    },
    {
      why: 'a rebuild of an unknown projection',
      method: 'POST',
      path: '/api/admin/projections/..%2f..%2fall/rebuild',
      refused: [404, 422],
      headers: as(person),
      body: null,
    },
    {
      why: 'the wrong method',
      method: 'DELETE',
      path: '/api/version',
      refused: [405],
      headers: as(person),
      body: null,
    },
  ]
}

/** One request of every kind. */
export const hostileRequests = (target: Target): Hostile[] => [
  ...reports(target),
  ...requests(target),
]
