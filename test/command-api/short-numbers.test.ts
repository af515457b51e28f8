import test from 'ava'
import { createShortNumbers } from '../../command-api/rules/short-numbers.ts'
import { createPool } from '../../platform/postgres/pool.ts'
import { database } from '../servers/postgres.ts'

async function projects(t: Parameters<typeof database>[0]) {
  const { pool, url } = await database(t)
  await pool.query(
    `insert into write.project (name, owner, visibility, created_at, last_short)
     values ('one', 'ada', 'private', now(), 1), ('two', 'ada', 'private', now(), 7)`,
  )
  const loose = createPool(url, { max: 2, applicationName: 'forge test', isDurable: false })
  t.teardown(() => loose.end())
  return { pool, loose }
}

const many = <T>(count: number, of: () => T): T[] => Array.from({ length: count }, of)

test('concurrent submits get consecutive numbers, by project, in their order', async t => {
  const { loose } = await projects(t)
  const numbers = createShortNumbers(loose)
  const [ones, twos] = await Promise.all([
    Promise.all(many(50, () => numbers.take('one'))),
    Promise.all(many(3, () => numbers.take('two'))),
  ])
  t.deepEqual(
    ones,
    Array.from({ length: 50 }, (_, index) => index + 2),
  )
  t.deepEqual(twos, [8, 9, 10])
})

test('two processes never hand out the same number', async t => {
  const { loose } = await projects(t)
  const processes = [createShortNumbers(loose), createShortNumbers(loose)]
  const taken = await Promise.all(
    many(200, () => processes.map(numbers => numbers.take('one'))).flat(),
  )
  t.is(new Set(taken).size, 400)
})

test('a fault fails only the affected submits, and the next ones get numbers', async t => {
  const { pool, loose } = await projects(t)
  const numbers = createShortNumbers(loose)
  const nobodys = await Promise.allSettled(many(3, () => numbers.take('none')))
  for (const result of nobodys) t.like(result, { status: 'rejected' })
  await pool.query(`update write.project set name = 'none' where name = 'two'`)
  t.is(await numbers.take('none'), 8)
})
