/**
 * The operations of the load, and the registers that each writes. The API promises that a register holds one
 * value: a point, a line of a log, a rubric, a parameter, a run.
 */
export type Operation =
  | {
      kind: 'metrics'
      run: string
      keys: readonly string[]
      first_step: number
      steps: number
      /** Operations with the same salt write the same values to the same cells. */
      salt: number
    }
  | { kind: 'logs'; run: string; seq: number; lines: number }
  | { kind: 'hparams'; run: string; params: Readonly<Record<string, number>> }
  | { kind: 'rubric'; owner: string; name: string; salt: number }
  | { kind: 'run'; project: string; name: string }

export type Write = { register: string; value: string }

/** Operations on one subject are sent one after another and checked together. */
export function subjectOf(operation: Operation): string {
  switch (operation.kind) {
    case 'metrics':
    case 'logs':
    case 'hparams':
      return `${operation.kind} ${operation.run}`
    case 'rubric':
      return `rubric ${operation.owner}/${operation.name}`
    case 'run':
      return `runs ${operation.project}`
  }
}

export function writesOf(operation: Operation): Write[] {
  switch (operation.kind) {
    case 'metrics':
      return pointsOf(operation).map(({ key, step, value }) => ({
        register: pointRegister(key, step),
        value: String(value),
      }))
    case 'logs':
      return linesOf(operation).map(line => ({ register: line, value: 'written' }))
    case 'hparams':
      return Object.entries(operation.params).map(([name, value]) => ({
        register: name,
        value: String(value),
      }))
    case 'rubric':
      return [{ register: 'description', value: String(operation.salt) }]
    case 'run':
      return [{ register: operation.name, value: 'created' }]
  }
}

export const pointRegister = (key: string, step: number) => `${key} at ${step}`

export type Point = { key: string; step: number; value: number }

export function pointsOf(operation: Extract<Operation, { kind: 'metrics' }>): Point[] {
  const points: Point[] = []
  for (let offset = 0; offset < operation.steps; offset++)
    for (const [index, key] of operation.keys.entries()) {
      const step = operation.first_step + offset
      points.push({ key, step, value: valueAt(operation.salt, index, step) })
    }
  return points
}

/** A value that identifies its writer, exact as a double and in JSON. */
const valueAt = (salt: number, key: number, step: number): number =>
  salt + ((step * 31 + key * 7) % 1024) / 1024

export const linesOf = ({ run, seq, lines }: { run: string; seq: number; lines: number }) =>
  Array.from({ length: lines }, (_, line) => `${run} batch ${seq} line ${line}`)
