import { hash } from 'node:crypto'
import type { SweepInput, SweepParam } from '../../schemas/plans.ts'

export type Params = Record<string, unknown>

/** The parameters of each run: every combination, the last parameter changing fastest, or as many draws as asked for. */
export function assignmentsOf({ method, params, count = 1, seed }: SweepInput): Params[] {
  const named = Object.entries(params)
  if (method === 'random')
    return Array.from({ length: count }, (_, nth) =>
      Object.fromEntries(named.map(([name, param]) => [name, drawn(param, { seed, nth, name })])),
    )
  return named.reduce<Params[]>(
    (before, [name, { values = [] }]) =>
      before.flatMap(one => values.map(value => ({ ...one, [name]: value }))),
    [{}],
  )
}

/** Without making the list, which may be huge. */
export const countRuns = ({ method, params, count = 1 }: SweepInput): number =>
  method === 'random'
    ? count
    : Object.values(params).reduce((all, { values = [] }) => all * values.length, 1)

type Draw = { seed: number; nth: number; name: string }

function drawn({ values, min = 0, max = 0, scale, integer }: SweepParam, of: Draw): unknown {
  const share = fraction(of)
  if (values) return values[Math.floor(share * values.length)]
  // An integer range includes its end.
  const end = integer ? max + 1 : max
  const value =
    scale === 'log'
      ? Math.exp(Math.log(min) + share * (Math.log(end) - Math.log(min)))
      : min + share * (end - min)
  return integer ? Math.min(max, Math.floor(value)) : value
}

/** In [0, 1), the same on every machine and in every version: hashed, not drawn from a generator with a state. */
const fraction = ({ seed, nth, name }: Draw): number =>
  Number.parseInt(hash('sha256', `${seed}/${nth}/${name}`).slice(0, 13), 16) / 2 ** 52
