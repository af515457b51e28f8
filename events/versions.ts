import { type TInteger, type TObject, type TString, Type } from 'typebox'
import { type EventDefinition, event } from './event.ts'

// Events of named things with versions, such as datasets and RL environments.

export const named = { owner: Type.String(), name: Type.String() }
type Named = typeof named

/** A version should not be used any more; jobs that name it are still admitted. */
export function versionDeprecated<const N extends string, V extends TInteger | TString>(
  type: N,
  noun: string,
  version: V,
): EventDefinition<N, TObject<Named & { version: V; reason: TString }>>
export function versionDeprecated(type: string, noun: string, version: TInteger | TString) {
  return event(
    type,
    Type.Object({ ...named, version, reason: Type.String() }),
    (data, who) =>
      `${who} deprecated version ${data.version} of the ${noun} ${data.owner}/${data.name}: ${data.reason}`,
  )
}

/** A version was deleted; its number stays taken. */
export function versionDeleted<const N extends string, V extends TInteger | TString>(
  type: N,
  noun: string,
  version: V,
): EventDefinition<N, TObject<Named & { version: V }>>
export function versionDeleted(type: string, noun: string, version: TInteger | TString) {
  return event(
    type,
    Type.Object({ ...named, version }),
    (data, who) =>
      `${who} deleted version ${data.version} of the ${noun} ${data.owner}/${data.name}`,
  )
}
