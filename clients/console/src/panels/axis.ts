export type Scalar = string | number | boolean | null

/** A run, with the values that panels place it by. */
export type RunFacts = {
  runId: string
  shortId: string
  label: string
  /** The token of its colour. */
  token: string
  /** The value of a hyperparameter or metric; null if the run has none. */
  valueOf: (axis: string) => Scalar
}

export type Axis = { hparam: string } | { metric: string; of: 'last' | 'min' | 'max' }

/** `hparams.<key>`, or of a metric `<key>:last`, `<key>:min` or `<key>:max`; `last` if it says neither. */
export function axisFrom(text: string): Axis {
  const [, hparam] = /^hparams\.(.+)$/s.exec(text) ?? []
  if (hparam !== undefined) return { hparam }
  const [, metric, of] = /^(.+):(last|min|max)$/s.exec(text) ?? []
  return metric !== undefined && (of === 'last' || of === 'min' || of === 'max')
    ? { metric, of }
    : { metric: text, of: 'last' }
}

/** The name of an axis: of a metric's last value, the metric alone. */
export function nameOfAxis(text: string): string {
  const axis = axisFrom(text)
  if ('hparam' in axis) return axis.hparam
  return axis.of === 'last' ? axis.metric : `${axis.metric} (${axis.of})`
}

/** The metrics and hyperparameters that some axes need. */
export function neededBy(axes: readonly string[]): { metrics: string[]; hparams: string[] } {
  const parsed = axes.map(axisFrom)
  return {
    metrics: [...new Set(parsed.flatMap(one => ('metric' in one ? one.metric : [])))].sort(),
    hparams: [...new Set(parsed.flatMap(one => ('hparam' in one ? one.hparam : [])))].sort(),
  }
}
