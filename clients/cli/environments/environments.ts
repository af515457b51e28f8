import type { Static } from 'typebox'
import type {
  RlEnvironmentVersion,
  rlEnvironment,
  rlEnvironmentVersionDetail,
} from '../../../schemas/rl-environments/rl-environments.ts'
import { everyPage } from '../api/every-page.ts'
import { describe } from '../program/describe.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { list } from '../program/list.ts'
import {
  type CommonOptions,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { showOne } from '../program/show-one.ts'
import { byOwnerAndName, columnsOfVersions, showWholeOrVersion } from '../program/versions.ts'
import { size } from '../terminal/amounts.ts'
import { harmless, toJson } from '../terminal/harmless.ts'
import { type Column, showTable } from '../terminal/table.ts'
import { pathOfEnvironment, pathOfVersion } from './reference.ts'

type Environment = Static<typeof rlEnvironment>
export type VersionDetail = Static<typeof rlEnvironmentVersionDetail>

export const describeEnvironmentList = describe({
  text: 'the RL environments you may see',
  options: byOwnerAndName.options,
})

export const environmentList = list<Environment, CommonOptions & Texts<'owner' | 'search'>>({
  path: '/api/environments',
  filters: byOwnerAndName.filters,
  shown: {
    columns: [
      { title: 'ENVIRONMENT', cell: row => row.newest?.ref ?? row.environment, shrinks: true },
      { title: 'STATE', cell: row => row.newest?.state ?? '-' },
      { title: 'BASELINE', cell: row => baselineOf(row.newest), align: 'right' },
      { title: 'VISIBILITY', cell: row => row.visibility, drops: true },
      { title: 'TITLE', cell: row => row.newest?.title ?? '', shrinks: true, drops: true },
    ],
    none: 'No environments yet: forge env push FOLDER',
    isJsonByLine: true,
  },
})

const baselineOf = (version: Pick<RlEnvironmentVersion, 'baseline'> | null): string =>
  version?.baseline?.mean.toFixed(3) ?? '-'

export const describeEnvironmentShow = describe({
  text: 'an RL environment with its versions, or one version with its smoke rollouts',
  operands: { '<environment>': 'OWNER/NAME, or a version: OWNER/NAME@0.2.1' },
})

const versionColumns = columnsOfVersions<RlEnvironmentVersion>([
  { title: 'BASELINE', cell: row => baselineOf(row), align: 'right' },
  { title: 'SIZE', cell: row => size(row.archive_bytes), align: 'right', drops: true },
])

async function showEnvironment(session: Session, named: string): Promise<ExitCode> {
  const { api, terminal, isJson } = session
  const path = await pathOfEnvironment(api, named)
  const found = await api.get<Environment>(path)
  const versions = await everyPage<RlEnvironmentVersion>(api, `${path}/versions`)
  if (isJson) terminal.data(toJson({ ...found, versions }))
  else {
    terminal.data(`${found.environment}  ${found.visibility}`)
    showTable(terminal, versionColumns, versions)
  }
  return exitCode.ok
}

const showVersion = async (session: Session, ref: string): Promise<ExitCode> =>
  showOne(session, await session.api.get<VersionDetail>(pathOfVersion(ref)), {
    facts: factsOf,
    width: 10,
    more: ({ rollouts }) => rollouts.length > 0 && showRollouts(session, rollouts),
  })

export const environmentShow = showWholeOrVersion(showEnvironment, showVersion)

function factsOf(version: VersionDetail): [string, string][] {
  const { baseline, error, deprecated_reason: reason } = version
  const range = baseline && ` (${baseline.min} to ${baseline.max})`
  return [
    ['version', version.ref],
    ['title', version.title],
    ['state', reason === null ? version.state : `${version.state}: ${reason}`],
    ...(error === null ? [] : [['error', error] as [string, string]]),
    ['entry', version.entry],
    ['digest', version.digest],
    ['arguments', JSON.stringify(version.args_default)],
    ['packages', version.requirements.join(', ') || '-'],
    ['secrets', version.secrets_required.join(', ') || '-'],
    [
      'baseline',
      baseline ? `${baselineOf(version)}${range}` : 'none: no smoke rollouts with a deployment',
    ],
    ['runs', String(version.used_by_count)],
  ]
}

type Rollout = VersionDetail['rollouts'][number]

const rolloutColumns: Column<Rollout & { nth: number }>[] = [
  { title: 'ROLLOUT', cell: row => String(row.nth), align: 'right' },
  { title: 'REWARD', cell: row => row.reward?.toFixed(3) ?? '-', align: 'right' },
  { title: 'SECONDS', cell: row => row.duration_s.toFixed(1), align: 'right' },
  { title: 'ERROR', cell: row => row.error ?? '', shrinks: true },
]

export function showRollouts(
  { terminal }: Pick<Session, 'terminal'>,
  rollouts: readonly Rollout[],
): void {
  showTable(
    terminal,
    rolloutColumns,
    rollouts.map((one, index) => ({ ...one, nth: index + 1 })),
  )
}

export const describeEnvironmentLog = describe({
  text: 'the log of the build and the smoke rollouts of a version',
  operands: { '<version>': 'OWNER/NAME@0.2.1' },
})

export async function environmentLog(
  world: World,
  ref: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const version = await api.get<VersionDetail>(pathOfVersion(ref))
  const { state, error, log } = version
  if (isJson) terminal.data(toJson({ ref: version.ref, state, error, log }))
  else for (const line of log.trimEnd().split('\n')) terminal.data(harmless(line))
  return exitCode.ok
}
