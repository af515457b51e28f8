import type { Hparams, HparamsEvent, Scalar } from '../../events/hparams.ts'
import { Refusal } from '../../platform/refusal.ts'
import { bytesOf, cutByBytes } from '../rules/cut-by-bytes.ts'

/** Most keys a run may have. */
export const maxHparams = 2000
/** Maximum size of all of them as JSON: one full request body, and as much again through changes. */
const maxTotalBytes = 2 * 1024 * 1024

/**
 * Adds keys and records changed values, in as many events as their size needs. Idempotent: repeating it appends no
 * event.
 */
export function setHparams(
  hparams: Hparams,
  run_id: string,
  params: Readonly<Record<string, Scalar>>,
): HparamsEvent[] {
  const items = Object.entries(params).flatMap(([key, to]): Item[] => {
    if (!Object.hasOwn(hparams, key)) return [{ key, to }]
    const from = hparams[key]
    return from === undefined || from === to ? [] : [{ key, from, to }]
  })
  if (items.length > 0) refuseTooMuch({ ...hparams, ...params })
  return cutByBytes(items).map(part => ({
    type: 'hparams.set',
    data: {
      run_id,
      added: Object.fromEntries(
        part.flatMap(item => ('from' in item ? [] : [[item.key, item.to]])),
      ),
      changed: part.flatMap(item => ('from' in item ? item : [])),
    },
  }))
}

/** An addition, or a change. */
type Item = { key: string; to: Scalar } | { key: string; from: Scalar; to: Scalar }

function refuseTooMuch(after: Hparams): void {
  const total = Object.keys(after).length
  if (total > maxHparams)
    throw new Refusal(
      'invalid',
      `The run would have ${total} hyperparameters; at most ${maxHparams} are allowed`,
      { code: 'hparams.too_many' },
    )
  const bytes = bytesOf(after)
  if (bytes > maxTotalBytes)
    throw new Refusal(
      'too_large',
      `The hyperparameters of the run would take ${bytes} bytes in all; the limit of 'params' is ${maxTotalBytes}`,
      { code: 'hparams.too_large', data: { field: 'params', bytes, max_bytes: maxTotalBytes } },
    )
}
