import { byInterest } from '../../../../../schemas/metrics/interest.ts'
import type { Panel } from '../../../../../schemas/workspace.ts'
import { type Stroke, strokeAt, strokeOfRun } from '../../charts/stroke.ts'
import { axisFrom, type RunFacts, type Scalar } from '../../panels/axis.ts'
import { isWide } from '../../panels/scale.ts'
import type { Comparison } from './comparison.ts'

/** The strokes of the runs: their own in one project; by place where runs of several projects may have the same. */
export function strokesOf({ runs }: Pick<Comparison, 'runs'>): Stroke[] {
  const isOne = new Set(runs.map(({ project }) => project)).size <= 1
  return runs.map(({ short_id }, nth) => (isOne ? strokeOfRun(short_id) : strokeAt(nth)))
}

/** The runs with the hyperparameters that differ and the metrics that all of them have. */
export function factsOf(data: Comparison): RunFacts[] {
  const hparams = new Map(data.hparams.map(({ key, values }) => [key, values]))
  const metrics = new Map(data.metrics.map(row => [row.key, row]))
  const strokes = strokesOf(data)
  return data.runs.map(({ run_id, short_id, name }, nth) => ({
    ...{ runId: run_id, shortId: short_id, label: name ?? short_id },
    token: strokes[nth]?.token ?? 'curve-1',
    valueOf: text => {
      const axis = axisFrom(text)
      if ('hparam' in axis) return hparams.get(axis.hparam)?.[nth] ?? null
      return valueOfMetric(metrics.get(axis.metric), axis.of, nth)
    },
  }))
}

function valueOfMetric(
  row: Comparison['metrics'][number] | undefined,
  of: 'last' | 'min' | 'max',
  nth: number,
): Scalar {
  if (row === undefined) return null
  if (of === 'last') return row.last[nth] ?? null
  return of === row.goal ? (row.best[nth] ?? null) : null
}

/** What a comparison shows before anybody adds panels: the best of the main metric by the first hyperparameters. */
export function usualPanels({ hparams, metrics }: Comparison): Panel[] {
  const [main] = byInterest(new Map(metrics.map(({ key }) => [key, { count: 0 }])))
  const goal = metrics.find(({ key }) => key === main)?.goal
  const isNumeric = (values: readonly Scalar[]) =>
    values.filter(value => typeof value === 'number').length >= 2
  const numeric = hparams.filter(({ values }) => isNumeric(values)).map(({ key }) => key)
  const [first] = numeric
  if (main === undefined || first === undefined) return []
  const best = `${main}:${goal}`
  const axes = hparams.slice(0, 6).map(({ key }) => `hparams.${key}`)
  return [
    {
      kind: 'scatter',
      x: `hparams.${first}`,
      y: best,
      ...(isWide(hparams.find(({ key }) => key === first)?.values ?? []) && { logX: true }),
    },
    ...(axes.length > 1
      ? [{ kind: 'parallel' as const, axes: [...axes, best], colour: best, w: 3 }]
      : []),
  ]
}
