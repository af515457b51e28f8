import test from 'ava'
import { type FoundType, foundTypes, type SearchReply } from '../../schemas/found.ts'
import type { SampleServer, SignedIn } from '../samples/sample.ts'
import { bearer } from '../samples/send.ts'
import { sampleServer } from '../samples/server.ts'

type Answer = SearchReply & { detail: { loc: string[]; msg: string; ctx: { column?: number } }[] }

const searcher =
  ({ send }: SampleServer, { token }: Pick<SignedIn, 'token'>) =>
  async (query: Readonly<Record<string, string>>) => {
    const path = `/api/search?${new URLSearchParams(query)}`
    const { status, headers, text } = await send({ method: 'GET', path, headers: bearer(token) })
    return { status, headers, body: JSON.parse(text) as Answer }
  }

const typesIn = ({ results }: SearchReply): FoundType[] => [
  ...new Set(results.map(({ type }) => type)),
]

test('one search finds things of every type, but nothing that the caller may not read', async t => {
  const server = await sampleServer(t)
  const { operator, admin } = server.people
  const ask = searcher(server, operator)
  const everything = await ask({ q: '', limit: '50' })
  t.is(everything.status, 200)
  t.deepEqual(typesIn(everything.body), foundTypes)
  const own = await ask({ q: `owner:${operator.username}`, limit: '50' })
  t.deepEqual(typesIn(own.body), foundTypes)
  t.true(own.body.results.every(({ owner }) => owner === operator.username))
  for (const type of foundTypes)
    t.is(own.body.counts[type], own.body.results.filter(row => row.type === type).length, type)

  // Nearly everything of the samples is private.
  const newcomer = searcher(server, await server.newPerson('nina-newcomer'))
  const foreign = await newcomer({ q: `owner:${operator.username} NOT ${'nina'}`, limit: '50' })
  const isPublic = (type: FoundType) =>
    own.body.results.filter(row => row.type === type).length > (foreign.body.counts[type] ?? 0)
  for (const type of ['run', 'artifact', 'diagnosis', 'dataset', 'deployment', 'model'] as const)
    t.true(isPublic(type), type)
  t.is(foreign.body.counts.person, 0)
  const people = await newcomer({ type: 'person' })
  t.false(people.body.results.some(({ ref }) => ref === operator.username))
  const all = await searcher(server, admin)({ type: 'person', q: operator.username })
  t.deepEqual(
    all.body.results.map(({ ref }) => ref),
    [operator.username],
  )
})

test('conditions on what a type does not have match nothing of it, and their opposite everything', async t => {
  const server = await sampleServer(t)
  const ask = searcher(server, server.people.operator)
  const { body: all } = await ask({})
  const { body: measured } = await ask({ q: 'loss<100' })
  t.deepEqual(typesIn(measured), ['run'])
  const { body: others } = await ask({ q: 'NOT loss<100' })
  for (const type of foundTypes.filter(one => one !== 'run'))
    t.is(others.counts[type], all.counts[type], type)
  const { body: future } = await ask({ q: 'after:2999-01-01' })
  t.deepEqual(future.results, [])
  const { dataset, name } = {
    dataset: 'dataset',
    name: `data-of-${server.people.operator.username}`,
  }
  const { body: named } = await ask({ q: name.toUpperCase(), type: dataset })
  t.deepEqual(
    named.results.map(({ ref, path }) => ({ ref, path })),
    [
      {
        ref: `${server.people.operator.username}/${name}`,
        path: `/datasets/${server.people.operator.username}/${name}`,
      },
    ],
  )
})

test('one type is read page by page, and faults name their position', async t => {
  const server = await sampleServer(t)
  const ask = searcher(server, server.people.admin)
  const first = await ask({ type: 'run', limit: '1' })
  const total = first.body.counts.run ?? 0
  t.true(total > 2)
  t.is(first.headers.get('x-total-count'), String(total))
  t.regex(first.headers.get('link') ?? '', /rel="next"/)
  const refs = new Set<string>()
  for (let offset = 0; offset < total; offset += 1) {
    const { body } = await ask({ type: 'run', limit: '1', offset: String(offset) })
    for (const { ref } of body.results) refs.add(ref)
  }
  t.is(refs.size, total)
  const beyond = await ask({ type: 'dataset', offset: '50' })
  t.deepEqual([beyond.status, beyond.body.results], [200, []])
  t.true((beyond.body.counts.dataset ?? 0) > 0)

  const broken = await ask({ q: 'owner:(' })
  t.deepEqual([broken.status, broken.body.detail[0]?.loc], [422, ['query', 'q']])
  t.is(broken.body.detail[0]?.ctx.column, 7)
  t.deepEqual((await ask({ type: 'run,cat' })).body.detail[0]?.loc, ['query', 'type'])
  t.deepEqual((await ask({ offset: '5' })).body.detail[0]?.loc, ['query', 'offset'])
  t.is((await ask({ limit: '51' })).status, 422)
})
