import type { Artifact } from '../../../../schemas/artifacts/artifacts.ts'
import { type Api, segment } from '../../api/client.ts'
import type { RunRecord } from '../../api/records.ts'
import { type ExitCode, exitCode, Failure } from '../../program/failure.ts'
import { amount, duration, size, toNumber } from '../../terminal/amounts.ts'
import type { Paint } from '../../terminal/terminal.ts'
import { oneLine } from '../../terminal/width.ts'
import { marked } from '../marked.ts'
import { elapsedSeconds, type Picture, timeline } from './picture.ts'
import { paintState } from './view.ts'

/** Summary of an ended run. */
export type Outcome = {
  run_id: string
  short_id: string
  state: string
  state_reason: string | null
  exit_code: number | null
  /** Null: it succeeded, or the server did not say. */
  why: string | null
  message: string | null
  duration_s: number
  stages: { state: string; seconds: number }[]
  /** The last `test/…` values or, without any, the last loss and accuracy. */
  results: Record<string, number | string>
  artifacts: Artifact[]
  url: string
}

export async function outcomeOf(api: Api, picture: Picture): Promise<Outcome> {
  const [run, artifacts] = await Promise.all([
    finalRecord(api, picture),
    api.find<Artifact[]>(`/api/jobs/${segment(picture.runId)}/artifacts`),
  ])
  const nowMs = picture.endedMs ?? 0
  return {
    run_id: picture.runId,
    short_id: picture.shortId,
    state: picture.state,
    state_reason: picture.reason,
    exit_code: picture.exitCode ?? run?.exit_code ?? null,
    why: run?.why ?? null,
    message: run?.message ?? null,
    duration_s: elapsedSeconds(picture, nowMs),
    stages: timeline(picture, nowMs),
    results: resultsOf(run?.summary ?? {}),
    artifacts: artifacts ?? [],
    url: picture.url,
  }
}

/** The run's record; null if it cannot be read, so that the rest of the outcome is still shown. */
async function finalRecord(api: Api, picture: Picture): Promise<RunRecord | null> {
  try {
    return await api.get<RunRecord>(`/api/runs/${segment(picture.runId)}`)
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

function resultsOf(summary: RunRecord['summary']): Outcome['results'] {
  const keys = Object.keys(summary).sort()
  const tested = keys.filter(key => /^test[/_]/.test(key))
  const telling = keys.filter(key => /(^|[/_])(loss|acc|accuracy|reward)$/.test(key))
  const chosen = tested.length > 0 ? tested : telling
  return Object.fromEntries(
    chosen.slice(0, 12).flatMap(key => {
      const last = summary[key]?.last
      return last === undefined ? [] : [[key, last]]
    }),
  )
}

export const exitCodeOf = ({ state }: Outcome): ExitCode =>
  state === 'succeeded' ? exitCode.ok : exitCode.jobFailed

/** Only the newest ones: a long run may have hundreds of checkpoints. */
const shownArtifacts = 3

/** The outcome as text; for a failed run with its last log lines. */
export function outcomeLines(outcome: Outcome, picture: Picture, paint: Paint): string[] {
  const { state, stages, results, artifacts } = outcome
  const spent = stages.map(stage => `${stage.state} ${duration(stage.seconds)}`).join(' › ')
  const reason = outcome.state_reason && state !== 'succeeded' ? ` (${outcome.state_reason})` : ''
  const lastWords =
    state === 'failed'
      ? picture.log.slice(-8).map(line => `  ${paint('dim', '│')} ${oneLine(marked(line))}`)
      : []
  const heading = `${paint('bold', outcome.short_id)} ${paintState(paint, state, state)}`
  return [
    ...lastWords,
    `${heading}${reason} after ${duration(outcome.duration_s)}`,
    ...(outcome.why === null ? [] : [`  ${paintState(paint, state, outcome.why)}`]),
    ...(spent === '' ? [] : [paint('dim', `  ${spent}`)]),
    ...Object.entries(results).map(
      ([key, value]) => `  ${key}  ${paint('bold', amount(toNumber(value)))}`,
    ),
    ...artifacts
      .slice(0, shownArtifacts)
      .flatMap(artifact => [`  ${artifactText(artifact)}`, `    ${artifact.path}`]),
    ...(artifacts.length > shownArtifacts
      ? [`  and ${artifacts.length - shownArtifacts} more: forge show ${outcome.short_id}`]
      : []),
    `  ${outcome.url}`,
  ]
}

function artifactText({ artifact_id, kind, format, step, size_bytes }: Artifact): string {
  const facts = [
    format,
    ...(size_bytes === null ? [] : [size(size_bytes)]),
    ...(step === null ? [] : [`step ${step}`]),
  ]
  return `${kind} (${facts.join(', ')})  ${artifact_id}`
}
