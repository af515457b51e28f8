import type { Static } from 'typebox'
import type {
  DatasetVersion,
  dataset,
  datasetDeprecated,
  datasetDetail,
  datasetGranted,
  datasetRows,
  datasetVersionDetail,
} from '../../../schemas/datasets/datasets.ts'
import { segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { describe, wholeNumber } from '../program/describe.ts'
import { type ExitCode, exitCode, usageFailure } from '../program/failure.ts'
import { list } from '../program/list.ts'
import {
  type CommonOptions,
  type Flags,
  openSignedIn,
  type Session,
  type Texts,
  type World,
} from '../program/session.ts'
import { showOne } from '../program/show-one.ts'
import { byOwnerAndName, columnsOfVersions, showWholeOrVersion } from '../program/versions.ts'
import { counted, size } from '../terminal/amounts.ts'
import { toJson } from '../terminal/harmless.ts'
import { showTable } from '../terminal/table.ts'
import { showErrors } from './check.ts'
import { pathOfDataset, pathOfVersion } from './reference.ts'

type Dataset = Static<typeof dataset>
type Detail = Static<typeof datasetDetail>
type VersionDetail = Static<typeof datasetVersionDetail>

export const describeDatasetList = describe({
  text: 'the datasets you may see',
  options: byOwnerAndName.options,
})

export const datasetList = list<Dataset, CommonOptions & Texts<'owner' | 'search'>>({
  path: '/api/datasets',
  filters: byOwnerAndName.filters,
  shown: {
    columns: [
      { title: 'DATASET', cell: row => row.newest?.ref ?? row.dataset, shrinks: true },
      { title: 'STATE', cell: row => row.newest?.state ?? '-' },
      { title: 'KIND', cell: row => row.newest?.kind ?? '-' },
      { title: 'ROWS', cell: row => rowsIn(row.newest), align: 'right' },
      { title: 'SIZE', cell: row => size(row.newest?.bytes ?? 0), align: 'right', drops: true },
      { title: 'YOU MAY', cell: row => row.may },
      { title: 'VISIBILITY', cell: row => row.visibility, drops: true },
    ],
    none: 'No datasets yet: forge dataset push NAME FILES',
    isJsonByLine: true,
  },
})

const rowsIn = (version: DatasetVersion | null): string =>
  version?.rows?.toLocaleString('en') ?? '-'

export const describeDatasetShow = describe({
  text: 'a dataset with its versions, or what the validation of a version found',
  operands: { '<dataset>': 'OWNER/NAME, or a version: OWNER/NAME@N' },
})

const versionColumns = columnsOfVersions<DatasetVersion>([
  { title: 'ROWS', cell: row => rowsIn(row), align: 'right' },
  { title: 'SIZE', cell: row => size(row.bytes), align: 'right' },
])

async function showDataset({ api, terminal, isJson }: Session, named: string): Promise<ExitCode> {
  const path = await pathOfDataset(api, named)
  const found = await api.get<Detail>(path)
  const versions = await everyPage<DatasetVersion>(api, `${path}/versions`)
  if (isJson) {
    terminal.data(toJson({ ...found, versions }))
    return exitCode.ok
  }
  const { dataset: name, visibility, use, license, may, card, grants } = found
  const users = visibility === 'public' && use === 'granted' ? ', use by grant' : ''
  terminal.data(`${name}  ${visibility}${users}  ${license ?? 'no license'}  you may ${may}`)
  if (card !== '') terminal.data(`\n${card}`)
  for (const { username, use: uses } of grants)
    terminal.data(`${username} may ${uses ? 'see and use' : 'see'} it`)
  terminal.data('')
  showTable(terminal, versionColumns, versions)
  return exitCode.ok
}

const showVersion = async (session: Session, ref: string): Promise<ExitCode> =>
  showOne(session, await session.api.get<VersionDetail>(pathOfVersion(ref)), {
    facts: factsOf,
    width: 10,
    more: ({ errors, error_count }) =>
      showErrors(session, { errors, error_count: error_count ?? 0 }),
  })

export const datasetShow = showWholeOrVersion(showDataset, showVersion)

function factsOf(version: VersionDetail): [string, string][] {
  const number = (value: number | null) => value?.toLocaleString('en') ?? '-'
  const about = version.estimated ? 'about ' : ''
  const { deprecated_reason: reason } = version
  return [
    ['version', version.ref],
    ['digest', version.digest],
    ['state', reason === null ? version.state : `${version.state}: ${reason}`],
    ['kind', version.kind ?? '-'],
    ['rows', number(version.rows)],
    ['size', size(version.bytes)],
    ...Object.entries(version.splits).map(([split, { rows }]): [string, string] => [
      split,
      number(rows),
    ]),
    ...Object.entries(version.tokens).map(([name, count]): [string, string] => [
      'tokens',
      `${number(count)} of ${name}`,
    ]),
    ['duplicates', version.duplicates === null ? '-' : about + number(version.duplicates)],
    ...version.overlap.map(({ splits, rows }): [string, string] => [
      'overlap',
      `${about}${number(rows)} rows in ${splits.join(' and ')}`,
    ]),
    ['made by', `${version.created_by}, ${version.created_at}`],
    ['used by', counted(version.used_by_count, 'run')],
  ]
}

type RowsOptions = CommonOptions & Texts<'split' | 'search'> & { from?: number; limit: number }

export const describeDatasetRows = describe({
  text: 'rows of a version, one as JSON on each line',
  operands: { '<version>': 'OWNER/NAME@N' },
  options: {
    '--split <name>': 'train if left out, or the only one',
    '--from <n>': wholeNumber('the first row, counted from 0'),
    '-l, --limit <n>': wholeNumber('at most that many, up to 100', 20),
    '-q, --search <text>': 'only rows with this text',
  },
})

export async function datasetRowsShow(
  world: World,
  ref: string,
  { split, from, limit, search: q, ...options }: RowsOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const path = `${pathOfVersion(ref)}/rows`
  const { rows, next, total } = await api.get<Static<typeof datasetRows>>(path, {
    ...{ split, from, limit, q },
  })
  for (const row of rows) terminal.data(toJson(isJson ? row : row.data))
  if (next !== null && !isJson)
    terminal.note(`${total.toLocaleString('en')} rows in all; --from ${next} goes on`)
  return exitCode.ok
}

export const describeDatasetGrant = describe({
  text: 'let a person see a dataset and train on it',
  operands: { '<dataset>': 'OWNER/NAME', '<username>': '' },
  options: {
    '--see': 'see it only: card, versions and errors, but no rows and no training',
    '--withdraw': 'take the grant back; jobs of the person that wait will not start',
  },
})

export async function datasetGrant(
  world: World,
  named: string,
  username: string,
  { see, withdraw, ...options }: CommonOptions & Flags<'see' | 'withdraw'>,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  if (see && withdraw) throw usageFailure('--see and --withdraw exclude each other')
  const path = `${await pathOfDataset(api, named)}/grants/${segment(username)}`
  const granted = withdraw
    ? await api.delete<Static<typeof datasetGranted>>(path)
    : await api.put<Static<typeof datasetGranted>>(path, { see: true, use: !see })
  const may = granted.use ? 'may see and use' : granted.see ? 'may see' : 'has no grant for'
  terminal.data(isJson ? toJson(granted) : `${username} ${may} ${granted.dataset}`)
  return exitCode.ok
}

export const describeDatasetDeprecate = describe({
  text: 'warn everybody who names a version in a job; it can still be used',
  operands: { '<version>': 'OWNER/NAME@N' },
  options: { '-m, --reason <text>': ['why', ''] },
})

export async function datasetDeprecate(
  world: World,
  ref: string,
  { reason = '', ...options }: CommonOptions & Texts<'reason'>,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const path = `${pathOfVersion(ref)}/deprecate`
  const done = await api.post<Static<typeof datasetDeprecated>>(path, { reason })
  terminal.data(isJson ? toJson(done) : `${done.ref} is ${done.state}`)
  return exitCode.ok
}
