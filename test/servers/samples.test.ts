import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import test from 'ava'
import { asked } from '../samples/send.ts'
import { sampleServer } from '../samples/server.ts'

test('sample servers begin with the same things, and a change of one is not in the other', async t => {
  const [one, other] = [await sampleServer(t), await sampleServer(t)]
  const { rubrics } = one.fixtures.operator.nouns
  t.deepEqual(one.fixtures, other.fixtures)
  const path = `/api/rubrics/${rubrics?.owner}/${rubrics?.name}`
  const read = { method: 'GET', path }
  const body = { name: rubrics?.name, criteria: [{ name: 'short' }] }
  await asked(one.send, one.people.operator, { method: 'PUT', path, body })
  const versions = [one, other].map(({ send, people }) =>
    asked<{ version: number }>(send, people.operator, read),
  )
  t.deepEqual(
    (await Promise.all(versions)).map(({ version }) => version),
    [2, 1],
  )
  await writeFile(join(one.dataDir, 'of-one'), '')
  t.false((await readdir(other.dataDir)).includes('of-one'))
})

test('in a copy of the samples everybody is still signed in, and the engine of the deployments responds', async t => {
  const { send, people, pool } = await sampleServer(t)
  for (const person of Object.values(people)) {
    const me = await asked<{ username: string }>(send, person, {
      method: 'GET',
      path: '/api/auth/me',
    })
    t.is(me.username, person.username)
  }
  const { rows } = await pool.query<{ url: string }>(
    `select distinct source ->> 'url' as url from write.revision_state where source ->> 'kind' = 'external'`,
  )
  t.is(rows.length, 1)
  for (const { url } of rows) t.is((await fetch(url)).status, 200)
})
