import type { AlertFired } from '../../events/alerts.ts'
import type { JobSpec } from '../../schemas/jobs/jobspec.ts'

type Consequences = AlertFired['consequences']
type Named = { rule: string; source: 'default' | 'spec'; consequences: Consequences }

/** About the values of metrics; `keys` null: those named like a loss. */
export type MetricRule = Named & {
  key: string | null
  op: 'nonfinite' | '<' | '<=' | '>' | '>='
  value: number | null
}

/** A lasting condition; in seconds. */
export type GpuRule = Named & { below: number; for_s: number }
export type QuietRule = Named & { for_s: number }

export type Rules = {
  metrics: readonly MetricRule[]
  gpus: readonly GpuRule[]
  quiet: QuietRule
}

/** The thresholds of the default rules, which also apply to JobSpec rules that leave them out (docs/use/alerts.md). */
export const defaults = {
  /** GPUs below this utilization count as idle, in percent. */
  idleBelowPct: 10,
  idleSeconds: 1800,
  quietSeconds: 1800,
} as const

export const names = {
  nonfinite: 'loss_nonfinite',
  idle: 'gpu_idle',
  quiet: 'no_progress',
  missing: 'artifact_missing',
  diagnosis: 'diagnosis_ready',
  code: 'code',
} as const

const tell: Consequences = ['notify']
const byDefault = { source: 'default', consequences: tell } as const

const lossRule: MetricRule = {
  ...byDefault,
  rule: names.nonfinite,
  key: null,
  op: 'nonfinite',
  value: null,
}
const idleRule: GpuRule = {
  ...byDefault,
  rule: names.idle,
  below: defaults.idleBelowPct,
  for_s: defaults.idleSeconds,
}
const quiet: QuietRule = { ...byDefault, rule: names.quiet, for_s: defaults.quietSeconds }

type SpecRule = JobSpec['spec']['rules'][number]

/** The rules of a run: those of its JobSpec first, then the defaults that they do not replace. */
export function rulesOf(given: readonly SpecRule[]): Rules {
  const metrics: MetricRule[] = []
  const gpus: GpuRule[] = []
  given.forEach((one, index) => {
    const named = { rule: `rules[${index}]`, source: 'spec', consequences: one.then } as const
    if (one.when === 'metric') {
      if (isUsable(one))
        metrics.push({ ...named, key: one.key, op: one.op ?? 'nonfinite', value: one.value })
    } else
      gpus.push({
        ...named,
        below: one.below ?? defaults.idleBelowPct,
        for_s: one.for_s ?? defaults.idleSeconds,
      })
  })
  return {
    metrics: [...metrics, lossRule],
    gpus: gpus.length > 0 ? gpus : [idleRule],
    quiet,
  }
}

/** A comparison needs a number and a metric. */
const isUsable = ({ when, key, op, value }: SpecRule): boolean =>
  when !== 'metric' || op === null || op === 'nonfinite' || (value !== null && key !== null)

/** `loss`, `train/loss`, `val_loss`. */
const isLoss = (key: string) => /(?:^|[/_])loss$/.test(key)

/**
 * The rules about a metric. Only the first rule about non-finite values counts, so that there is one alert for them.
 */
export function rulesAbout({ metrics }: Rules, key: string): MetricRule[] {
  const about = metrics.filter(rule => (rule.key === null ? isLoss(key) : rule.key === key))
  const first = about.find(({ op }) => op === 'nonfinite')
  return about.filter(rule => rule.op !== 'nonfinite' || rule === first)
}

export function isMet({ op, value }: Pick<MetricRule, 'op' | 'value'>, reported: number): boolean {
  if (op === 'nonfinite') return !Number.isFinite(reported)
  if (value === null) return false
  if (op === '<') return reported < value
  if (op === '<=') return reported <= value
  return op === '>' ? reported > value : reported >= value
}
