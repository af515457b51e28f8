import type { DiagnosisFacts } from '../../../events/diagnosis-facts.ts'
import { maxEvidence, type Suggestion, type Verdict } from '../../../schemas/diagnoses.ts'
import { isOfForge, type LogLine } from '../../../schemas/logs.ts'
import { toTimestamp } from '../../../schemas/timestamp.ts'
import { whyEnded } from '../../../schemas/why-ended.ts'
import { clip, excerptOf, plain } from './clean.ts'
import { dataRule } from './data.ts'
import { deviceRule } from './devices.ts'
import { distributedRule } from './distributed.ts'
import { endingRule } from './endings.ts'
import { exceptionRule } from './exceptions.ts'
import {
  type Case,
  exitEvidence,
  type Finding,
  logEvidence,
  nowhere,
  type Rule,
  stepAt,
} from './finding.ts'
import { memoryRule } from './memory.ts'
import { numberRule } from './numbers.ts'
import { stallRule } from './stalled.ts'
import { startupRule } from './startup.ts'
import { storageRule } from './storage.ts'
import { type CaseLine, tracebacksIn } from './traceback.ts'

/** The version of the rules: the month in which they last changed. */
export const rulesVersion = '2026.11'

/** One file for each family; among findings of equal confidence, the first counts. */
const rules: readonly Rule[] = [
  memoryRule,
  deviceRule,
  storageRule,
  dataRule,
  startupRule,
  numberRule,
  distributedRule,
  stallRule,
  endingRule,
  exceptionRule,
]

/** `sameness` is hashed into the fingerprint. */
export type Judged = Omit<Verdict, 'fingerprint'> & { sameness: string }

/** Why a run failed or makes no progress, as far as the rules know. Pure. */
export function diagnose(facts: DiagnosisFacts): Judged {
  const given = caseOf(facts)
  const findings = (facts.state === 'succeeded' ? [numberRule] : rules)
    .flatMap(rule => rule(given))
    .sort((a, b) => b.confidence - a.confidence)
  const best = mostLikely(findings) ?? nothingFound(given)
  return toJudged(best, [best, ...findings.filter(({ category }) => category === best.category)])
}

/** Maximum characters of a line that rules read: patterns need not be fast on longer lines. */
const maxText = 1000

function caseOf(facts: DiagnosisFacts): Case {
  const texts = facts.lines.map(caseLine).filter(({ text }) => !isOfForge(text))
  return { ...facts, texts, tracebacks: tracebacksIn(texts) }
}

/** Launchers put the rank before each line. */
const rankPrefix = /^\[(?:rank|default)(\d{1,6})\]:\s?/

function caseLine({ attempt: _, ...line }: LogLine): CaseLine {
  const text = plain(clip(line.text, maxText))
  const prefix = rankPrefix.exec(text)
  if (!prefix) return { ...line, text }
  const [whole, rank] = prefix
  return { ...line, text: text.slice(whole.length), rank: line.rank ?? Number(rank) }
}

const likely = 0.5

/** A failure that may be a consequence of another counts as the cause only if nothing else is likely. */
const mostLikely = (findings: readonly Finding[]): Finding | null =>
  findings.find(({ isEcho, confidence }) => !isEcho && confidence >= likely) ?? findings[0] ?? null

/** Notifications show it, so it is what the page of the run says if the program gave a reason. */
function howItEnded({ end: { reason: end_reason, ...end } }: Case, code: string): string {
  const why = end.message === null ? null : whyEnded({ ...end, end_reason, state: 'failed' })
  return why ?? `The cause was not found${code === '' ? '' : ` (${code})`}`
}

const shownLines = 5

function nothingFound(given: Case): Finding {
  const { end, state } = given
  const step = stepAt(given, given.until_ms)
  const last = given.texts.at(-1)
  const tail = given.texts
    .slice(-shownLines)
    .map(({ text }) => text)
    .join('\n')
  const isFine = state === 'succeeded' || state === 'running' || state === 'pending'
  const words = [end.reason, end.signal, end.message].filter(word => word !== null).join('; ')
  const code = end.exit_code === null ? '' : `exit code ${end.exit_code}`
  return {
    category: 'unknown',
    subcategory: null,
    blame: 'unknown',
    confidence: isFine ? 0.5 : 0.1,
    title: isFine ? `No problem was found: the run ${howItIs(state)}` : howItEnded(given, code),
    root_cause: isFine
      ? 'Neither its log nor its metrics show a failure.'
      : 'The log and the metrics show no failure that the rules know. The last lines of the log may say more.',
    origin: { ...nowhere, ts: given.until_ms, step },
    evidence: [
      ...(words === '' && code === ''
        ? []
        : [exitEvidence(given, excerptOf(`${words} ${code}`), 0.5)]),
      ...(last ? [logEvidence(last, excerptOf(tail), 0.2)] : []),
    ],
    suggestions: [],
    sameness: `${end.reason} ${end.exit_code} ${end.signal}`,
    isEcho: false,
  }
}

const maxSuggestions = 5

function toJudged(best: Finding, agreeing: readonly Finding[]): Judged {
  const { isEcho: _, origin, confidence, sameness, ...told } = best
  const { ts, ...place } = origin
  return {
    ...told,
    confidence: Number(confidence.toFixed(2)),
    title: clip(told.title, 300),
    root_cause: clip(told.root_cause, 1000),
    origin: { ...place, at: ts === null ? null : toTimestamp(new Date(ts)) },
    evidence: distinct(agreeing.flatMap(({ evidence }) => evidence)).slice(0, maxEvidence),
    suggestions: distinctTitles(best.suggestions).slice(0, maxSuggestions),
    sameness: `${told.category} ${told.subcategory ?? ''} ${sameness}`.toLowerCase(),
  }
}

const distinct = (evidence: Finding['evidence']): Finding['evidence'] =>
  [...new Map(evidence.toReversed().map(one => [JSON.stringify(one.ref), one])).values()].reverse()

const distinctTitles = (all: readonly Suggestion[]): Suggestion[] => [
  ...new Map(all.map(one => [one.title, one])).values(),
]

const howItIs = (state: string) => (state === 'succeeded' ? 'has succeeded' : `is ${state}`)
