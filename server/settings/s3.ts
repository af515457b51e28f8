import type { S3Place } from '../../platform/objects/s3-bucket.ts'
import {
  address,
  BadSetting,
  type Environment,
  givenOf,
  type Reader,
  type Settings,
  text,
  withoutEffect,
} from '../../platform/settings.ts'
import { readSettingFile } from './secret-file.ts'

export type S3Config = {
  /** Null: artifact files are in the data directory. */
  s3Bucket: string | null
  /** Null: Amazon's endpoint for the region. */
  s3Endpoint: string | null
  s3Region: string
  s3KeyId: string | null
  s3Secret: string | null
  s3SecretFile: string | null
}

const bucketName: Reader<string | null> = (value, name) => {
  if (value === undefined || value === '') return null
  if (/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(value)) return value
  throw new BadSetting(
    `${name}=${value}: the name of a bucket is expected: 3 to 63 of a-z, 0-9, "." and "-"`,
  )
}

export const s3Settings: Settings<S3Config> = {
  s3Bucket: ['SERVICE_S3_BUCKET', bucketName],
  s3Endpoint: [
    'SERVICE_S3_ENDPOINT',
    address('the address of an S3 API, such as https://s3.example.org,'),
  ],
  s3Region: ['SERVICE_S3_REGION', text('us-east-1')],
  s3KeyId: ['SERVICE_S3_KEY_ID', text(null)],
  s3Secret: ['SERVICE_S3_SECRET', text(null)],
  s3SecretFile: ['SERVICE_S3_SECRET_FILE', text(null)],
}

/** Faults in the combination of S3 settings, one line each. */
export function s3Faults(env: Environment): string[] {
  const given = givenOf(s3Settings, env)
  const has = (name: string) => given.includes(name)
  if (!has('SERVICE_S3_BUCKET')) return withoutEffect(given, 'SERVICE_S3_BUCKET')
  const faults: string[] = []
  if (!has('SERVICE_S3_KEY_ID')) faults.push('SERVICE_S3_BUCKET needs SERVICE_S3_KEY_ID')
  if (has('SERVICE_S3_SECRET') === has('SERVICE_S3_SECRET_FILE'))
    faults.push('SERVICE_S3_BUCKET needs either SERVICE_S3_SECRET or SERVICE_S3_SECRET_FILE')
  return faults
}

/** Null if artifacts are in the data directory. */
export async function s3PlaceOf(config: S3Config): Promise<S3Place | null> {
  const { s3Bucket: bucket, s3Endpoint: endpoint, s3Region: region, s3KeyId: keyId } = config
  if (bucket === null || keyId === null) return null
  return { bucket, endpoint, region, keyId, secret: await secretOf(config) }
}

async function secretOf({ s3Secret, s3SecretFile }: S3Config): Promise<string> {
  return s3SecretFile === null
    ? (s3Secret ?? '')
    : await readSettingFile('SERVICE_S3_SECRET_FILE', s3SecretFile)
}
