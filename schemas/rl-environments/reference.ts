import { Type } from 'typebox'

/** Numbers compare as numbers: 0.10.0 is newer than 0.9.0. */
const semverPattern = '[0-9]{1,9}\\.[0-9]{1,9}\\.[0-9]{1,9}(?:-[0-9A-Za-z.-]{1,40})?'

export const semver = () => Type.String({ pattern: `^${semverPattern}$` })

export const reference = {
  owner: () => Type.String({ minLength: 1, maxLength: 128 }),
  name: () => Type.String({ pattern: '^[a-z0-9][a-z0-9_.-]{0,62}$' }),
  whole: () =>
    Type.String({ maxLength: 256, pattern: `^[^/@]{1,128}/[^/@]{1,128}@${semverPattern}$` }),
}

export type EnvironmentName = { owner: string; name: string }
export type EnvironmentVersion = EnvironmentName & { version: string }

const whole = new RegExp(`^([^/@]{1,128})/([^/@]{1,128})@(${semverPattern})$`)

/** Parses `owner/name@0.2.1`; null for anything else. */
export function parseEnvironmentReference(ref: string): EnvironmentVersion | null {
  const [, owner, name, version] = whole.exec(ref) ?? []
  return owner && name && version ? { owner, name, version } : null
}

export const environmentReference = ({ owner, name, version }: EnvironmentVersion): string =>
  `${owner}/${name}@${version}`

/** Newest last; a pre-release comes before its release. */
export function compareVersions(a: string, b: string): number {
  const [ofA, ofB] = [partsOf(a), partsOf(b)]
  for (const [index, number] of ofA.numbers.entries()) {
    const difference = number - (ofB.numbers[index] ?? 0)
    if (difference !== 0) return difference
  }
  if (ofA.pre === ofB.pre) return 0
  if (ofA.pre === '' || ofB.pre === '') return ofA.pre === '' ? 1 : -1
  return ofA.pre.localeCompare(ofB.pre, 'en', { numeric: true })
}

function partsOf(version: string): { numbers: number[]; pre: string } {
  const [release = '', ...pre] = version.split('-')
  return { numbers: release.split('.').map(Number), pre: pre.join('-') }
}
