import type { FailureCategory, Suggestion } from '../../../schemas/diagnoses.ts'
import { excerptOf, normalized } from './clean.ts'
import { type Case, type Finding, logEvidence, onRank, originOf } from './finding.ts'
import { type CaseLine, isEcho, ownFrame, rootTraceback, type Traceback } from './traceback.ts'

/** A text in the log that identifies a failure. Patterns must run in linear time: running code controls their input. */
export type Signature = {
  pattern: RegExp
  category: FailureCategory
  subcategory:
    | string
    | null
    | ((given: Case, line: CaseLine, traceback: Traceback | null) => string | null)
  blame: Finding['blame']
  confidence: number
  /** Without the place, which is appended. */
  title: string | ((match: RegExpExecArray) => string)
  cause: string
  suggest?: (given: Case, match: RegExpExecArray) => Suggestion[]
  isEcho?: true
}

/** Nearly all lines of a log are unrelated to a failure: they are read once, not once for each signature. */
const suspicious =
  /err|exception|fault|panic|fail|kill|nan\b|inf\b|infinite|time|space|quota|denied|unauthor|forbidden|gated|unable|cannot|can't|could not|cancel|oom|memory|xid|ecc\b|refused|not found|no such|no module|usage:|argument|mismatch|corrupt|unexpected|expected|preempt|invalid|alloc|abort|disconnected|bus |broken|missing|limit|exit|unpickl|node_fail|terminat|overflow|too many|reset by/i

/** How far a line may be from the last failure of the log and still count as part of it. */
const nearLines = 40

/** The findings of these signatures, one each: the line most relevant to the end counts. */
export function findingsOf(given: Case, signatures: readonly Signature[]): Finding[] {
  const root = rootTraceback(given.tracebacks)
  const best = new Map<Signature, Finding>()
  for (const line of tellingLines(given))
    for (const signature of signatures) {
      const match = signature.pattern.exec(line.text)
      if (!match) continue
      const finding = findingOf(given, { signature, match, line, root })
      // The first process that reports it is closer to the cause than later ones.
      if (finding.confidence > (best.get(signature)?.confidence ?? 0)) best.set(signature, finding)
    }
  return [...best.values()]
}

function tellingLines({ texts, tracebacks }: Case): CaseLine[] {
  const raised = new Set(tracebacks.map(({ last }) => last.seq))
  return texts.filter(({ seq, text }) => raised.has(seq) || suspicious.test(text))
}

type Hit = { signature: Signature; match: RegExpExecArray; line: CaseLine; root: Traceback | null }

function findingOf(given: Case, { signature, match, line, root }: Hit): Finding {
  const { category, subcategory, blame, confidence, title, cause } = signature
  const within = given.tracebacks.find(one => holds(one, line)) ?? null
  const origin = originOf(given, line)
  const words = typeof title === 'string' ? title : title(match)
  return {
    category,
    subcategory: typeof subcategory === 'function' ? subcategory(given, line, within) : subcategory,
    blame,
    confidence: confidence * relevance(given, line, { within, root }),
    title: `${excerptOf(words, 200)}${onRank(origin.rank)}${origin.step === null ? '' : ` at step ${origin.step}`}`,
    root_cause: cause,
    origin,
    evidence: [logEvidence(line, excerptOf(line.text), 0.6), ...frameEvidence(within)],
    suggestions: signature.suggest?.(given, match) ?? [],
    sameness: `${within ? ownFrameText(within) : ''} ${normalized(match[0])}`,
    isEcho: signature.isEcho === true || (within !== null && isEcho(within)),
  }
}

/** Messages may have several lines, and launchers print them between those of other processes. */
const holds = ({ first, last }: Traceback, { seq, node, rank }: CaseLine): boolean =>
  seq >= first.seq && seq <= last.seq + 12 && node === first.node && rank === first.rank

/** Lines printed long before the failure did not cause it, nor did lines followed by another exception. */
function relevance(
  { texts }: Case,
  { seq }: CaseLine,
  { within, root }: { within: Traceback | null; root: Traceback | null },
): number {
  if (within !== null && within === root) return 1
  if (root === null) return (texts.at(-1)?.seq ?? seq) - seq <= 5 * nearLines ? 0.95 : 0.7
  if (seq >= root.first.seq - nearLines && (within === null || within.type === root.type))
    return 0.95
  return seq > root.last.seq ? 0.9 : 0.6
}

function frameEvidence(traceback: Traceback | null) {
  if (traceback === null) return []
  const frame = ownFrame(traceback)
  if (frame === null) return []
  const { file, line, name } = frame
  return [logEvidence(traceback.first, excerptOf(`File "${file}", line ${line}, in ${name}`), 0.2)]
}

export const ownFrameText = (traceback: Traceback): string => {
  const frame = ownFrame(traceback)
  return frame === null ? '' : `${frame.file.slice(frame.file.search(/[^/\\]*$/))}:${frame.name}`
}
