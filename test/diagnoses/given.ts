import type { DiagnosisFacts, EndFacts } from '../../events/diagnosis-facts.ts'
import { type JobSpec, jobSpec } from '../../schemas/jobs/jobspec.ts'
import type { LogLine } from '../../schemas/logs.ts'
import { checker } from '../../schemas/validate.ts'

/** 2026-11-20T10:00:00Z, when the runs of these tests begin. */
export const beganMs = Date.UTC(2026, 10, 20, 10)

const fill = checker(jobSpec, 'body')

/** A valid JobSpec with every default filled in. */
export function specWith(spec: Record<string, unknown> = {}): JobSpec {
  const checked = fill({
    api: 'forge/v2',
    kind: 'train',
    metadata: { name: 'demo', project: 'demo' },
    lock: {
      name: 'digits',
      version: '1.0.0',
      digest: 'sha256:1',
      framework: { runtime_id: 'rt' },
    },
    spec,
  })
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors))
  return checked.value
}

const unknownEnd: EndFacts = {
  reason: 'exit_code',
  message: 'It exited with code 1',
  exit_code: 1,
  signal: null,
  oom_killed: false,
  launch_error: null,
}

type Given = Partial<Omit<DiagnosisFacts, 'end' | 'lines' | 'metrics'>> & {
  end?: Partial<EndFacts>
  /** A text, with one line a second; `rank N|` in front names the rank. */
  log?: string
  metrics?: Record<string, readonly number[]>
}

/** A job that failed with exit code 1, ten minutes after its start. */
export function factsOf({ end, log = '', metrics = {}, ...rest }: Given = {}): DiagnosisFacts {
  const spec = rest.spec === undefined ? specWith() : rest.spec
  return {
    state: 'failed',
    attempt: 1,
    spec,
    params: spec?.spec.params ?? {},
    started_ms: beganMs,
    until_ms: beganMs + 600_000,
    hardware: [],
    ...rest,
    end: { ...unknownEnd, ...end },
    lines: linesOf(log),
    metrics: Object.entries(metrics).map(([key, values]) => ({
      key,
      points: values.map((value, step) => ({ step, value, ts: beganMs + step * 1000 })),
    })),
  }
}

function linesOf(log: string): LogLine[] {
  if (log === '') return []
  return log.split('\n').map((line, index) => {
    const [, rank, text = ''] = /^(?:rank (\d+)\|)?(.*)$/s.exec(line) ?? []
    return {
      seq: index + 1,
      ts: beganMs + index * 1000,
      attempt: 1,
      node: rank === undefined ? null : `n${rank}`,
      rank: rank === undefined ? null : Number(rank),
      stream: 'stderr',
      text,
    }
  })
}

/** A traceback as Python prints it. */
export const traceback = (raised: string, ...frames: readonly [file: string, name: string][]) =>
  [
    'Traceback (most recent call last):',
    ...(frames.length > 0 ? frames : [['/job/train.py', 'main'] as const]).flatMap(
      ([file, name], index) => [`  File "${file}", line ${10 + index}, in ${name}`, '    call()'],
    ),
    raised,
  ].join('\n')
