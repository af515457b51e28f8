import type { Place } from '../../events/alerts.ts'
import { toJsonNumber } from '../../platform/series/json-number.ts'
import type { GpuRule, MetricRule, QuietRule } from './rules.ts'

type Point = Place & { value: number }

/** For instance `loss is NaN at step 182`. */
export const titleOfAlert = ({ op, value }: MetricRule, key: string, bad: Point | null): string => {
  const compared = op === 'nonfinite' ? '' : ` (${op} ${value})`
  const at = bad === null ? '' : ` at step ${bad.step}`
  return `${key} is ${bad === null ? 'not as it should be' : toJsonNumber(bad.value)}${compared}${at}`
}

export const metricRuleText = ({ op, value, rule, source }: MetricRule, key: string): string =>
  `${op === 'nonfinite' ? `${key} is not a finite number` : `${key} ${op} ${value}`}${source === 'spec' ? ` (${rule} of the JobSpec)` : ''}. The alert is resolved by a later step at which this is no longer true.`

/** For instance `30 minutes`, `90 seconds`. */
const spanOf = (seconds: number): string =>
  seconds % 60 === 0 ? plural(seconds / 60, 'minute') : plural(seconds, 'second')

const plural = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`

type Words = { title: string; text: string }

export const idleWords = ({ below, for_s }: GpuRule, from: Date, until: Date): Words => ({
  title: `All GPUs below ${below} % for ${spanOf(for_s)}`,
  text: `No GPU of the run reached a utilization of ${below} % from ${from.toISOString()} to ${until.toISOString()}.`,
})

export const quietWords = ({ for_s }: QuietRule, from: Date): Words => ({
  title: `No metrics for ${spanOf(for_s)}`,
  text: `The run is still active, but has reported no metric since ${from.toISOString()}.`,
})
