import type { Hparams, HparamsEvent, Scalar } from '../../events/hparams.ts'
import { Refusal } from '../../platform/refusal.ts'

/** Most keys a run may have. */
export const maxHparams = 2000

/** Adds keys and records changed values. Idempotent: repeating it appends no event. */
export function setHparams(
  hparams: Hparams,
  run_id: string,
  params: Readonly<Record<string, Scalar>>,
): HparamsEvent[] {
  const entries = Object.entries(params)
  const added = Object.fromEntries(entries.filter(([key]) => !Object.hasOwn(hparams, key)))
  const changed = entries.flatMap(([key, to]) => {
    const from = Object.hasOwn(hparams, key) ? hparams[key] : undefined
    return from === undefined || from === to ? [] : [{ key, from, to }]
  })
  const total = Object.keys(hparams).length + Object.keys(added).length
  if (total > maxHparams)
    throw new Refusal(
      'invalid',
      `The run would have ${total} hyperparameters; at most ${maxHparams} are allowed`,
      { code: 'hparams.too_many' },
    )
  if (Object.keys(added).length === 0 && changed.length === 0) return []
  return [{ type: 'hparams.set', data: { run_id, added, changed } }]
}
