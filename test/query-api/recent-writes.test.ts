import test from 'ava'
import { recentWrites } from '../../query-api/reading/recent-writes.ts'
import { startForge } from '../servers/forge.ts'

test('a person reads on one process a write they have just made on another', async t => {
  const forge = await startForge(t)
  const keys = { SERVICE_ROLES: 'query-api,command-api' }
  const other = await forge.another(keys)
  for (let n = 1; n <= 25; n++) {
    const name = `r${n}`
    const body = { name, criteria: [{ name: 'c' }] }
    t.is((await other.call('PUT', `/api/rubrics/admin/${name}`, { body })).status, 200)
    t.is((await forge.call('GET', `/api/rubrics/admin/${name}`)).status, 200, name)
  }
})

test('a person’s positions are the newest of each stream, last ten seconds, and include nobody else’s', async t => {
  const forge = await startForge(t)
  const put = (name: string, criterion: string) =>
    forge.call('PUT', `/api/rubrics/admin/${name}`, {
      body: { name, criteria: [{ name: criterion }] },
    })
  await put('one', 'a')
  await put('one', 'b')
  const positions = async (username: string, laterMs: number) => {
    const find = recentWrites(forge.pool, () => new Date(Date.now() + laterMs))
    return (await find(username)).map(text => Buffer.from(text, 'base64url').toString('utf8'))
  }
  const own = await positions('admin', -5_000)
  t.deepEqual(
    own.filter(position => position.includes('rubric')),
    ['s:2:rubric-admin/one'],
  )
  t.deepEqual(await positions('admin', 60_000), [])
  t.deepEqual(await positions('system', -5_000), [])
})
