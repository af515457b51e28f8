import type { Client } from 'pg'

const measureMs = 1_000
const note = 'x'.repeat(200)

/** Durable one-row transactions a second, with all of these connections writing as fast as they can. */
export async function commitRate(clients: readonly Client[]): Promise<number> {
  const [first] = clients
  if (!first) throw new Error('no connection to commit on')
  await first.query('create table public.bench_commit (at timestamptz, note text)')
  try {
    let commits = 0
    const began = performance.now()
    await Promise.all(
      clients.map(async client => {
        for (; performance.now() - began < measureMs; commits++)
          await client.query({
            name: 'bench_commit',
            text: 'insert into public.bench_commit values (now(), $1)',
            values: [note],
          })
      }),
    )
    return (commits * 1000) / (performance.now() - began)
  } finally {
    await first.query('drop table public.bench_commit')
  }
}
