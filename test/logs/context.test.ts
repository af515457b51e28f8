import test from 'ava'
import { commandLine } from '../servers/command-line.ts'
import { type Forge, startForge } from '../servers/forge.ts'
import { createRun, type ExternalRun, ingest } from '../servers/runs.ts'
import { until } from '../servers/until.ts'

type Line = { seq: number; text: string }

async function search(forge: Forge, run: ExternalRun, query: string) {
  const path = `/api/runs/${run.run_id}/logs?${query}`
  const { status, body, headers } = await forge.call<Line[]>('GET', path)
  return {
    status,
    seqs: status === 200 ? body.map(line => line.seq) : [],
    link: headers.get('link'),
  }
}

test('a search of a log returns the lines around what it finds, of the same rank, and misses nothing between pages', async t => {
  const forge = await startForge(t)
  const run = await createRun(forge)
  const lines = (from: number, to: number) =>
    Array.from({ length: to - from + 1 }, (_, i) =>
      [10, 12, 30].includes(from + i) ? `an error, line ${from + i}` : `line ${from + i}`,
    )
  await ingest(forge, run, 'logs', { chunks: lines(1, 20), rank: 0 })
  await ingest(forge, run, 'logs', { chunks: lines(21, 28), rank: 1 })
  await ingest(forge, run, 'logs', { chunks: lines(29, 40), rank: 0 })
  await until('the log is projected', 60_000, async () => {
    const { seqs } = await search(forge, run, 'limit=500')
    return seqs.length === 40
  })
  const found = async (query: string) => (await search(forge, run, query)).seqs
  t.deepEqual(await found('grep=error'), [10, 12, 30])
  t.deepEqual(await found('grep=error&context=0'), [10, 12, 30])
  t.deepEqual(await found('grep=error&context=1'), [9, 10, 11, 12, 13, 29, 30, 31])
  t.deepEqual(await found('grep=error&context=3&rank=0'), [
    ...[7, 8, 9, 10, 11, 12, 13, 14, 15],
    // Rank 1 wrote what stands between these.
    ...[19, 20, 29, 30, 31, 32, 33],
  ])
  t.deepEqual(await found('grep=error&context=1&before=41&limit=3'), [29, 30, 31])
  t.deepEqual(await found('grep=error&context=100'), await found('limit=500'))
  const paged: number[] = []
  for (let after = 0; ; ) {
    const page = await search(forge, run, `grep=error&context=2&limit=2&after=${after}`)
    paged.push(...page.seqs)
    const next = /after=(\d+)>; rel="next"/.exec(page.link ?? '')?.[1]
    if (next === undefined) break
    t.true(Number(next) > after)
    after = Number(next)
  }
  t.true(
    [10, 12, 30].every(seq => paged.includes(seq)),
    String(paged),
  )
  t.deepEqual(
    paged,
    [...new Set(paged)].sort((a, b) => a - b),
  )
  t.is((await search(forge, run, 'grep=error&context=101')).status, 422)

  const matching = (pattern: string, more = '') =>
    found(`regex=${encodeURIComponent(pattern)}${more}`)
  t.deepEqual(await matching('^an error, line [13]0$'), [10, 30])
  t.deepEqual(await matching('(?i)ERROR|^line 3$', '&rank=0'), [3, 10, 12, 30])
  t.deepEqual(await matching('line \\d*2$', '&grep=error&context=1'), [11, 12, 13])
  t.deepEqual(await matching('(l+)+i+(n+)+e+x'), [], 'a pattern that others try for ages')
  for (const [pattern, why] of [
    ['(a', /missing closing/],
    ['(?=a)', /Perl syntax/],
    [`(\\pL{500}|\\pN{500})${'x?'.repeat(99)}`, /too large/],
  ] as const) {
    const path = `/api/runs/${run.run_id}/logs?regex=${encodeURIComponent(pattern)}`
    const { status, body } = await forge.call<{ detail: { loc: string[]; msg: string }[] }>(
      'GET',
      path,
    )
    t.deepEqual([status, body.detail[0]?.loc], [422, ['query', 'regex']])
    t.regex(String(body.detail[0]?.msg), why)
  }

  const line = await commandLine(t, { FORGE_HOST: forge.url, FORGE_TOKEN: forge.token })
  const shown = await line.run(['logs', run.run_id, '--grep', 'line 30', '--around', '1', '--raw'])
  t.is(shown.stdout, 'line 29\nan error, line 30\nline 31\n', shown.stderr)

  const byPattern = await line.run(['logs', run.run_id, '--regex', 'line [34]0$', '--raw'])
  t.is(byPattern.stdout, 'an error, line 30\nline 40\n', byPattern.stderr)

  const long = await createRun(forge)
  await ingest(forge, long, 'logs', { chunks: ['a line'] })
  const isProjected = (after: number) =>
    until('the long log is projected', 60_000, async () => {
      const { status, seqs } = await search(forge, long, `after=${after}`)
      return status === 200 && seqs.length > 0
    })
  await isProjected(0)
  await forge.pool.query(
    `insert into read.log_chunks select run_id, first_seq + n, body
       from read.log_chunks, generate_series(1, 999) n where run_id = $1`,
    [long.run_id],
  )
  await forge.pool.query(
    'update read.log_runs set next_seq = 1001, tail_seq = null where run_id = $1',
    [long.run_id],
  )
  await ingest(forge, long, 'logs', { chunks: ['the needle'] })
  await isProjected(1000)
  const first = await search(forge, long, 'grep=needle')
  t.deepEqual(first.seqs, [], 'a page looks at so many rows and no more')
  t.regex(first.link ?? '', /rel="next"/)
  const all = await line.run(['logs', long.run_id, '--grep', 'needle', '--raw'])
  t.is(all.stdout, 'the needle\n', all.stderr)
})
