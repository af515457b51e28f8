import { InvalidArgumentError } from 'commander'
import type { RetentionReport, RunRetention } from '../../../schemas/artifacts/retention.ts'
import { describe, wholeNumber } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { size } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'

type RetentionOptions = CommonOptions &
  Texts<'project'> &
  Flags<'dryRun' | 'apply'> & {
    keepLatest?: number
    keepBest?: number
    everyNth?: number
    olderThan?: number
  }

const days = (text: string): number => {
  const [, count] = /^(\d{1,5})d$/.exec(text) ?? []
  if (count === undefined || Number(count) === 0)
    throw new InvalidArgumentError('Days are expected, such as 90d.')
  return Number(count)
}

export const describeRetention = describe({
  text: 'delete checkpoints that runs need not keep; only lists them unless --apply',
  options: {
    '-p, --project <project>': 'of the runs of one project',
    '--keep-latest <n>': wholeNumber('keep this many of the newest of each run'),
    '--keep-best <n>': wholeNumber('keep this many of the best, by checkpoints.metric of the job'),
    '--every-nth <n>': wholeNumber('keep the checkpoints of every nth step'),
    '--older-than <days>': { text: 'ignore anything registered since then, e.g. 90d', read: days },
    '--dry-run': 'change nothing; this is the default',
    '--apply': 'delete them',
  },
  after: `
Without --keep-latest, --keep-best and --every-nth each job's own checkpoints.keep applies, and other runs stay unchanged; with one of
them, those left out are 2, 1 and none. The newest checkpoint always stays, and so does what a run needs.`,
})

export async function retention(world: World, options: RetentionOptions): Promise<ExitCode> {
  if (options.apply && options.dryRun)
    throw usageFailure('--dry-run and --apply exclude each other')
  const session = await openSignedIn(world, options)
  const asked = bodyOf(options)
  const total = { artifacts: 0, freed_bytes: 0 }
  let after: string | null = null
  do {
    const page: RetentionReport = await session.api.post<RetentionReport>('/api/admin/retention', {
      ...asked,
      ...(after !== null && { after }),
    })
    show(session, page)
    total.artifacts += page.artifacts
    total.freed_bytes += page.freed_bytes
    after = page.next
  } while (after !== null)
  const { terminal, isJson } = session
  if (!isJson) terminal.note(summary(total, options.apply ?? false))
  return exitCode.ok
}

function bodyOf(options: RetentionOptions): Record<string, unknown> {
  const { project, keepLatest, keepBest, everyNth, olderThan, apply } = options
  const keep = {
    ...(keepLatest !== undefined && { latest: keepLatest }),
    ...(keepBest !== undefined && { best: keepBest }),
    ...(everyNth !== undefined && { every_nth: everyNth }),
  }
  return {
    dry_run: !apply,
    ...(project !== undefined && { project }),
    ...(Object.keys(keep).length > 0 && { keep }),
    ...(olderThan !== undefined && { older_than_days: olderThan }),
  }
}

/** With `--json`, one run a line. */
function show({ terminal, isJson }: Session, { runs, dry_run }: RetentionReport): void {
  for (const run of runs) {
    if (isJson) terminal.data(toJson({ dry_run, ...run }))
    else for (const line of linesOf(run, dry_run)) terminal.data(line)
  }
}

function linesOf(run: RunRetention, isDryRun: boolean): string[] {
  const { short_id, artifacts, freed_bytes, kept, protected_total } = run
  const goes = `${artifacts.length} ${isDryRun ? 'would be deleted' : 'deleted'}`
  const stays = `${kept + protected_total} stay`
  const unnamed = protected_total - run.protected.length
  return [
    `${short_id}  ${goes} (${size(freed_bytes)} freed), ${stays}`,
    ...artifacts.map(
      one =>
        `  - ${checkpointText(one)}${one.bytes === 'left' ? `  its bytes are left at ${one.path}` : ''}`,
    ),
    ...run.protected.map(
      one => `  = ${checkpointText(one)}  stays: ${one.protected_by.map(reason).join(', ')}`,
    ),
    ...(unnamed > 0 ? [`  = and ${unnamed} more that runs need`] : []),
  ]
}

const checkpointText = ({
  artifact_id,
  step,
  size_bytes,
}: RunRetention['protected'][number] | RunRetention['artifacts'][number]) =>
  [
    artifact_id,
    ...(step === null ? [] : [`step ${step}`]),
    ...(size_bytes === null ? [] : [size(size_bytes)]),
  ].join('  ')

const reason = ({
  type,
  id,
}: RunRetention['protected'][number]['protected_by'][number]): string => {
  switch (type) {
    case 'resume':
      return 'its job would continue from it'
    case 'init_from':
      return `${id} started from it`
    case 'model':
      return `it is ${id} of the model registry`
    case 'deployment':
      return `the deployment ${id} serves it`
  }
}

function summary({ artifacts, freed_bytes }: Total, isApplied: boolean): string {
  const what = `${artifacts} ${artifacts === 1 ? 'checkpoint' : 'checkpoints'}, ${size(freed_bytes)}`
  if (isApplied) return `Deleted ${what}.`
  return artifacts === 0
    ? 'Nothing would be deleted.'
    : `Would delete ${what}: give --apply to do so.`
}
type Total = { artifacts: number; freed_bytes: number }
