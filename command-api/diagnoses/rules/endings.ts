import { excerptOf } from './clean.ts'
import { type Case, exitEvidence, type Finding, nowhere, type Rule, stepAt } from './finding.ts'
import { action, longerLimit, tryAgain } from './patches.ts'
import { findingsOf, type Signature } from './signatures.ts'

const signatures: readonly Signature[] = [
  {
    category: 'preempted',
    pattern:
      /DUE TO PREEMPTION|\bpreempted\b.{0,60}(?:node|instance|job|by)|(?:node|instance|job|VM) .{0,60}\bpreempted\b|Spot (?:instance )?interruption/i,
    subcategory: null,
    blame: 'platform',
    confidence: 0.93,
    title: 'The machine was reclaimed for other work',
    cause: 'Another job with a higher priority, or the provider, took the machine.',
    suggest: given => tryAgain(given, 'preemption'),
  },
  {
    category: 'timeout',
    pattern:
      /DUE TO TIME LIMIT|\bDeadlineExceeded\b|exceeded (?:the )?(?:maximum )?(?:wall(?:time)?|run ?time|time limit)/i,
    subcategory: 'time_limit',
    blame: 'user',
    confidence: 0.93,
    title: 'The time limit was reached',
    cause: 'The job ran for as long as it was allowed.',
    suggest: given => longerLimit(given, 'max_duration_s'),
  },
]

type Ended = Pick<
  Finding,
  'category' | 'subcategory' | 'blame' | 'confidence' | 'title' | 'root_cause' | 'suggestions'
>

function ended(given: Case, told: Ended): Finding {
  const step = stepAt(given, given.until_ms)
  const { reason, message, signal, exit_code } = given.end
  const words = [reason, signal, exit_code === null ? null : `exit code ${exit_code}`, message]
  return {
    ...told,
    title: `${told.title}${step === null ? '' : ` after step ${step}`}`,
    origin: { ...nowhere, ts: given.until_ms, step },
    evidence: [exitEvidence(given, excerptOf(words.filter(word => word !== null).join('; ')), 0.8)],
    sameness: `${told.category} ${told.subcategory}`,
    isEcho: false,
  }
}

function limits(given: Case): Finding[] {
  const { reason, message } = given.end
  if (reason === 'preemption')
    return [
      ended(given, {
        category: 'preempted',
        subcategory: null,
        blame: 'platform',
        confidence: 0.95,
        title: 'The machine was reclaimed for other work',
        root_cause: 'Another job with a higher priority took its GPUs.',
        suggestions: tryAgain(given, 'preemption'),
      }),
    ]
  if (reason === 'max_pending' || /max_pending/.test(message ?? ''))
    return [
      ended(given, {
        category: 'timeout',
        subcategory: 'max_pending',
        blame: 'platform',
        confidence: 0.97,
        title: 'It waited too long to start',
        root_cause: 'No capacity became free for the job within spec.limits.max_pending_s.',
        suggestions: [
          ...longerLimit(given, 'max_pending_s'),
          action('Ask for fewer GPUs, or for another profile'),
        ],
      }),
    ]
  if (reason !== 'limit') return []
  const isCost = /cost/.test(message ?? '')
  return [
    ended(given, {
      category: 'timeout',
      subcategory: isCost ? 'max_cost' : 'max_duration',
      blame: 'user',
      confidence: 0.85,
      title: isCost ? 'Its maximum cost was reached' : 'Its maximum duration was reached',
      root_cause: `The job was stopped because ${excerptOf(message ?? 'a limit of its spec was reached', 200)}.`,
      suggestions: isCost
        ? [action('Raise spec.limits.max_cost')]
        : longerLimit(given, 'max_duration_s'),
    }),
  ]
}

/** Signals of a program's own crash; all others come from outside. */
const crashes = ['SIGSEGV', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGILL', 'SIGTRAP', 'SIGSYS']
const byCode: Record<number, string> = {
  134: 'SIGABRT',
  135: 'SIGBUS',
  136: 'SIGFPE',
  132: 'SIGILL',
  137: 'SIGKILL',
  139: 'SIGSEGV',
  143: 'SIGTERM',
  130: 'SIGINT',
}

function signals(given: Case): Finding[] {
  const { end } = given
  if (end.reason === 'user')
    return [
      ended(given, {
        category: 'killed',
        subcategory: 'stopped',
        blame: 'user',
        confidence: 0.9,
        title: 'A person stopped it',
        root_cause: `The run was stopped on request${end.message === null ? '' : `: ${excerptOf(end.message, 200)}`}.`,
        suggestions: [],
      }),
    ]
  const signal = end.signal ?? byCode[end.exit_code ?? 0] ?? null
  if (signal === null || signal === 'SIGXFSZ') return []
  if (crashes.includes(signal))
    return [
      ended(given, {
        category: 'code_exception',
        subcategory: 'native',
        blame: 'user',
        confidence: 0.62,
        title: `The program crashed (${signal})`,
        root_cause: 'Native code of the program or of one of its libraries crashed.',
        suggestions: [action('Run it with PYTHONFAULTHANDLER=1 to see where')],
      }),
    ]
  const isKill = signal === 'SIGKILL'
  return [
    ended(given, {
      category: 'killed',
      subcategory: signal.toLowerCase(),
      blame: 'unknown',
      confidence: isKill ? 0.75 : 0.6,
      title: `It was killed from outside (${signal})`,
      root_cause: isKill
        ? 'It was killed from outside. If the kernel did so for lack of memory, the log does not show it.'
        : `The process was asked to end by ${signal}, which did not come from Forge.`,
      suggestions: [action('Ask the administrator of the machine; retry the job')],
    }),
  ]
}

/** Findings from the end of the process alone. */
export const endingRule: Rule = given => [
  ...findingsOf(given, signatures),
  ...limits(given),
  ...signals(given),
]
