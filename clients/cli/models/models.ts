import { type Command, InvalidArgumentError } from 'commander'
import { segment } from '../api/client.ts'
import { everyPage } from '../api/every-page.ts'
import { type ExitCode, exitCode } from '../program/failure.ts'
import { type CommonOptions, openSignedIn, type World } from '../program/session.ts'
import { toJson } from '../terminal/harmless.ts'
import { type Column, table } from '../terminal/table.ts'

type Alias = { alias: string; version: number; is_protected: boolean; moved_by: string }
type Model = {
  model: string
  project: string
  owner: string
  description: string
  newest_version: number | null
  aliases: Alias[]
}
type Version = {
  version: number
  state: string
  source: { artifact_id: string; run_id: string }
  aliases: string[]
  stage_notes: string
  created_by: string
  created_at: string
}

const pathOf = (name: string): string => `/api/models/${segment(name)}`

const whole = (text: string): number => {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('a version is a number from 1 on')
}

export const describeModelList = (command: Command): Command =>
  command
    .description('the registered models you may read')
    .option('-p, --project <name>', 'only those of a project')

export async function modelList(
  world: World,
  options: CommonOptions & { project?: string },
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { project } = options
  const rows = await everyPage<Model>(api, '/api/models', { project })
  if (isJson) for (const row of rows) terminal.data(toJson(row))
  else if (rows.length === 0)
    terminal.note('No models yet: forge model register NAME ARTIFACT -p PROJECT')
  else
    for (const line of table(modelColumns, rows, { width: terminal.columns() })) terminal.data(line)
  return exitCode.ok
}

const shownAliases = (aliases: readonly Alias[]): string =>
  aliases.map(({ alias, version }) => `${alias}=${version}`).join(' ') || '-'

const modelColumns: Column<Model>[] = [
  { title: 'MODEL', cell: row => row.model, shrinks: true },
  { title: 'PROJECT', cell: row => row.project, shrinks: true },
  { title: 'NEWEST', cell: row => String(row.newest_version ?? '-'), align: 'right' },
  { title: 'ALIASES', cell: row => shownAliases(row.aliases), shrinks: true },
  { title: 'OWNER', cell: row => row.owner, shrinks: true, drops: true },
]

export const describeModelShow = (command: Command): Command =>
  command.argument('<model>').description('a model with its versions and aliases')

export async function modelShow(
  world: World,
  name: string,
  options: CommonOptions,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const model = await api.get<Model>(pathOf(name))
  const versions = await everyPage<Version>(api, `${pathOf(name)}/versions`)
  if (isJson) {
    terminal.data(toJson({ ...model, versions }))
    return exitCode.ok
  }
  terminal.data(`${model.project}/${model.model}  ${shownAliases(model.aliases)}`)
  if (model.description !== '') terminal.data(model.description)
  terminal.data('')
  for (const line of table(versionColumns, versions, { width: terminal.columns() }))
    terminal.data(line)
  return exitCode.ok
}

const versionColumns: Column<Version>[] = [
  { title: 'VERSION', cell: row => String(row.version), align: 'right' },
  { title: 'STATE', cell: row => row.state },
  { title: 'ALIASES', cell: row => row.aliases.join(' ') || '-', shrinks: true },
  { title: 'ARTIFACT', cell: row => row.source.artifact_id },
  { title: 'RUN', cell: row => row.source.run_id, drops: true },
  { title: 'NOTES', cell: row => row.stage_notes, shrinks: true, drops: true },
]

type Register = CommonOptions & { project?: string; notes?: string; license?: string }

export const describeModelRegister = (command: Command): Command =>
  command
    .argument('<model>')
    .argument('<artifact>', 'its id: forge artifacts RUN lists them')
    .description('make an artifact the next version of a model')
    .option('-p, --project <name>', 'where the model is made if there is none of that name')
    .option('--notes <text>', 'what is to be known of the version')
    .option('--license <name>', 'e.g. apache-2.0')

export async function modelRegister(
  world: World,
  name: string,
  artifact_id: string,
  options: Register,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const { project, notes: stage_notes, license } = options
  if (project !== undefined && (await api.find(pathOf(name))) === null)
    await api.post('/api/models', { name, project }, { creates: true })
  const body = {
    artifact_id,
    ...(stage_notes !== undefined && { stage_notes }),
    ...(license !== undefined && { license }),
  }
  const made = await api.post<{ version: number }>(`${pathOf(name)}/versions`, body, {
    creates: true,
  })
  terminal.data(isJson ? toJson(made) : `${name}@${made.version}`)
  return exitCode.ok
}

type Move = CommonOptions & { reason?: string; expected?: number }
type Moved = { version: number | null; previous_version: number | null; changed: boolean }

export const describeModelAlias = (command: Command): Command =>
  command
    .argument('<model>')
    .argument('<alias>', 'e.g. production')
    .argument('<version>', 'the version that it is to name', whole)
    .description('let an alias name a version; whoever resolved it before keeps what it named')
    .option('-m, --reason <text>', 'why, for the history')
    .option('--expected <version>', 'only if it names this one now', whole)

export async function modelAlias(
  world: World,
  name: string,
  alias: string,
  version: number,
  { reason, expected: expected_version, ...options }: Move,
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const moved = await api.put<Moved>(`${pathOf(name)}/aliases/${segment(alias)}`, {
    version,
    ...(reason !== undefined && { reason }),
    ...(expected_version !== undefined && { expected_version }),
  })
  const before = moved.previous_version === null ? '' : `, before ${moved.previous_version}`
  terminal.data(isJson ? toJson(moved) : `${name}@${alias} is version ${moved.version}${before}`)
  return exitCode.ok
}

type AliasMove = {
  at: string
  actor: string
  from: number | null
  to: number | null
  reason: string
}

export const describeModelHistory = (command: Command): Command =>
  command
    .argument('<model>')
    .argument('<alias>')
    .description('who moved an alias when, from which version to which, and why')
    .option('--at <time>', 'only what held then, e.g. 2026-11-20T12:00:00Z')

export async function modelHistory(
  world: World,
  name: string,
  alias: string,
  { at, ...options }: CommonOptions & { at?: string },
): Promise<ExitCode> {
  const { api, terminal, isJson } = await openSignedIn(world, options)
  const path = `${pathOf(name)}/aliases/${segment(alias)}/history`
  const moves = await everyPage<AliasMove>(api, path, { at })
  if (isJson) for (const move of moves) terminal.data(toJson(move))
  else
    for (const line of table(moveColumns, moves, { width: terminal.columns() })) terminal.data(line)
  return exitCode.ok
}

const moveColumns: Column<AliasMove>[] = [
  { title: 'AT', cell: row => row.at },
  { title: 'FROM', cell: row => String(row.from ?? '-'), align: 'right' },
  { title: 'TO', cell: row => String(row.to ?? '-'), align: 'right' },
  { title: 'BY', cell: row => row.actor, shrinks: true },
  { title: 'WHY', cell: row => row.reason, shrinks: true, drops: true },
]
