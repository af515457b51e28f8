import test, { type ExecutionContext } from 'ava'
import { createGuard } from '../../../platform/postgres/guard.ts'
import { createPool } from '../../../platform/postgres/pool.ts'
import { prepareReaderRole } from '../../../platform/postgres/reader-role.ts'
import { database } from '../../servers/postgres.ts'

const settings = ['forge.username', 'forge.runs']

const readerGuard = async (t: ExecutionContext, max: number) =>
  createGuard({ pool: await readerPool(t, max), role: 'forge_reader', settings })

/** This many connections that may assume the role of readers. */
async function readerPool(t: ExecutionContext, max: number) {
  const { url } = await database(t)
  await prepareReaderRole(url, 'read')
  const pool = createPool(url, { max, applicationName: 'forge test guard' })
  t.teardown(() => pool.end())
  return pool
}

test('few connections shared by many people never mix up their scopes', async t => {
  const guard = await readerGuard(t, 3)
  const ask = async (n: number) => {
    const isFree = n % 5 === 0
    const scope = isFree ? null : { 'forge.username': `person-${n % 7}` }
    const client = await guard(scope).connect()
    try {
      const { rows } = await client.query(
        `select current_user = 'forge_reader' as guarded, current_setting('forge.username') as name,
                current_setting('forge.runs') as runs`,
      )
      return t.deepEqual(rows, [
        { guarded: !isFree, name: isFree ? '' : `person-${n % 7}`, runs: '' },
      ])
    } finally {
      client.release()
    }
  }
  await Promise.all(Array.from({ length: 300 }, (_, n) => ask(n)))
})

test('two guards over one pool know of each other', async t => {
  const pool = await readerPool(t, 1)
  const [one, other] = [0, 1].map(() => createGuard({ pool, role: 'forge_reader', settings }))
  const nameIn = async (guard: typeof one, scope: { 'forge.username': string } | null) => {
    const client = await guard?.(scope).connect()
    const found = await client?.query(`select current_setting('forge.username') as name`)
    client?.release()
    return found?.rows[0]?.name
  }
  t.is(await nameIn(one, null), '')
  t.is(await nameIn(other, { 'forge.username': 'ada' }), 'ada')
  t.is(await nameIn(one, null), '')
})

test('a name is data, however it is spelled', async t => {
  const guard = await readerGuard(t, 1)
  const name = `'; reset role; select '`
  const client = await guard({ 'forge.username': name }).connect()
  const { rows } = await client.query(
    `select current_user as role, current_setting('forge.username') as name`,
  )
  client.release()
  t.deepEqual(rows, [{ role: 'forge_reader', name }])
})

test('a connection whose scope cannot be set is never handed out', async t => {
  const { url } = await database(t)
  const pool = createPool(url, { max: 1, applicationName: 'forge test guard' })
  t.teardown(() => pool.end())
  const guard = createGuard({ pool, role: 'no_such_role', settings })
  for (let turn = 0; turn < 3; turn++)
    await t.throwsAsync(guard({}).connect(), { message: /role "no_such_role" does not exist/ })
  t.is(pool.totalCount, 0)
  const free = await guard(null).connect()
  free.release()
})
