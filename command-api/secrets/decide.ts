import type { Secret, SecretEvent, SecretName } from '../../events/secrets.ts'
import { Refusal } from '../../platform/refusal.ts'

/** Every call counts: whether the value is the current one is not compared. */
export const setSecret = (name: SecretName): SecretEvent[] => [{ type: 'secret.set', data: name }]

export function removeSecret(secret: Secret, name: SecretName): SecretEvent[] {
  if (!secret) throw new Refusal('not_found', `No such secret: ${name.name}`)
  return [{ type: 'secret.removed', data: name }]
}
