import { createCipheriv, createDecipheriv, randomBytes, scrypt } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { CannotStart } from '../platform/cannot-start.ts'
import { locks } from '../platform/postgres/locks.ts'
import { inTransaction } from '../platform/postgres/transaction.ts'
import { lockInTransaction } from '../platform/postgres/with-lock.ts'
import type { KeyStore } from './key-folder.ts'

/** Signing keys in `auth.signing_key`, sealed with a secret that every process has. */
export const keyTable = (pool: Pool, secret: string): KeyStore => ({
  async kids() {
    const { rows } = await pool.query<{ kid: string }>(
      'select kid from auth.signing_key where is_in_use',
    )
    return rows.map(row => row.kid)
  },
  async read(kid) {
    const { rows } = await pool.query<{ sealed: Buffer }>(
      'select sealed from auth.signing_key where kid = $1 and is_in_use',
      [kid],
    )
    return rows[0] ? await unseal(rows[0].sealed, kid, secret) : null
  },
  async prepare(kid, pem) {
    await pool.query('insert into auth.signing_key (kid, sealed) values ($1, $2)', [
      kid,
      await seal(pem, kid, secret),
    ])
    return async () => {
      await pool.query('update auth.signing_key set is_in_use = true where kid = $1', [kid])
    }
  },
  async remove(kid) {
    await pool.query('delete from auth.signing_key where kid = $1', [kid])
  },
})

/**
 * Moves the keys of a folder to the table, so that nobody is signed out. Idempotent, and safe for several processes
 * at once: one transaction stores all keys, and only then are they removed from the folder.
 */
export async function moveKeys(from: KeyStore, pool: Pool, secret: string): Promise<void> {
  const moved = await inTransaction(pool, async tx => {
    await lockInTransaction(tx, locks.keyMove)
    const kids = await from.kids()
    if (kids.length === 0) return []
    const stored = await openAll(tx, secret)
    for (const kid of kids) {
      const pem = stored.has(kid) ? null : await from.read(kid)
      if (pem !== null) await put(tx, kid, await seal(pem, kid, secret))
    }
    return kids
  })
  for (const kid of moved) await from.remove(kid)
}

/**
 * The names of the keys in use. Opening them verifies the secret: a key sealed with a different one would keep every
 * other server from starting.
 */
async function openAll(tx: PoolClient, secret: string): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ kid: string; sealed: Buffer }>(
    'select kid, sealed from auth.signing_key where is_in_use',
  )
  for (const { kid, sealed } of rows) await unseal(sealed, kid, secret)
  return new Set(rows.map(({ kid }) => kid))
}

/** Also puts a key in use that an earlier version left unused when it was killed. */
const put = (tx: PoolClient, kid: string, sealed: Buffer) =>
  tx.query(
    `insert into auth.signing_key (kid, sealed, is_in_use) values ($1, $2, true)
         on conflict (kid) do update set sealed = excluded.sealed, is_in_use = true`,
    [kid, sealed],
  )

/** Whether the keys of this installation are in the table, whatever this process is configured to use. */
export async function hasKeyTable(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query('select 1 from auth.signing_key where is_in_use limit 1')
  return rowCount !== 0
}

/*
 * A sealed key: version (1 byte), salt of scrypt (16), nonce (12), tag (16), ciphertext of AES-256-GCM. Its name is
 * authenticated with it, so that no row can be swapped for another.
 */
const version = 1
/** 16 MiB per derivation: a human-chosen secret should not be cheap to guess from a dump. */
const cost = { N: 2 ** 14, r: 8, p: 1 }

async function seal(pem: string, kid: string, secret: string): Promise<Buffer> {
  const salt = randomBytes(16)
  const nonce = randomBytes(12)
  const cipher = createCipheriv('aes-256-gcm', await derive(secret, salt), nonce)
  cipher.setAAD(Buffer.from(kid))
  const text = Buffer.concat([cipher.update(pem, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(version), salt, nonce, cipher.getAuthTag(), text])
}

async function unseal(sealed: Buffer, kid: string, secret: string): Promise<string> {
  const salt = sealed.subarray(1, 17)
  const nonce = sealed.subarray(17, 29)
  const tag = sealed.subarray(29, 45)
  const key = await derive(secret, salt)
  try {
    if (sealed[0] !== version) throw new Error(`version ${sealed[0]} is not known`)
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: 16 })
    decipher.setAAD(Buffer.from(kid)).setAuthTag(tag)
    return Buffer.concat([decipher.update(sealed.subarray(45)), decipher.final()]).toString('utf8')
  } catch (cause) {
    throw new CannotStart(
      `SERVICE_KEYS_SECRET does not open the signing key ${kid} of this installation: give every host the same secret (docs/operate/several-servers.md).`,
      cause,
    )
  }
}

const derive = (secret: string, salt: Buffer): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(secret, salt, 32, cost, (error, key) => (error ? reject(error) : resolve(key))),
  )
