import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { keyFolder } from '../../auth/key-folder.ts'
import { openSealingKeys } from '../../auth/sealing-keys.ts'
import { openSecrets, sealedFor } from '../../command-api/rules/secret-values.ts'
import { database } from '../servers/postgres.ts'

const value = 'the value of a secret'

test('the stored value is sealed for its owner and its name', async t => {
  const { pool } = await database(t)
  const folder = await mkdtemp(join(tmpdir(), 'forge-sealing-'))
  t.teardown(() => rm(folder, { recursive: true }))
  const sealing = await openSealingKeys(await keyFolder(folder), new Date())
  const name = { owner: 'ada', name: 'HUB_TOKEN' }
  const insert = (owner: string, named: string, sealed: string) =>
    pool.query('insert into write.secret (owner, name, sealed) values ($1, $2, $3)', [
      owner,
      named,
      sealed,
    ])
  const sealed = sealing.seal(value, sealedFor(name))
  t.false(sealed.includes(value))
  await insert('ada', 'HUB_TOKEN', sealed)
  await insert('ada', 'OTHER', sealed)
  await insert('eve', 'HUB_TOKEN', sealed)
  t.deepEqual(await openSecrets(pool, sealing, 'ada', ['HUB_TOKEN']), { HUB_TOKEN: value })
  for (const [owner, moved] of [
    ['ada', 'OTHER'],
    ['eve', 'HUB_TOKEN'],
  ] as const)
    await t.throwsAsync(openSecrets(pool, sealing, owner, [moved]), {
      message: /sealed with a key/,
    })
  await t.throwsAsync(openSecrets(pool, sealing, 'ada', ['GONE']), {
    message: /removed the secret GONE/,
  })
})
