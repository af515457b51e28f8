import type { Case, Finding, Rule } from './finding.ts'
import { action, setVariable, tryAgain } from './patches.ts'
import { findingsOf, type Signature } from './signatures.ts'
import type { CaseLine } from './traceback.ts'

const collective = {
  category: 'nccl_timeout',
  blame: 'unknown',
  isEcho: true,
  suggest: (given: Case) => [
    ...setVariable(given, 'NCCL_DEBUG', 'INFO'),
    ...tryAgain(given, 'node_failure'),
  ],
} as const

const waited =
  'The ranks waited for each other in a collective operation until the time limit. Look at the rank that never joined: it may have failed, be hanging, or be doing different work from the rest.'
const broke =
  'A rank lost its connection to another one. Usually the other rank has failed; sometimes the network has.'

const signatures: readonly Signature[] = [
  {
    ...collective,
    pattern: /Watchdog caught collective operation timeout|collective operation timed? ?out/i,
    subcategory: 'collective',
    confidence: 0.88,
    title: 'A collective operation timed out',
    cause: waited,
  },
  {
    ...collective,
    pattern:
      /(?:ncclSystemError|ncclRemoteError|ncclUnhandledCudaError|NCCL error|NCCL WARN .{0,200}(?:failed|timed?.?out|closed))/,
    subcategory: 'connection',
    confidence: 0.78,
    title: 'NCCL lost a connection',
    cause: broke,
  },
  {
    ...collective,
    pattern:
      /(?:Timed out (?:initializing process group|after \d{1,9} ?(?:ms|seconds) waiting for clients)|TCPStore.{0,120}timed? ?out|Socket Timeout|rendezvous.{0,80}timed? ?out|RendezvousTimeoutError|wait timeout after \d{1,9} ?ms)/i,
    subcategory: 'rendezvous',
    confidence: 0.82,
    title: 'The ranks did not find each other in time',
    cause:
      'Not all ranks joined the group before the time limit: one of them failed to start, or cannot reach the others.',
  },
  {
    ...collective,
    pattern:
      /(?:Gloo|gloo|DistBackendError|DistNetworkError).{0,300}(?:Connection (?:closed|reset|refused)|timed? ?out)/i,
    subcategory: 'connection',
    confidence: 0.74,
    title: 'A connection between ranks broke',
    cause: broke,
  },
]

type Placed = Pick<CaseLine, 'rank' | 'node'>

/** If exactly one rank with a log reports no error, the others were waiting for it. */
export function silentRank({ texts }: Pick<Case, 'texts'>): Placed | null {
  const ranks = new Map<number, Placed>()
  const complaining = new Set<number>()
  for (const line of texts) {
    if (line.rank === null) continue
    ranks.set(line.rank, line)
    if (signatures.some(({ pattern }) => pattern.test(line.text))) complaining.add(line.rank)
  }
  const silent = [...ranks].filter(([rank]) => !complaining.has(rank))
  const [only] = silent
  return only && silent.length === 1 && complaining.size > 0 ? only[1] : null
}

function atSilentRank(given: Case, finding: Finding): Finding {
  const silent = silentRank(given)
  if (silent === null) return finding
  const { rank, node } = silent
  return {
    ...finding,
    title: `${finding.title}; rank ${rank} is silent`,
    origin: { ...finding.origin, rank, node },
    confidence: Math.min(0.95, finding.confidence + 0.05),
    suggestions: [
      action(`Check what rank ${rank} did last: the others were waiting for it`),
      ...finding.suggestions,
    ],
  }
}

/** Ranks that waited without success, or lost each other. */
export const distributedRule: Rule = given =>
  findingsOf(given, signatures).map(finding => atSilentRank(given, finding))
