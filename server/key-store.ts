import { join } from 'node:path'
import { type KeyStore, keyFolder } from '../auth/key-folder.ts'
import { hasKeyTable, keyTable, moveKeys } from '../auth/key-table.ts'
import { CannotStart } from '../platform/cannot-start.ts'
import type { Core } from './core.ts'
import type { Config } from './settings/config.ts'
import { readSettingFile } from './settings/secret-file.ts'

const minSecretLength = 16

/**
 * Opens the store of this installation's signing keys: the database if there is a secret to seal them with, so that
 * every host has them; otherwise the data directory. Logs what other hosts need.
 */
export async function keyStoreOf({ config, pool, logger }: Core): Promise<KeyStore> {
  const path = join(config.dataDir, 'keys')
  const secret = await secretOf(config)
  if (secret !== null) {
    await moveKeys(await keyFolder(path), pool, secret)
    return keyTable(pool, secret)
  }
  if (await hasKeyTable(pool))
    throw new CannotStart(
      'The signing keys of this installation are in its database: set SERVICE_KEYS_SECRET to the secret that the other hosts have (docs/operate/several-servers.md).',
    )
  if (config.databaseUrl !== null)
    logger.info(
      { keys: path },
      'access tokens are signed with keys from this folder: servers on other hosts need the same files, or SERVICE_KEYS_SECRET',
    )
  return await keyFolder(path)
}

async function secretOf({ keysSecret, keysSecretFile }: Config): Promise<string | null> {
  if (keysSecretFile === null) return checked(keysSecret, 'SERVICE_KEYS_SECRET')
  const text = await readSettingFile('SERVICE_KEYS_SECRET_FILE', keysSecretFile)
  return checked(text, `SERVICE_KEYS_SECRET_FILE=${keysSecretFile}`)
}

function checked(secret: string | null, from: string): string | null {
  if (secret !== null && secret.length < minSecretLength)
    throw new CannotStart(
      `${from}: the secret has ${secret.length} characters; at least ${minSecretLength} are expected, e.g. from openssl rand -base64 32`,
    )
  return secret
}
