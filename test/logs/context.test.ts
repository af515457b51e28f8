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

const needleOf = async (forge: Forge, run: ExternalRun): Promise<Buffer> => {
  const { rows } = await forge.pool.query<{ body: Buffer }>(
    'select body from read.log_chunks where run_id = $1 order by first_seq desc limit 1',
    [run.run_id],
  )
  return rows[0]?.body ?? Buffer.alloc(0)
}

/** The lines of all pages, each page in order of arrival; when searching backwards, a page's preceding lines come with the next. */
async function paged(forge: Forge, run: ExternalRun, query: string): Promise<number[]> {
  const isBack = query.includes('before=')
  const seqs: number[] = []
  for (let more = `&${query}`; ; ) {
    const page = await search(forge, run, more)
    seqs.push(...(isBack ? page.seqs.reverse() : page.seqs))
    const next = /\?([^>]+)>; rel="(next|prev)"/.exec(page.link ?? '')?.[1]
    if (next === undefined) return seqs
    if (next === more) throw new Error(`${next} leads to itself`)
    more = next
  }
}

test('a search of a log returns the lines around its hits, of the same rank, and misses nothing between pages', async t => {
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
    // Rank 1 wrote the lines between these.
    ...[19, 20, 29, 30, 31, 32, 33],
  ])
  t.deepEqual(await found('grep=error&context=1&before=41&limit=3'), [29, 30, 31])
  t.deepEqual(await found('grep=error&context=100'), await found('limit=500'))
  for (const query of ['grep=error&context=2', 'grep=error&context=3&rank=0'])
    for (const limit of [1, 2, 3, 5]) {
      const whole = await found(query)
      t.deepEqual(await paged(forge, run, `${query}&limit=${limit}`), whole, `${query}, ${limit}`)
      const back = await paged(forge, run, `${query}&limit=${limit}&before=41`)
      t.deepEqual(back.reverse(), whole, `${query}, ${limit}, backwards`)
    }
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
  t.deepEqual(first.seqs, [], 'a page reads this many rows and no more')
  t.regex(first.link ?? '', /rel="next"/)
  const all = await line.run(['logs', long.run_id, '--grep', 'needle', '--raw'])
  t.is(all.stdout, 'the needle\n', all.stderr)
  // A page ends after 512 rows, here of one line each.
  const needle = await needleOf(forge, long)
  for (const [at, back, around] of [
    [511, '', [509, 510, 511, 512, 513]],
    [514, '', [512, 513, 514, 515, 516]],
    [492, '&before=1002', [490, 491, 492, 493, 494]],
    [489, '&before=1002', [487, 488, 489, 490, 491]],
  ] as const) {
    await forge.pool.query(
      `update read.log_chunks set body = case first_seq when $2 then $3 else (select body from read.log_chunks where run_id = $1 and first_seq = 1) end
        where run_id = $1 and first_seq between 2 and 1000`,
      [long.run_id, at, needle],
    )
    const seqs = await paged(forge, long, `grep=needle&context=2${back}`)
    t.deepEqual(
      seqs.sort((a, b) => a - b),
      [...around, 999, 1000, 1001],
      `${at}${back}`,
    )
  }
})
