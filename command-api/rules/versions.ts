import { Refusal } from '../../platform/refusal.ts'

// Named things with versions, such as datasets and RL environments.

type Name = { owner: string; name: string }
type Version = {
  version: number | string
  state: string
  deprecated_reason: string | null
  is_deleted: boolean
}
type Versioned<V extends Version> = Name & { versions: readonly V[] }
type Noun = 'dataset' | 'environment'

export function existing<T>(noun: Noun, thing: T | null, { owner, name }: Name): T {
  if (!thing) throw new Refusal('not_found', `No such ${noun}: ${owner}/${name}`)
  return thing
}

export function versionOf<V extends Version>(
  noun: Noun,
  thing: Versioned<V> | null,
  named: Name & Pick<V, 'version'>,
): V {
  const { owner, name, versions } = existing(noun, thing, named)
  const found = versions.find(one => one.version === named.version && !one.is_deleted)
  if (!found)
    throw new Refusal('not_found', `The ${noun} ${owner}/${name} has no version ${named.version}`)
  return found
}

/** Idempotent; refuses for a version that is not ready. */
export function deprecateVersion<N extends Noun, V extends Version>(
  noun: N,
  thing: Versioned<V> | null,
  data: Name & Pick<V, 'version'> & { reason: string },
) {
  const { version, state, deprecated_reason } = versionOf(noun, thing, data)
  if (state !== 'ready' && state !== 'deprecated')
    throw new Refusal(
      'conflict',
      `Version ${version} of ${data.owner}/${data.name} is ${state}; only ready ones can be deprecated`,
      { code: `${noun}.not_ready` },
    )
  if (state === 'deprecated' && deprecated_reason === data.reason) return []
  return [{ type: `${noun}.deprecated` as const, data }]
}

export function deleteVersion<N extends Noun, V extends Version>(
  noun: N,
  thing: Versioned<V> | null,
  data: Name & Pick<V, 'version'>,
) {
  versionOf(noun, thing, data)
  return [{ type: `${noun}.version_deleted` as const, data }]
}
