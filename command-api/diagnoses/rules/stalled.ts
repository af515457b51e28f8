import { toTimestamp } from '../../../schemas/timestamp.ts'
import { excerptOf } from './clean.ts'
import { type Case, exitEvidence, type Finding, logEvidence, type Rule, stepAt } from './finding.ts'
import { action, setVariable } from './patches.ts'
import { findingsOf, type Signature } from './signatures.ts'

const stalled = {
  category: 'stalled',
  blame: 'unknown',
  cause:
    'The run stopped making progress without ending, usually because of a deadlock, a rank waiting for another, or data that do not arrive.',
  suggest: (given: Case) => [
    action('Inspect the stacks of the processes while it hangs (py-spy dump)'),
    ...setVariable(given, 'NCCL_DEBUG', 'INFO'),
  ],
} as const

const signatures: readonly Signature[] = [
  {
    ...stalled,
    pattern:
      /^Timeout \(\d{1,4}:\d\d:\d\d(?:\.\d{1,9})?\)!|\bno progress (?:for|since|in)\b|\b(?:hang|stall|deadlock)(?:ed)? (?:was )?detected|\bheartbeat (?:timed? ?out|lost|missing)/i,
    subcategory: 'watchdog',
    confidence: 0.9,
    title: 'A watchdog saw no progress',
  },
]

/** A shorter pause never counts as silence, in milliseconds, however often the run reported before. */
const leastSilenceMs = 3000
const timesLonger = 8
/** For a run that reached its limit: the minimum share of its time that it was silent. */
const leastShare = 0.3
const surelyMs = 600_000

function silentSince(given: Case): Finding[] {
  const isLimit = given.end.reason === 'limit' && !/cost/.test(given.end.message ?? '')
  const times = reportTimes(given)
  const last = times.at(-1) ?? given.started_ms
  if (last === null || (given.state !== 'running' && !isLimit)) return []
  const silence = given.until_ms - last
  if (silence < longEnough(given, times, isLimit)) return []
  const step = stepAt(given, last)
  const isAtStart = times.length === 0
  return [
    {
      category: 'stalled',
      subcategory: isAtStart ? 'at_start' : 'silent',
      blame: 'unknown',
      confidence: isLimit ? 0.9 : 0.6 + 0.3 * Math.min(1, silence / surelyMs),
      title: `No report for ${secondsText(silence)}${step === null ? '' : ` after step ${step}`}`,
      root_cause: stalled.cause,
      origin: { node: null, rank: null, ts: last, step },
      evidence: evidenceOf(given, last, silence),
      suggestions: stalled.suggest(given),
      sameness: isAtStart ? 'silent at start' : 'silent',
      isEcho: false,
    },
  ]
}

/** The minimum length of a silence that counts, in milliseconds. */
function longEnough(given: Case, times: readonly number[], isLimit: boolean): number {
  const unusual = Math.max(leastSilenceMs, timesLonger * usualGap(times))
  const duration = given.until_ms - (given.started_ms ?? times[0] ?? given.until_ms)
  return isLimit ? Math.max(unusual, leastShare * duration) : unusual
}

/** The times of lines and points, in order and once each, without output that the stop itself caused. */
function reportTimes({ lines, metrics, until_ms }: Case): number[] {
  const all = [
    ...lines.map(({ ts }) => ts),
    ...metrics.flatMap(({ points }) => points.map(p => p.ts)),
  ]
  return [...new Set(all)].filter(ts => ts <= until_ms).sort((a, b) => a - b)
}

/** The 90th percentile of the gaps. */
function usualGap(times: readonly number[]): number {
  const gaps = times.slice(1).map((ts, index) => ts - (times[index] ?? ts))
  return gaps.sort((a, b) => a - b)[Math.floor(0.9 * (gaps.length - 1))] ?? 0
}

function secondsText(ms: number): string {
  const seconds = Math.round(ms / 1000)
  if (seconds < 120) return `${seconds} s`
  return seconds < 7200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`
}

function evidenceOf(given: Case, last: number, silence: number): Finding['evidence'] {
  const line = given.texts.findLast(({ ts }) => ts <= given.until_ms)
  const idle = given.hardware.find(
    ({ ts, name, value, index }) => index !== null && ts > last && /util/i.test(name) && value < 5,
  )
  return [
    exitEvidence(given, `nothing was reported for ${secondsText(silence)}`, 0.7),
    ...(line ? [logEvidence(line, excerptOf(line.text), 0.3)] : []),
    ...(idle
      ? [
          {
            kind: 'hardware' as const,
            ref: { ts: toTimestamp(new Date(idle.ts)), node: idle.node, index: idle.index },
            excerpt: excerptOf(`${idle.name} = ${idle.value}`),
            weight: 0.4,
          },
        ]
      : []),
  ]
}

/** Runs that neither progress nor end. */
export const stallRule: Rule = given => [...findingsOf(given, signatures), ...silentSince(given)]
