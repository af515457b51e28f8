import type { MetricFacts } from '../../../events/diagnosis-facts.ts'
import { excerptOf } from './clean.ts'
import type { Case, Finding, Rule } from './finding.ts'
import { action, clipGradients, lowerRate } from './patches.ts'
import { findingsOf, type Signature } from './signatures.ts'

const suggest = (given: Case) => [
  ...lowerRate(given),
  ...clipGradients(given),
  action('Inspect the batch of that step, and continue from an earlier checkpoint'),
]

const nonfinite = {
  category: 'loss_nonfinite',
  blame: 'user',
  cause:
    'A value that is infinite or not a number reached the weights, usually because of too large a step, a division by zero, or an overflow of 16-bit numbers.',
  suggest,
} as const

const divergence = {
  category: 'loss_divergence',
  blame: 'user',
  cause:
    'The loss grew instead of falling, usually because the learning rate is too high or the data are bad.',
  suggest,
} as const

const signatures: readonly Signature[] = [
  {
    ...nonfinite,
    pattern:
      /\b(?:loss|grad(?:ient)?s?(?:[ _]norm)?|logits|weights?|reward)\b.{0,60}\b(?:is|are|was|became|=|:|contains?)\s{0,3}(?:a |an )?(?:nan|inf(?:inite)?|non-?finite|not finite|not a number)\b/i,
    subcategory: 'reported',
    confidence: 0.9,
    title: 'A loss or a gradient is not finite',
  },
  {
    ...nonfinite,
    pattern:
      /\b(?:non-?finite|nan|infinite)[ _](?:loss|gradients?|values?|weights)\b|FloatingPointError|returned nan values in its \d{1,3}th output|Current loss scale already at minimum|probability tensor contains either `?inf`?, `?nan`?/i,
    subcategory: 'reported',
    confidence: 0.9,
    title: 'A loss or a gradient is not finite',
  },
  {
    ...divergence,
    pattern:
      /\bloss\b.{0,40}\b(?:diverg|explod)|\b(?:diverg|explod)\w{0,6}\b.{0,40}\bloss\b|training (?:has )?diverged/i,
    subcategory: 'reported',
    confidence: 0.86,
    title: 'The loss diverged',
  },
]

const ofLosses = /(?:^|[/_.\s-])(?:loss|nll|ppl|perplexity|grad_?norm|cross_?entropy|objective)/i

function nonfiniteSeries(given: Case): Finding[] {
  const found = given.metrics.flatMap(metric => {
    const point = metric.points.find(({ value }) => !Number.isFinite(value))
    return point ? [{ key: metric.key, point, isLoss: ofLosses.test(metric.key) }] : []
  })
  found.sort((a, b) => Number(b.isLoss) - Number(a.isLoss) || a.point.ts - b.point.ts)
  const [first] = found
  if (!first) return []
  const { key, point, isLoss } = first
  return [
    {
      category: 'loss_nonfinite',
      subcategory: Number.isNaN(point.value) ? 'nan' : 'infinite',
      blame: 'user',
      confidence: isLoss ? 0.92 : 0.6,
      title: `${excerptOf(key, 80)} is ${shown(point.value)} at step ${point.step}`,
      root_cause: nonfinite.cause,
      origin: { node: null, rank: null, ts: point.ts, step: point.step },
      evidence: found.slice(0, 3).map(({ key, point: { step, value } }) => ({
        kind: 'metric' as const,
        ref: { key, step },
        excerpt: excerptOf(`${key} = ${shown(value)}`),
        weight: 0.7,
      })),
      suggestions: suggest(given),
      sameness: `${key} nonfinite`,
      isEcho: false,
    },
  ]
}

const shown = (value: number) => (Number.isNaN(value) ? 'NaN' : String(value))

const leastPoints = 8
const timesLarger = 10

/** A final loss many times larger than the best one, and larger than the first. */
function divergedSeries(given: Case): Finding[] {
  return given.metrics.flatMap(metric => {
    const rise = riseOf(metric)
    if (rise === null) return []
    const { best, last } = rise
    return [
      {
        category: 'loss_divergence' as const,
        subcategory: 'grew',
        blame: 'user' as const,
        confidence: 0.6,
        title: `${excerptOf(metric.key, 80)} grew from ${short(best.value)} at step ${best.step} to ${short(last.value)} at step ${last.step}`,
        root_cause: divergence.cause,
        origin: { node: null, rank: null, ts: best.ts, step: best.step },
        evidence: [best, last].map(({ step, value }) => ({
          kind: 'metric' as const,
          ref: { key: metric.key, step },
          excerpt: excerptOf(`${metric.key} = ${short(value)}`),
          weight: 0.5,
        })),
        suggestions: suggest(given),
        sameness: `${metric.key} grew`,
        isEcho: false,
      },
    ]
  })
}

const short = (value: number) => String(Number(value.toPrecision(4)))

function riseOf({ key, points }: MetricFacts) {
  const finite = points.filter(({ value }) => Number.isFinite(value))
  const [first] = finite
  const last = finite.at(-1)
  if (!ofLosses.test(key) || finite.length < leastPoints || !first || !last) return null
  const best = finite.reduce((least, point) => (point.value < least.value ? point : least))
  const hasRisen = best.value > 0 && last.value > timesLarger * best.value
  return hasRisen && last.value > 1.5 * first.value ? { best, last } : null
}

/** Losses that are not finite, or that grow. */
export const numberRule: Rule = given => [
  ...findingsOf(given, signatures),
  ...nonfiniteSeries(given),
  ...divergedSeries(given),
]
