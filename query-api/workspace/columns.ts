import { at } from '../../platform/series/varint.ts'
import type { ProjectSeries } from '../../schemas/series.ts'
import type { CurvesOfKey } from '../rules/curves.ts'
import { type Curve, meanOf } from '../rules/grid.ts'
import { combine } from './combine.ts'
import { lastOfGroup } from './last-values.ts'

type OfKey = ProjectSeries['keys'][number]
type Columns = Omit<OfKey['curves'][number], 'of' | 'x'> & { positions: number[] }

/** The curves of a key, one for each run. */
export function curvesOfRuns({ key, grid, curves }: CurvesOfKey, withExtremes: boolean): OfKey {
  const drawn = curves.flatMap((curve, of) =>
    curve ? [{ of, ...columnsOf(curve, withExtremes) }] : [],
  )
  return { key, width: grid?.width ?? 0, ...sharingPositions(drawn) }
}

/** The curves of a key, one for each group; `groups` hold indexes of runs, `last` the last value of each run. */
export function curvesOfGroups(
  { key, grid, curves }: CurvesOfKey,
  groups: readonly (readonly number[])[],
  { band, last }: { band: 'minmax' | 'std'; last: readonly number[] },
): OfKey {
  const drawn = groups.flatMap((runs, of) => {
    const found = runs.flatMap(run => curves[run] ?? [])
    if (found.length === 0) return []
    const { x, mean, low, high, runs: counted } = combine(found, band)
    return [
      {
        ...{ of, positions: x, runs: counted, last: lastOfGroup(last, runs) },
        ...{ mean: mean.map(rounded), low: low.map(rounded), high: high.map(rounded) },
      },
    ]
  })
  return { key, width: grid?.width ?? 0, ...sharingPositions(drawn) }
}

function columnsOf(curve: Curve, withExtremes: boolean): Columns {
  const filled: number[] = []
  for (let b = 0; b < curve.x.length; b++)
    if (at(curve.x, b) !== Number.NEGATIVE_INFINITY) filled.push(b)
  const columns = {
    positions: filled.map(b => at(curve.x, b)),
    mean: filled.map(b => rounded(meanOf(curve, b))),
  }
  if (!withExtremes) return columns
  return {
    ...columns,
    low: filled.map(b => rounded(at(curve.min, b))),
    high: filled.map(b => rounded(at(curve.max, b))),
  }
}

/** A new list of positions is compared with this many earlier ones: runs of a sweep mostly report at the same steps. */
const compared = 8

function sharingPositions(drawn: (Columns & { of: number })[]): Pick<OfKey, 'x' | 'curves'> {
  const x: number[][] = []
  const curves = drawn.map(({ positions, ...curve }) => {
    const from = Math.max(0, x.length - compared)
    const known = x.findIndex((other, i) => i >= from && isSame(other, positions))
    if (known < 0) x.push(positions)
    return { ...curve, x: known < 0 ? x.length - 1 : known }
  })
  return { x, curves }
}

const isSame = (a: readonly number[], b: readonly number[]) =>
  a.length === b.length && a.every((one, i) => one === b[i])

/** Seven significant digits, as many as cells store and more than a chart shows; null unless finite. */
export function rounded(value: number): number | null {
  if (!Number.isFinite(value)) return null
  const size = Math.abs(value)
  // Powers of ten are exact to 22, so that the quotient is the nearest number to its decimal digits.
  if (size >= 1e22 || size < 1e-15) return value === 0 ? 0 : Number(value.toPrecision(7))
  if (size < scale.from || size >= scale.to) scale = scaleOf(size)
  const { power } = scale
  return scale.isWhole ? Math.round(value / power) * power : Math.round(value * power) / power
}

/** For numbers from `from` to below `to`: the power of ten by which they have seven digits before the point. */
type Scale = { from: number; to: number; power: number; isWhole: boolean }

function scaleOf(size: number): Scale {
  const exponent = Math.floor(Math.log10(size))
  const power = 10 ** Math.abs(6 - exponent)
  return { from: 10 ** exponent, to: 10 ** (exponent + 1), power, isWhole: exponent > 6 }
}

// That of the last number: neighbours mostly have the same, and a logarithm costs more than all the rest.
let scale: Scale = scaleOf(1)
