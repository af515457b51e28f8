import { type Environment, type Settings, text } from '../platform/settings.ts'

export type KeysConfig = {
  /** Seals the signing keys in the database; null: keys are files, unless `keysSecretFile` is set. */
  keysSecret: string | null
  /** A file that contains that secret. */
  keysSecretFile: string | null
}

export const keysSettings: Settings<KeysConfig> = {
  keysSecret: ['SERVICE_KEYS_SECRET', text(null)],
  keysSecretFile: ['SERVICE_KEYS_SECRET_FILE', text(null)],
}

/** One line if the secret is given twice. */
export const keysFaults = (env: Environment): string[] =>
  env.SERVICE_KEYS_SECRET && env.SERVICE_KEYS_SECRET_FILE
    ? ['only one of SERVICE_KEYS_SECRET and SERVICE_KEYS_SECRET_FILE is expected']
    : []
