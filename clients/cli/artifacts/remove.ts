import type { Artifact, ArtifactDeleted } from '../../../schemas/artifacts/artifacts.ts'
import { segment } from '../api/client.ts'
import { describe, wholeNumber } from '../program/describe.ts'
import { type ExitCode, exitCode, Failure, usageFailure } from '../program/failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type World,
} from '../program/session.ts'
import { size } from '../terminal/amounts.ts'
import { ask } from '../terminal/ask.ts'
import { toJson } from '../terminal/harmless.ts'
import { artifactsOf, chosenOf } from './artifacts.ts'

type RemoveOptions = CommonOptions &
  Flags<'dryRun' | 'yes'> & { step?: number; allButLatest?: number }

export const describeArtifactsRemove = describe({
  text: 'delete artifacts of a run permanently, unless a run needs them',
  operands: { '<run>': 'run id or short id', '[artifacts...]': 'their ids, latest or best' },
  options: {
    '--step <n>': wholeNumber('the artifacts of this step'),
    '--all-but-latest <n>': wholeNumber('checkpoints of all but the newest n steps'),
    '--dry-run': 'only list what would be deleted',
    '-y, --yes': 'do not ask',
  },
  after: `
Files in the server's store are removed; files elsewhere are only marked as deleted. Artifacts that a run needs stay, and
are listed; the exit code is then 5, except with --all-but-latest.`,
})

export async function artifactsRemove(
  world: World,
  id: string,
  named: readonly string[],
  options: RemoveOptions,
): Promise<ExitCode> {
  const session = await openSignedIn(world, options)
  refuseUnlessOneWay(named, options)
  const chosen = wanted(await artifactsOf(session, id, 'all'), named, options)
  if (chosen.length === 0) {
    session.terminal.note('No such artifact of the run is left.')
    return exitCode.ok
  }
  const isAsked = options.dryRun || options.yes
  if (!isAsked && !(await isSure(session, chosen))) return exitCode.interrupted
  const kept: Failure[] = []
  for (const artifact of chosen) {
    const failure = await removeOne(session, artifact, options.dryRun ?? false)
    if (failure !== null) kept.push(failure)
  }
  return kept.length > 0 && options.allButLatest === undefined ? exitCode.conflict : exitCode.ok
}

function refuseUnlessOneWay(named: readonly string[], options: RemoveOptions): void {
  const { step, allButLatest, dryRun, yes } = options
  const ways = [named.length > 0, step !== undefined, allButLatest !== undefined]
  if (ways.filter(Boolean).length !== 1)
    throw usageFailure('Name artifacts, or give --step or --all-but-latest')
  if (dryRun && yes) throw usageFailure('--dry-run deletes nothing, and --yes deletes')
}

function wanted(
  all: readonly Artifact[],
  named: readonly string[],
  { step, allButLatest }: RemoveOptions,
): Artifact[] {
  if (step !== undefined) return all.filter(one => one.step === step && isLeft(one))
  if (allButLatest === undefined) return [...new Set(named.map(name => chosenOf(all, name)))]
  // The newest first; artifacts without a step belong to none of them.
  const checkpoints = all.filter(one => one.kind === 'checkpoint' && isLeft(one))
  const steps = [...new Set(checkpoints.flatMap(one => one.step ?? []))].sort((a, b) => b - a)
  const newest = new Set(steps.slice(0, allButLatest))
  return checkpoints.filter(one => one.step === null || !newest.has(one.step))
}

const isLeft = ({ status }: Artifact) => status !== 'deleting' && status !== 'deleted'

async function isSure(
  { terminal, process }: Session,
  chosen: readonly Artifact[],
): Promise<boolean> {
  for (const one of chosen) terminal.note(`  ${artifactText(one)}`)
  const bytes = chosen.reduce((sum, one) => sum + (one.size_bytes ?? 0), 0)
  const what = chosen.length === 1 ? '1 artifact' : `${chosen.length} artifacts`
  const answer = await ask(
    process,
    `Delete ${what} (${size(bytes)}) permanently? (yes/no) `,
    '--yes',
  )
  return /^y(es)?$/i.test(answer.trim())
}

const artifactText = ({ artifact_id, kind, step, size_bytes }: Artifact): string =>
  [
    ...[artifact_id, kind],
    ...(step === null ? [] : [`step ${step}`]),
    ...(size_bytes === null ? [] : [size(size_bytes)]),
  ].join('  ')

/** An artifact that a run needs does not fail the others. */
async function removeOne(
  { api, terminal, isJson }: Session,
  artifact: Artifact,
  isDryRun: boolean,
): Promise<Failure | null> {
  const path = `/api/artifacts/${segment(artifact.artifact_id)}${isDryRun ? '?dry_run=true' : ''}`
  try {
    const answer = await api.delete<ArtifactDeleted>(path)
    if (isJson) terminal.data(toJson(answer))
    else terminal.data(`${artifactText(artifact)}  ${outcomeWord(answer)}`)
    if (!isJson && answer.bytes !== 'removed') terminal.note(`  ${answer.detail}`)
    return null
  } catch (error) {
    if (!(error instanceof Failure) || error.fields.code !== 'artifact.referenced') throw error
    const { artifact_id, run_id } = artifact
    if (isJson) terminal.data(toJson({ artifact_id, run_id, kept: true, ...error.fields }))
    else terminal.data(`${artifactText(artifact)}  stays: ${error.message}`)
    return error
  }
}

const outcomeWord = ({ already, dry_run }: ArtifactDeleted): string => {
  if (already) return 'was deleted before'
  return dry_run ? 'would be deleted' : 'deleted'
}
