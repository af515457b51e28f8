import type { Event, EventDefinition } from '../../events/event.ts'
import { Refusal } from '../../platform/refusal.ts'
import { exactly, type FaultOf } from '../../schemas/validate.ts'

/** Limit for the JSON of the data; far below the limits of a log record and of a row of a read model. */
export const maxEventBytes = 512 * 1024

const checks = new WeakMap<EventDefinition, FaultOf>()

/**
 * Serializes the data of an event before it is recorded. Data that does not fit its schema is a defect of our rule:
 * it throws (the caller gets a 500), because events are permanent. Data that is too big comes from the request: the
 * caller gets a 413 `event.too_large` that names the field.
 */
export function toEventJson(definition: EventDefinition, { type, data }: Event): string {
  const faultOf = checks.get(definition) ?? exactly(definition.data)
  checks.set(definition, faultOf)
  const fault = faultOf(data)
  if (fault !== null) throw new Error(`${type} does not fit its schema: ${fault}`)
  const json = JSON.stringify(data)
  const bytes = Buffer.byteLength(json)
  if (bytes > maxEventBytes) throw tooBig(type, data, bytes)
  return json
}

function tooBig(type: string, data: object, bytes: number): Refusal {
  const biggest = biggestField(data)
  return new Refusal(
    'too_large',
    `${type} would take ${bytes} bytes, most of them in '${biggest}'; the limit is ${maxEventBytes}`,
    { code: 'event.too_large', data: { field: biggest, bytes, max_bytes: maxEventBytes } },
  )
}

const sizeOf = (value: unknown) => JSON.stringify(value)?.length ?? 0

/** Path of the deepest field that makes up most of its parent, such as `spec.spec.params.prompt`. */
function biggestField(value: object, above = ''): string {
  const [biggest] = Object.entries(value)
    .map(([name, field]) => ({ name, field, size: sizeOf(field) }))
    .sort((a, b) => b.size - a.size)
  if (!biggest || (above !== '' && biggest.size * 2 < sizeOf(value))) return above
  const path = above === '' ? biggest.name : `${above}.${biggest.name}`
  const { field } = biggest
  return typeof field === 'object' && field !== null ? biggestField(field, path) : path
}
